"""The reads of one sample of ZooKeeper: a row for each set of znodes, and for each znode that cannot be read, within bounds."""

import hashlib
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeVar

from kazoo.exceptions import ConnectionClosedError, ConnectionLoss, KazooException, NoNodeError, SessionExpiredError
from kazoo.handlers.threading import KazooTimeoutError

from kafka_audit.clients.budget import ROW_BYTES, Budget, over_limit
from kafka_audit.clients.read_error import ReadError, any_answer, clean_line
from kafka_audit.clients.zookeeper.multi_read import Znode
from kafka_audit.clients.zookeeper.session import Session
from kafka_audit.collect.rows.columns import Ints
from kafka_audit.collect.rows.source_reads import Asking, fitting_rows
from kafka_audit.collect.zookeeper.partition_states import States, decoded
from kafka_audit.collect.zookeeper.znodes import Assignment, ZnodeError
from kafka_audit.model.read_failure import ReadFailure
from kafka_audit.model.tables import SourceRead


class DecodedZnodes:
    """Decoded contents by digests of their bytes, so that only what changed is decoded again. Of one audit, for one thread."""

    def __init__(self) -> None:
        """Start without any."""
        self._assignments: dict[str, tuple[bytes, Assignment]] = {}
        self._states: dict[tuple[int, bytes], States] = {}
        self.sizes: dict[str, int] = {}  # of the largest, by path

    def assignment(self, topic: str, data: bytes) -> Assignment | None:
        """Return what /brokers/topics/T holds, None where these bytes were not decoded before."""
        digest, found = self._assignments.get(topic, (b"", None))
        return found if found is not None and digest == _digest(data) else None

    def add(self, topic: str, data: bytes, assignment: Assignment) -> None:
        """Keep what /brokers/topics/T holds."""
        self._assignments[topic] = _digest(data), assignment

    def states(self, contents: Sequence[bytes], mzxid: Ints) -> States | None:
        """Return what `partition_states.decoded` does."""
        # No state that can be decoded has a zero byte in it, so the same bytes are the same states.
        key = len(contents), _digest(b"\0".join(contents))
        if key in self._states:
            return replace(self._states[key], mzxid=mzxid)
        found = decoded(contents, mzxid)
        if found is not None:
            self._states[key] = found
        return found


def _digest(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=16).digest()


KNOWN = (KazooException, KazooTimeoutError, ZnodeError)
"""What a read of znodes raises, besides ReadError."""

MOST_FAILED = 100
"""Znodes of one set of which each has a row of its own where it cannot be read; the rest are counted."""

_LONGEST_SHOWN = 200  # characters of a path in a message
_R = TypeVar("_R")
_T = TypeVar("_T")


class ZnodeReads:
    """Notes how reads end.

    Attributes:
        rows: by operation.
        set: the set that is being read.
        lost: what ended the session, None while it lasts.
    """

    def __init__(self, session: Session, asking: Asking, budget: Budget) -> None:
        """Take a connected session, whose reads these are, and the audit's budget."""
        self._session = session
        self._asking = asking
        self._budget = budget
        self._failed: Counter[str] = Counter()  # znodes of a set
        self._rows = 0
        self.rows = dict[str, SourceRead]()
        self.set = ""
        self.lost: KazooException | KazooTimeoutError | None = None

    def note(self, path: str, step: Callable[[], None]) -> None:
        """Read a set, and give it a row."""
        started, self.set = time.monotonic(), path
        operation = f"zookeeper {path}"
        try:
            if self.lost is not None:
                raise self.lost
            with any_answer(*KNOWN):
                step()
        except (KazooException, KazooTimeoutError) as error:
            if isinstance(error, KazooTimeoutError | ConnectionLoss | ConnectionClosedError | SessionExpiredError):
                self.lost = error  # one deadline is enough: what is left would only wait for the same server
            self.rows[operation] = self._asking.failed(operation, self._session.as_read_error(error, path), started)
        except ZnodeError as error:
            self.rows[operation] = self._asking.failed(operation, _broken(path, error), started)
        except ReadError as error:
            self.rows[operation] = self._asking.failed(operation, error, started)
        else:
            self.rows[operation] = self._asking.answered(operation, started)
        if (more := self._failed[path] - MOST_FAILED) > 0:
            rest, message = f"{operation} (rest)", f"{more} more znodes could not be read"
            self.rows[rest] = self._asking.failed(rest, ReadError(ReadFailure.UNREADABLE, message), started)

    def decode(self, path: str, result: _R | KazooException, decode: Callable[[_R], _T]) -> _T | None:
        """Return one znode of a set decoded; a failure is a separate row and does not affect the rest of the set."""
        if isinstance(result, NoNodeError):
            return None  # it went away after its parent was listed
        self._budget.demand_time()
        try:
            if isinstance(result, KazooException):
                raise self._session.as_read_error(result, path)
            with any_answer(*KNOWN):
                found = fitting_rows(decode(result))
        except ZnodeError as error:
            self.fail(path, _broken(path, error))
        except ReadError as error:
            self.fail(path, error)
        else:
            if isinstance(found, tuple):
                self._count(len(found), len(result.data) if isinstance(result, Znode) else 0)
            return found
        return None

    def _count(self, rows: int, size: int) -> None:
        """Count rows of this sample; raises ReadError over `limits.rows`, and all of the set fails then."""
        self._rows += max(rows, size // ROW_BYTES)
        if self._rows > self._budget.limits.rows:
            message = f"the znodes that are read hold more than {self._budget.limits.rows} rows"
            raise over_limit(message, "rows")

    def fail(self, path: str, error: ReadError) -> None:
        """Give a znode a row, as long as these are not too many of one set."""
        operation = f"zookeeper {clean_line(path)}"
        self._failed[self.set] += operation not in self.rows
        if operation in self.rows or self._failed[self.set] <= MOST_FAILED:
            self.rows[operation] = self._asking.failed(operation, error, time.monotonic())


def _broken(path: str, error: ZnodeError) -> ReadError:
    shown = clean_line(path, _LONGEST_SHOWN)
    return ReadError(ReadFailure.UNREADABLE, f"{shown}: {error}", f"a {shown} that Kafka can read")
