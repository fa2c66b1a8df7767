"""How a read that was asked becomes a `SourceRead` row, and how failures are worded, the same for every source."""

import logging
import re
import time
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import TypeGuard, TypeVar

from kafka_audit.collect.rows.masking import masked
from kafka_audit.model.errors import AuditError
from kafka_audit.model.read_failure import ReadFailure
from kafka_audit.model.tables import Row, SourceRead
from kafka_audit.model.tables.fitting import misfit

log = logging.getLogger(__name__)

MAY_DESCRIBE = "Describe on Cluster"
CLUSTER_DENIED = "CLUSTER_AUTHORIZATION_FAILED"
_MESSAGE_LENGTH = 300
_T = TypeVar("_T")


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

    def again(self, message: str | None) -> "ReadError":
        """Return the same failure of another read: an exception that is raised twice keeps both tracebacks."""
        return ReadError(self.failure, message, self.needs, self.untrusted_host, error=self.error)


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


def fitting_rows(answer: _T) -> _T:
    """Return what a read gave; raises ReadError where it is rows of which one fits no table: a part of an answer is no answer."""
    fault = next(filter(None, map(misfit, answer)), None) if _are_rows(answer) else None
    if fault is not None:
        raise ReadError(ReadFailure.MALFORMED_ANSWER, fault, "an answer as Kafka gives it")
    return answer


def _are_rows(value: object) -> TypeGuard[tuple[Row, ...]]:
    return isinstance(value, tuple) and all(isinstance(part, Row) for part in value)


@dataclass(frozen=True, kw_only=True)
class Asking:
    """Who is asked, where, in which sample: what the `SourceRead` rows of one party have in common."""

    sample: int
    observer: str
    target: str
    started: float = field(default_factory=time.monotonic)

    def answered(self, operation: str, started: float | None = None) -> SourceRead:
        """Return the row of a read that gave data or a definite no."""
        return SourceRead(
            sample=self.sample,
            observer=self.observer,
            operation=operation,
            target=self.target,
            outcome="answered",
            elapsed_ms=self._since(started),
        )

    def failed(self, operation: str, error: ReadError, started: float | None = None) -> SourceRead:
        """Return the row of a read that gave nothing."""
        return SourceRead(
            sample=self.sample,
            observer=self.observer,
            operation=operation,
            target=self.target,
            outcome="failed",
            error=clean_line(error.error),
            message=None if error.message is None else clean_line(masked(error.message)),
            needs=error.needs,
            elapsed_ms=self._since(started),
            untrusted_host=error.untrusted_host,
            reason=error.failure.name,
        )

    def failed_names(self, operation: str, refused: str) -> SourceRead:
        """Return the row of names in an answer that were refused; the rest of the answer was taken, and has its own row."""
        return self.failed(f"{operation} (names)", ReadError(ReadFailure.IMPOSSIBLE_NAMES, refused, "names that Kafka allows"))

    def read(self, rows: list[Row], operation: str, question: Callable[[], _T], started: float | None = None) -> _T | None:
        """Make one read and record its result in `rows`; return the data, None if it failed."""
        started = time.monotonic() if started is None else started
        try:
            with any_answer():
                found = fitting_rows(question())
        except ReadError as error:
            rows.append(self.failed(operation, error, started))
            return None
        rows.append(self.answered(operation, started))
        return found

    def _since(self, started: float | None) -> int:
        return round((time.monotonic() - (self.started if started is None else started)) * 1000)


def clean_line(text: str, limit: int = _MESSAGE_LENGTH) -> str:
    """Return one line without control and formatting characters: the text is not trusted."""
    text = text[: limit * 4]
    visible = text if text.isprintable() else "".join(" " if unicodedata.category(char)[0] in "CZ" else char for char in text)
    line = re.sub(r" +", " ", visible).strip()
    return line if len(line) <= limit else line[: limit - 1] + "…"


def now_ms() -> int:
    """Milliseconds since the epoch."""
    return round(time.time() * 1000)
