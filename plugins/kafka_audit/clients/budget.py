"""Limits of one audit of one cluster: seconds, open connections, bytes in flight, rows.

One `Budget` is made for an audit and shared by all its threads. Everything that waits asks it for how long, everything that
connects hands it the socket, and when the audit ends it closes what is still open: a thread that is left behind, in a name
lookup or in a library, then finds no connection and no time.
"""

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from kafka_audit.clients.read_error import ReadError
from kafka_audit.clients.targets import named_addresses, numeric_addresses
from kafka_audit.compare.addresses import normal_host
from kafka_audit.model.cluster import Cluster, Limits
from kafka_audit.model.read_failure import ReadFailure

ROW_BYTES = 256
"""Bytes of a row that is an object; one that holds more counts as several."""

GRACE_S = 1.0
"""How long after `limits.audit_s` an audit may end at the latest: to close what is open and to note what is missing."""

_FIRST_TURNS = 8  # answers with all topics in flight while their size is unknown
_LEAST_TURNS = 2
_TURN_SHARE = 8  # the rest is for what else they become, and for a cluster whose answers grow
_LARGE_TURNS = 2  # large answers that are objects at a time: they take twenty times their bytes


def over_limit(message: str, key: str) -> ReadError:
    """Return the error of what was left out, with the key of `limits` that would let it in."""
    needs = f"a higher limits.{key} in the cluster file, if all of the data belongs to this cluster"
    return ReadError(ReadFailure.OVER_LIMIT, message, needs)


def out_of_time() -> ReadError:
    """Return the error of reads that were no longer made."""
    return ReadError(ReadFailure.TIMEOUT, "the time limit of the audit was reached", "a higher limits.audit_s")


class _Shared:
    """What all parts of a budget have in common."""

    def __init__(self, limits: Limits) -> None:
        self.condition = threading.Condition()
        self.ended = False
        self.sockets: set[socket.socket] = set()
        self.most_bytes = limits.bytes
        self.bytes = 0  # in flight: received, and not yet a complete answer
        self.most_rows = limits.rows
        self.rows = 0
        self.turns = 0
        self.largest: int | None = None  # answer with all topics so far, in bytes
        self.large = 0  # answers that are objects


