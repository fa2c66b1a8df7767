"""A read that failed, and the one boundary at which odd answers become one; the same for every party that is asked."""

import logging
import re
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import PurePath

from kafka_audit.model.errors import AuditError
from kafka_audit.model.read_failure import ReadFailure

log = logging.getLogger(__name__)

_MESSAGE_LENGTH = 300


class ReadError(Exception):
    """A read that failed: why, `error` in short, `message` the other party's own words."""

    def __init__(
        self,
        failure: ReadFailure,
        message: str | None = None,
        needs: str | None = None,
        untrusted_host: str | None = None,
        *,
        error: str | None = None,
    ) -> None:
        """Keep the parts of the row to be; `error` is the other party's name of the failure, where it has one."""
        error = failure.words if error is None else error
        super().__init__(error if message is None else f"{error}: {message}")
        self.failure = failure
        self.error = error
        self.message = message
        self.needs = needs
        self.untrusted_host = untrusted_host
        self.layer: str | None = None  # of a connection, at which it failed

    def again(self, message: str | None) -> "ReadError":
        """Return the same failure of another read: an exception that is raised twice keeps both tracebacks."""
        same = ReadError(self.failure, message, self.needs, self.untrusted_host, error=self.error)
        same.layer = self.layer
        return same


def unexpected_failure(error: Exception) -> ReadError:
    """Return an exception that no reader of answers expected as a failed read, and write one line to the log.

    The message is the kind of exception and our own line. Its text is left out: it may quote the answer, and a secret in it.
    """
    place, trace = "an unknown line", error.__traceback__
    while trace is not None:
        parts = PurePath(trace.tb_frame.f_code.co_filename).parts
        if "kafka_audit" in parts:
            inside = parts[len(parts) - parts[::-1].index("kafka_audit") :]
            place = f"{'/'.join(inside)}:{trace.tb_lineno}"
        trace = trace.tb_next
    message = f"{type(error).__name__} at {place}"
    log.warning("an answer cannot be read: %s", message)
    return ReadError(
        ReadFailure.MALFORMED_ANSWER, message, "an answer as Kafka and ZooKeeper give it; otherwise report this line as a bug"
    )


@contextmanager
def any_answer(*known: type[Exception]) -> Iterator[None]:
    """Turn whatever an odd answer makes a reader raise into `ReadError`; what is meant to end the audit still does.

    The one boundary: each read of each party passes through it, so that one odd answer is one failed row.

    Args:
        known: errors with a text of the caller.
    """
    try:
        yield
    except Exception as error:  # any bug of a reader becomes a failed row and a line of the log
        if isinstance(error, (ReadError, AuditError, *known)):
            raise
        raise unexpected_failure(error) from None


def clean_line(text: str, limit: int = _MESSAGE_LENGTH) -> str:
    """Return one line without control and formatting characters: the text is not trusted."""
    text = text[: limit * 4]
    visible = text if text.isprintable() else "".join(" " if unicodedata.category(char)[0] in "CZ" else char for char in text)
    line = re.sub(r" +", " ", visible).strip()
    return line if len(line) <= limit else line[: limit - 1] + "…"
