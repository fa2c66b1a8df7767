"""Many znodes with few round trips: ZooKeeper's multiRead where the server has it, pipelined reads where it has not.

kazoo has no call for multiRead, but passes on any request object that has `type`, `serialize` and `deserialize`. Servers
before 3.6 (Kafka 2.8 ships 3.5.9) answer UnimplementedError and drop the connection, which kazoo opens again by itself.
"""

import re
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from kazoo.exceptions import (
    EXCEPTIONS,
    ConnectionClosedError,
    ConnectionLoss,
    KazooException,
    SystemZookeeperError,
    UnimplementedError,
)
from kazoo.handlers.threading import KazooTimeoutError
from kazoo.protocol.serialization import MultiHeader, int_struct, read_buffer, stat_struct, write_string
from kazoo.protocol.states import ZnodeStat

from kafka_audit.collect.budget import over_limit

GET_DATA = 4
MULTI_READ = 22
BATCH_PATHS = 500  # measured: 100, 500 and 2,000 paths a request gave 80,000, 138,000 and 98,000 znodes a second
BATCH_BYTES = 256 * 1024  # a quarter of the default jute.maxbuffer, above which a server drops the connection
WORTH_IT = 64  # below this pipelined reads take milliseconds, and an old server is spared the unknown request
_HAS_MULTI = (3, 6)
WINDOW = 8  # multiRead requests under way
SINGLE_WINDOW = 100
"""Single reads under way. kazoo writes a byte for each into a pipe that wakes its thread, which reads none while it reconnects.
Linux takes 278 such bytes: with more reads under way, a server that hangs up and never answers again would block the audit."""


@dataclass(frozen=True, slots=True)
class Znode:
    """Content and stat of one znode."""

    data: bytes
    stat: ZnodeStat


Result: TypeAlias = Znode | KazooException


class Client(Protocol):
    """What is used of kazoo's client."""

    chroot: str
    handler: Any

    def command(self, cmd: bytes) -> str: ...  # noqa: D102 -- kazoo's

    def get_async(self, path: str) -> Any: ...  # noqa: ANN401, D102 -- kazoo's result objects are untyped

    def _call(self, request: Any, async_object: Any) -> Any: ...  # noqa: ANN401 -- see above


class MultiRead:
    """One multiRead request for the data of some paths, as kazoo's connection wants it."""

    type = MULTI_READ

    def __init__(self, paths: Sequence[str]) -> None:
        """Take absolute paths, chroot included."""
        self.paths = paths

    def serialize(self) -> bytes:
        """Return per path a header, the path and a zero watch byte, then the header that ends the list."""
        header = bytes(MultiHeader(GET_DATA, False, -1).serialize())  # noqa: FBT003 -- kazoo's positional tuple
        parts = [header + write_string(path) + b"\0" for path in self.paths]
        return b"".join(parts) + bytes(MultiHeader(-1, True, -1).serialize())  # noqa: FBT003

    @staticmethod
    def deserialize(buffer: bytes, offset: int) -> list[Result]:
        """Return one result per path, in order; raises struct.error for a reply that ends early."""
        results: list[Result] = []
        while True:
            header, offset = MultiHeader.deserialize(buffer, offset)
            if header.done:
                return results
            if header.type == GET_DATA:
                data, offset = read_buffer(buffer, offset)
                results.append(Znode(data or b"", ZnodeStat._make(stat_struct.unpack_from(buffer, offset))))
                offset += stat_struct.size
            else:
                (code,) = int_struct.unpack_from(buffer, offset)
                offset += int_struct.size
                # Of a code that it does not know kazoo makes RuntimeError.
                results.append(EXCEPTIONS[code]() if code in EXCEPTIONS else SystemZookeeperError(f"error {code}"))


def batches(paths: Iterable[str], most: int = BATCH_PATHS, most_bytes: int = BATCH_BYTES) -> Iterator[list[str]]:
    """Cut paths into requests that stay below both bounds; a single path above the second one goes alone."""
    batch: list[str] = []
    size = 0
    for path in paths:
        length = len(path.encode()) + 14  # header, string length, watch byte
        if batch and (len(batch) >= most or size + length > most_bytes):
            yield batch
            batch, size = [], 0
        batch.append(path)
        size += length
    if batch:
        yield batch


