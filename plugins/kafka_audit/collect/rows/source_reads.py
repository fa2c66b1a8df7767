"""How a read that was asked becomes a `SourceRead` row, the same for every source."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeGuard, TypeVar

from kafka_audit.clients.read_error import ReadError, any_answer, clean_line
from kafka_audit.clients.secrets.masking import masked
from kafka_audit.model.read_failure import ReadFailure
from kafka_audit.model.tables import Row, SourceRead
from kafka_audit.model.tables.fitting import misfit

MAY_DESCRIBE = "Describe on Cluster"
CLUSTER_DENIED = "CLUSTER_AUTHORIZATION_FAILED"
NOT_LISTED = "DescribeCluster does not list this right"
_T = TypeVar("_T")


def not_tried(message: str, needs: str, *, lacks: bool = False) -> ReadError:
    """Return the failure of a read that was not tried, for the party would log its refusal; `lacks`: a right is known to lack."""
    reason = ReadFailure.NOT_AUTHORIZED if lacks else ReadFailure.NOT_TRIED
    return ReadError(reason, message, needs, error=ReadFailure.NOT_TRIED.words)


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
            error=clean_line(masked(error.error)),
            message=None if error.message is None else clean_line(masked(error.message)),
            needs=error.needs,
            elapsed_ms=self._since(started),
            untrusted_host=error.untrusted_host,
            layer=error.layer,
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


def now_ms() -> int:
    """Milliseconds since the epoch."""
    return round(time.time() * 1000)
