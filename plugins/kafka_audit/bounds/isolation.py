"""What is done for one snapshot after the other, of which none costs another one its report."""

import logging
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Protocol, TypeVar

from kafka_audit.bounds import child_process
from kafka_audit.model.errors import AuditError, EngineError, StoreError
from kafka_audit.model.text import clean

log = logging.getLogger(__name__)
_T = TypeVar("_T")

SNAPSHOT_SECONDS = 300.0
"""That the checks of one snapshot may take, and its report. Those of 1,000 brokers take far less."""

ALL_SECONDS = 1200.0
"""That those of all snapshots of a run may take, which they share: the task itself ends after 30 minutes, for all clusters."""

Failed = Callable[[str, str], None]
"""Gets a snapshot that comes to no report: its id, and why."""


class Apart(Protocol):
    """Runs functions, here or in a process that can be ended."""

    def __call__(self, functions: Mapping[str, Callable[[], _T]], /) -> Iterator[tuple[str, Callable[[], _T]]]:
        """Yield each name, and what returns or raises what its function does."""
        ...


def here(functions: Mapping[str, Callable[[], _T]]) -> Iterator[tuple[str, Callable[[], _T]]]:
    """Run functions in this process."""
    yield from functions.items()


class InTurn:
    """Runs what is done for `count` snapshots in child processes, each with its share of the time."""

    def __init__(self, count: int) -> None:
        """Begin the time that all of them share."""
        self._left, self._until = count, time.monotonic() + ALL_SECONDS

    def before(self, count: int) -> float:
        """Return how many seconds one of `count` first steps may take, which leave half of the time for the rest."""
        return max(1.0, min(SNAPSHOT_SECONDS, (self._until - time.monotonic()) / (2 * max(count, 1))))

    def __call__(self, functions: Mapping[str, Callable[[], _T]], /) -> Iterator[tuple[str, Callable[[], _T]]]:
        """Yield as `Apart` says; EngineError is raised for one whose process did not finish in time."""
        if not child_process.is_possible():
            yield from here(functions)
            return
        for name, outcome in child_process.run_each_in_child(functions, self._seconds):
            yield name, partial(_ended, outcome)

    def _seconds(self) -> float:
        share = (self._until - time.monotonic()) / max(self._left, 1)
        self._left -= 1
        return max(1.0, min(SNAPSHOT_SECONDS, share))


def _ended(outcome: Callable[[], _T]) -> _T:
    try:
        return outcome()
    except child_process.ChildError as error:
        message = f"its checks did not finish: the process that judges {error}"
        raise EngineError(message) from None


class Failures:
    """Keeps why snapshots failed.

    Attributes:
        reasons: id and reason of each snapshot that failed so far.
    """

    def __init__(self, failed: Failed | None = None, *, isolate: bool = True) -> None:
        """Keep who gets each failure; without `isolate` the first error is raised at once."""
        self._failed = failed
        self._isolate = isolate
        self._first: Exception | None = None
        self.reasons: tuple[tuple[str, str], ...] = ()

    @contextmanager
    def of(self, snapshot_id: str) -> Iterator[None]:
        """Do one snapshot's part. The store's errors are raised: the next part meets them, too, and a retry may not."""
        try:
            yield
        except (StoreError, OSError):
            raise
        except Exception as error:  # a bug on one snapshot must not take the others' reports: it is logged and kept as its reason
            if not self._isolate:
                raise
            log.exception("%s has no report", snapshot_id)
            self._first = self._first or error
            text = clean(str(error))
            self._add(snapshot_id, text if isinstance(error, AuditError) else f"{type(error).__name__}: {text}")

    def add(self, reasons: Iterable[tuple[str, str]]) -> None:
        """Add what failed in an earlier step."""
        for snapshot_id, why in reasons:
            self._add(snapshot_id, why)

    def _add(self, snapshot_id: str, why: str) -> None:
        self.reasons = (*self.reasons, (snapshot_id, why))
        if self._failed is not None:
            self._failed(snapshot_id, why)

    def raise_first(self) -> None:
        """Raise the first error, where there was one."""
        if self._first is not None:
            raise self._first