class _Held(dict[str, Result]):
    """Results by path, up to so many bytes of content."""

    def __init__(self, most_bytes: int | None) -> None:
        super().__init__()
        self._left = most_bytes

    def take(self, results: Iterable[tuple[str, Result]]) -> None:
        """Add results; raises ReadError over the bound."""
        for path, one in results:
            if self._left is not None and isinstance(one, Znode):
                self._left -= len(one.data)
                if self._left < 0:
                    message = "the znodes that are read hold more than limits.bytes"
                    raise over_limit(message, "bytes")
            self[path] = one


class ZnodeReader:
    """Reads many znodes of one session."""

    def __init__(self, client: Client, read_s: float, deadline: float) -> None:
        """Take a started client; `read_s` bounds each request, `deadline` (of `time.monotonic()`) everything read here."""
        self._client = client
        self._read_s = read_s
        self._deadline = deadline
        self._has_multi: bool | None = None  # not known yet

    def get_many(self, paths: Sequence[str], most_bytes: int | None = None) -> dict[str, Result]:
        """Return content or error per path, paths below the chroot.

        Args:
            paths: what to read.
            most_bytes: how much may be held of it, None for all.

        Raises:
            ReadError: there is more than that.
            KazooException: the session was lost.
            kazoo.handlers.threading.KazooTimeoutError: a request was not answered in time.
        """
        found = _Held(most_bytes)
        if self._has_multi is None and len(paths) >= WORTH_IT:
            self._has_multi = self._may_have_multi()
        if self._has_multi and len(paths) >= WORTH_IT:
            try:
                self._by_multi(paths, found)
            except (UnimplementedError, ConnectionLoss):
                self._has_multi = False
        self._one_by_one([path for path in paths if path not in found], found)
        return found

    def _may_have_multi(self) -> bool:
        """Ask the server's version, which spares an old one a warning in its log; it may keep that to itself."""
        try:
            text = self._client.command(b"srvr")
        except (KazooException, KazooTimeoutError, OSError):
            return True
        version = re.search(r"Zookeeper version: (\d+)\.(\d+)", text)
        return version is None or (int(version[1]), int(version[2])) >= _HAS_MULTI

    def _by_multi(self, paths: Sequence[str], found: "_Held") -> None:
        def ask(batch: list[str]) -> Any:  # noqa: ANN401
            result = self._client.handler.async_result()
            root = self._client.chroot
            self._client._call(MultiRead([root + path for path in batch]), result)  # noqa: SLF001 -- the only way to send it
            return result

        def take(batch: list[str], result: Any) -> None:  # noqa: ANN401
            found.take(zip(batch, result.get(timeout=self._left()), strict=True))

        requests = batches(paths)
        first = next(requests)
        take(first, ask(first))  # alone: an old server drops the connection, and whatever else is under way with it
        self._pipelined(requests, ask, take, WINDOW)

    def _one_by_one(self, paths: Sequence[str], found: "_Held") -> None:
        def take(path: str, result: Any) -> None:  # noqa: ANN401
            try:
                found.take([(path, Znode(*result.get(timeout=self._left())))])
            except (ConnectionLoss, ConnectionClosedError):
                raise
            except KazooException as error:
                found[path] = error

        self._pipelined(iter(paths), self._client.get_async, take, SINGLE_WINDOW)

    @staticmethod
    def _pipelined(items: Iterator[Any], ask: Callable[[Any], Any], take: Callable[[Any, Any], None], window: int) -> None:
        under_way: deque[tuple[Any, Any]] = deque()
        for item in items:
            under_way.append((item, ask(item)))
            if len(under_way) >= window:
                take(*under_way.popleft())
        while under_way:
            take(*under_way.popleft())

    def _left(self) -> float:
        return max(0.01, min(self._read_s, self._deadline - time.monotonic()))
