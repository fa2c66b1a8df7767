"""How a read that was asked becomes a `SourceRead` row, and how failures are worded, the same for every source."""

import errno
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
from kafka_audit.model.tables import Row, SourceRead
from kafka_audit.model.tables.fitting import misfit

log = logging.getLogger(__name__)

NOT_SUPPORTED, NO_CREDENTIALS, NOT_TRUSTED = "not supported", "no credentials", "not trusted"
NO_TOKEN, TOKEN_REFUSED = "no token", "token refused"
"""Errors of a read whose login takes an access token: nothing gave one, or its issuer refuses the auditor."""

NO_TICKET = "no Kerberos ticket"
"""Error of a read whose login takes a Kerberos ticket, and there is none, or none that is valid."""

SCRAM_WEAK, SCRAM_FALSE = "weak SCRAM", "SCRAM not verified"
CLUSTER_DENIED = "CLUSTER_AUTHORIZATION_FAILED"
MAY_DESCRIBE = "Describe on Cluster"
LOGIN_REFUSED, MECHANISM_REFUSED = "SASL_AUTHENTICATION_FAILED", "UNSUPPORTED_SASL_MECHANISM"
LOGIN_PAUSED = "login paused"
"""Error of a read whose login was not tried, because others refused it and none accepted it yet."""

UNREADABLE = "unreadable answer"
"""Error of a read whose answer came and makes no sense."""

IMPOSSIBLE = "impossible names"
"""Error of a read of which a part was left out: names that no cluster has, see `model.names`."""

CONTRADICTS_ZOOKEEPER = "contradicts ZooKeeper"
"""Error of ApiVersions where a broker says that it runs in KRaft mode, and ZooKeeper that brokers run with it."""

LASTING = frozenset(
    {
        NOT_SUPPORTED, NO_CREDENTIALS, NOT_TRUSTED, TOKEN_REFUSED, SCRAM_WEAK, SCRAM_FALSE, LOGIN_REFUSED, LOGIN_PAUSED,
        MECHANISM_REFUSED, CLUSTER_DENIED, "TOPIC_AUTHORIZATION_FAILED", "GROUP_AUTHORIZATION_FAILED",
    }
)  # fmt: skip
"""Errors of a read that another sample a few seconds later cannot change."""

ERRNO_WORDS = {
    errno.ECONNREFUSED: "connection refused",
    errno.EHOSTUNREACH: "no route to host",
    errno.ENETUNREACH: "network is unreachable",
    errno.ETIMEDOUT: "timeout",
    errno.ECONNRESET: "connection reset",
    errno.EPIPE: "connection closed",
}
_MESSAGE_LENGTH = 300
_T = TypeVar("_T")


class ReadError(Exception):
    """A read that did not work out; `error` is short, `message` the other party's own words."""

    def __init__(
        self, error: str, message: str | None = None, needs: str | None = None, untrusted_host: str | None = None
    ) -> None:
        """Keep the parts of the row to be."""
        super().__init__(error if message is None else f"{error}: {message}")
        self.error = error
        self.message = message
        self.needs = needs
        self.untrusted_host = untrusted_host


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
    return ReadError(UNREADABLE, message, "an answer as Kafka and ZooKeeper give it; otherwise report this line as a bug")


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
        raise ReadError(UNREADABLE, fault, "an answer as Kafka gives it")
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
        )

    def failed_names(self, operation: str, refused: str) -> SourceRead:
        """Return the row of names in an answer that were refused; the rest of the answer was taken, and has its own row."""
        return self.failed(f"{operation} (names)", ReadError(IMPOSSIBLE, refused, "names that Kafka allows"))

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


def os_error_text(number: int | None, otherwise: str) -> str:
    """Return our word for an errno, so that every source calls the same failure by the same name."""
    return ERRNO_WORDS.get(number or 0, otherwise)


def now_ms() -> int:
    """Milliseconds since the epoch."""
    return round(time.time() * 1000)