class Budget:
    """Seconds until `deadline` (of `time.monotonic()`), and what the parts of one audit share.

    Attributes:
        limits: the cluster's.
        named: addresses in the cluster file, hosts in small letters.
        excepted: those of them that may be dialled whatever they are: the file gives the address itself, not a name.
        deadline: the end.
    """

    def __init__(self, cluster: Cluster | None = None, deadline: float | None = None, shared: _Shared | None = None) -> None:
        """Start with nothing used.

        Args:
            cluster: whose `limits` hold, and whose addresses may be dialled whatever they are.
            deadline: of `time.monotonic()`; default: `limits.audit_s` from now.
            shared: what another part has used.
        """
        self.limits = limits = Limits() if cluster is None else cluster.limits
        self._cluster = cluster
        self.named: frozenset[tuple[str, int]] = frozenset() if cluster is None else named_addresses(cluster)
        self.excepted = numeric_addresses(self.named)
        self.deadline = time.monotonic() + limits.audit_s if deadline is None else deadline
        self._shared = shared or _Shared(limits)

    def excepts(self, host: str, port: int) -> bool:
        """Return whether the cluster file gives this very address, so that it may be dialled whatever it is."""
        return (normal_host(host), port) in self.excepted

    def part(self, seconds: float) -> "Budget":
        """Return this budget with an earlier end: so long from now, at most."""
        return Budget(self._cluster, min(self.deadline, time.monotonic() + seconds), self._shared)

    def left(self) -> float:
        """Return how many seconds are left; 0 at the end."""
        return 0.0 if self._shared.ended else max(0.0, self.deadline - time.monotonic())

    def demand_time(self, at_most: float = float("inf")) -> float:
        """Return how many seconds a wait may take, at most so many; raises ReadError when the time is over."""
        left = self.left()
        if left <= 0:
            raise out_of_time()
        return min(left, at_most)

    def opened(self, connection: socket.socket) -> None:
        """Keep a socket, to end it with the audit; raises TimeoutError when that is over."""
        with self._shared.condition:
            if not self._shared.ended and time.monotonic() < self.deadline:
                self._shared.sockets.add(connection)
                return
        connection.close()
        raise TimeoutError

    def closed(self, connection: socket.socket) -> None:
        """Forget a socket that its owner closes."""
        with self._shared.condition:
            self._shared.sockets.discard(connection)

    @contextmanager
    def connections(self) -> Iterator[Callable[[socket.socket], None]]:
        """Yield what keeps sockets, see `opened`; at the end it forgets them, which their owner has closed."""
        kept: list[socket.socket] = []

        def keep(connection: socket.socket) -> None:
            self.opened(connection)
            kept.append(connection)

        try:
            yield keep
        finally:
            for connection in kept:
                self.closed(connection)

    def close(self) -> None:
        """End the audit: nothing is sent or received from now on."""
        with self._shared.condition:
            self._shared.ended = True
            left, self._shared.sockets = self._shared.sockets, set()
            self._shared.condition.notify_all()
        for connection in left:
            end_connection(connection)

    def receive(self, size: int) -> None:
        """Count bytes that arrived; raises ReadError where all connections together hold more than `limits.bytes`."""
        with self._shared.condition:
            if self._shared.bytes + size > self._shared.most_bytes:
                message = f"answers in progress exceed {self._shared.most_bytes} bytes"
                raise over_limit(message, "bytes")
            self._shared.bytes += size

    def release(self, size: int) -> None:
        """Count bytes no longer that `receive` counted."""
        with self._shared.condition:
            self._shared.bytes -= size

    @property
    def bytes_under_way(self) -> int:
        """How many bytes `receive` counts at present."""
        return self._shared.bytes

    def add_rows(self, count: int, size: int = 0) -> None:
        """Count rows that answers become; raises ReadError where it would be more than `limits.rows`, and counts none then.

        Args:
            count: of the rows.
            size: bytes or characters in them: long ones count as several.
        """
        count = max(count, size // ROW_BYTES)
        with self._shared.condition:
            if self._shared.rows + count > self._shared.most_rows:
                message = f"all different answers together exceed {self._shared.most_rows} rows"
                raise over_limit(message, "rows")
            self._shared.rows += count

    def demand_rows(self, count: int) -> None:
        """Raise ReadError where `add_rows` would, and count nothing."""
        if self._shared.rows + count > self._shared.most_rows:
            self.add_rows(count)

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Ask for all topics inside, and read the answer: so many at a time that they fit into an eighth of `limits.bytes`.

        Waiting comes before the request, so it does not count for the time of the answer.

        Raises:
            ReadError: the time was over before.
        """
        shared = self._shared
        with shared.condition:
            while shared.turns >= self._width():
                shared.condition.wait(self.demand_time())
            shared.turns += 1
        try:
            yield
        finally:
            with shared.condition:
                shared.turns -= 1
                shared.condition.notify_all()

    def take_large(self) -> None:
        """Wait until a further large answer may become objects; `give_large` says that they are rows. Raises ReadError."""
        shared = self._shared
        with shared.condition:
            while shared.large >= _LARGE_TURNS:
                shared.condition.wait(self.demand_time())
            shared.large += 1

    def give_large(self) -> None:
        """Let the next in that `take_large` keeps waiting."""
        with self._shared.condition:
            self._shared.large -= 1
            self._shared.condition.notify_all()

    def _width(self) -> int:
        largest = self._shared.largest
        return _FIRST_TURNS if largest is None else max(_LEAST_TURNS, self._shared.most_bytes // (_TURN_SHARE * max(1, largest)))

    def note_answer(self, size: int) -> None:
        """Learn how large an answer with all topics is."""
        with self._shared.condition:
            self._shared.largest = max(size, self._shared.largest or 0)


def end_connection(connection: socket.socket) -> None:
    """End a connection that another thread may wait for: it wakes up, and closes the socket itself."""
    with suppress(OSError):
        # Not the method of a TLS socket, which would take its state away from the thread that uses it.
        socket.socket.shutdown(connection, socket.SHUT_RDWR)
