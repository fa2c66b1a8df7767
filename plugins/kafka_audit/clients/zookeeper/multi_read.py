"""Many znodes with few round trips: ZooKeeper's multiRead where the server has it, pipelined reads where it has not.

kazoo has no call for multiRead, but passes on any request object that has `type`, `serialize` and `deserialize`. Servers
before 3.6 (Kafka 2.8 ships 3.5.9) answer UnimplementedError and drop the connection, which kazoo opens again.
"""

import re
import struct
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt
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

from kafka_audit.clients.budget import over_limit

Ints: TypeAlias = npt.NDArray[np.int64]

GET_DATA = 4
MULTI_READ = 22
BATCH_PATHS = 500  # measured: 100, 500 and 2,000 paths a request gave 80,000, 138,000 and 98,000 znodes a second
BATCH_BYTES = 256 * 1024  # a quarter of the default jute.maxbuffer, above which a server drops the connection
_BATCH_HOLDS = 4 * 1024 * 1024  # bytes of znodes that are read one by one, before their reader counts them
WORTH_IT = 64  # below this pipelined reads take milliseconds, and an old server is spared the unknown request
_HAS_MULTI = (3, 6)
_HEADER = struct.Struct("!iBi")  # type, done, error
_ZXIDS = np.dtype([("czxid", ">i8"), ("mzxid", ">i8")])
WINDOW = 8  # multiRead requests in flight
SINGLE_WINDOW = 100
"""Single reads in flight. kazoo writes a byte for each into a pipe that wakes its thread, which reads none while it reconnects.
Linux takes 278 such bytes: with more reads in flight, a server that hangs up and never answers again would block the audit."""


@dataclass(frozen=True, slots=True)
class Znode:
    """Content and stat of one znode."""

    data: bytes
    stat: ZnodeStat


Result: TypeAlias = Znode | KazooException


class ZookeeperClient(Protocol):
    """What is used of kazoo's client."""

    chroot: str
    handler: Any

    def command(self, cmd: bytes) -> str: ...  # noqa: D102 -- kazoo's

    def get_async(self, path: str) -> Any: ...  # noqa: ANN401, D102 -- kazoo's result objects are untyped

    def _call(self, request: Any, async_object: Any) -> Any: ...  # noqa: ANN401 -- see above


class MultiRead:
    """One multiRead request for the data of some paths, as kazoo's connection requires."""

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
    def deserialize(buffer: bytes, offset: int) -> "Contents":
        """Return the contents, in order; raises struct.error for a reply that ends early."""
        data: list[bytes] = []
        errors: dict[int, KazooException] = {}
        stats: list[int] = []
        while True:
            (kind, done, _), offset = _HEADER.unpack_from(buffer, offset), offset + _HEADER.size
            if done == 1:  # as kazoo reads it
                break
            if kind == GET_DATA:
                content, offset = read_buffer(buffer, offset)
                data.append(content or b"")
                stats.append(offset)
                offset += stat_struct.size
            else:
                (code,) = int_struct.unpack_from(buffer, offset)
                offset += int_struct.size
                errors[len(data)] = EXCEPTIONS[code]() if code in EXCEPTIONS else SystemZookeeperError(f"error {code}")
                data.append(b"")
                stats.append(-1)
        return _contents(buffer, data, errors, np.array(stats, np.int64))


@dataclass(frozen=True, slots=True, kw_only=True)
class Contents:
    """Contents of some znodes in the order of their paths; where one could not be read, its error. No znode is an object yet.

    Attributes:
        stat: returns the stat of the znode at a place.
    """

    data: Sequence[bytes]
    errors: Mapping[int, KazooException]
    czxid: Ints
    mzxid: Ints
    stat: Callable[[int], ZnodeStat]

    def __len__(self) -> int:
        """How many znodes were asked for."""
        return len(self.data)

    def good(self) -> Ints:
        """Return the places of those that were read."""
        return np.delete(np.arange(len(self.data)), [*self.errors])

    def results(self) -> Iterator[Result]:
        """Yield each znode, or its error."""
        for at, data in enumerate(self.data):
            yield self.errors[at] if at in self.errors else Znode(data, self.stat(at))


def _contents(buffer: bytes, data: list[bytes], errors: dict[int, KazooException], stats: Ints) -> Contents:
    """Take both zxids of each stat, the first two of its fields, out of a reply."""
    none = np.zeros(len(data), np.int64)
    contents = Contents(
        data=data,
        errors=errors,
        czxid=none.copy(),
        mzxid=none,
        stat=lambda at: ZnodeStat._make(stat_struct.unpack_from(buffer, int(stats[at]))),
    )
    good = contents.good()
    if len(good):
        if stats.max() + stat_struct.size > len(buffer):
            msg = "the reply ends early"
            raise struct.error(msg)
        windows = np.lib.stride_tricks.sliding_window_view(np.frombuffer(buffer, np.uint8), _ZXIDS.itemsize)
        zxids = windows[stats[good]].view(_ZXIDS).ravel()
        contents.czxid[good], contents.mzxid[good] = zxids["czxid"], zxids["mzxid"]
    return contents


def _listed(results: Sequence[Result]) -> Contents:
    """Return what was read one by one."""
    znodes = {at: result for at, result in enumerate(results) if isinstance(result, Znode)}
    zxids = np.zeros((2, len(results)), np.int64)
    for at, znode in znodes.items():
        zxids[:, at] = znode.stat.czxid, znode.stat.mzxid
    return Contents(
        data=[result.data if isinstance(result, Znode) else b"" for result in results],
        errors={at: result for at, result in enumerate(results) if isinstance(result, KazooException)},
        czxid=zxids[0],
        mzxid=zxids[1],
        stat=lambda at: znodes[at].stat,
    )


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


class ZnodeReader:
    """Reads many znodes of one session."""

    def __init__(self, client: ZookeeperClient, read_s: float, deadline: float) -> None:
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
        found: dict[str, Result] = {}
        size = 0
        for first, contents in self.each(len(paths), paths.__getitem__):
            size += sum(map(len, contents.data))
            if most_bytes is not None and size > most_bytes:
                message = "the znodes that are read hold more than limits.bytes"
                raise over_limit(message, "bytes")
            found.update(zip(paths[first:], contents.results(), strict=False))
        return found

    def each(self, count: int, path: Callable[[int], str]) -> Iterator[tuple[int, Contents]]:
        """Yield what many znodes hold, batch by batch with the number of its first one, in order. Raises as `get_many`.

        Args:
            count: how many znodes.
            path: the path of the one of a number, below the chroot.
        """
        done = 0
        for contents in self._by_multi(map(path, range(count)), count):
            yield done, contents
            done += len(contents)
        batch: list[Result] = []
        size = 0
        for znode in self._one_by_one(map(path, range(done, count))):
            batch.append(znode)
            size += len(znode.data) if isinstance(znode, Znode) else 0
            if len(batch) == BATCH_PATHS or size > _BATCH_HOLDS or done + len(batch) == count:
                yield done, _listed(batch)
                done, batch, size = done + len(batch), [], 0

    def _may_have_multi(self) -> bool:
        """Ask the server's version, which spares an old one a warning in its log; it may keep that to itself."""
        try:
            text = self._client.command(b"srvr")
        except (KazooException, KazooTimeoutError, OSError):
            return True
        version = re.search(r"Zookeeper version: (\d+)\.(\d+)", text)
        return version is None or (int(version[1]), int(version[2])) >= _HAS_MULTI

    def _by_multi(self, paths: Iterator[str], count: int) -> Iterator[Contents]:
        """Yield the replies for batches of paths; fewer than all where the server does not know the request."""
        if self._has_multi is None and count >= WORTH_IT:
            self._has_multi = self._may_have_multi()
        if not self._has_multi or count < WORTH_IT:
            return

        def ask(batch: list[str]) -> Any:  # noqa: ANN401
            result = self._client.handler.async_result()
            root = self._client.chroot
            self._client._call(MultiRead([root + path for path in batch]), result)  # noqa: SLF001 -- no public method sends it
            return result

        requests = batches(paths)
        first = next(requests)
        try:
            # Alone: an old server drops the connection, and all other requests in flight with it.
            yield ask(first).get(timeout=self._left())
            for _, result in _pipelined(requests, ask, WINDOW):
                yield result.get(timeout=self._left())
        except (UnimplementedError, ConnectionLoss):
            self._has_multi = False

    def _one_by_one(self, paths: Iterable[str]) -> Iterator[Result]:
        for _, result in _pipelined(iter(paths), self._client.get_async, SINGLE_WINDOW):
            try:
                data, stat = result.get(timeout=self._left())
            except (ConnectionLoss, ConnectionClosedError):
                raise
            except KazooException as error:
                yield error
            else:
                yield Znode(data or b"", stat)  # kazoo has None for a znode that was created without data

    def _left(self) -> float:
        return max(0.01, min(self._read_s, self._deadline - time.monotonic()))


def _pipelined(items: Iterator[Any], ask: Callable[[Any], Any], window: int) -> Iterator[tuple[Any, Any]]:
    """Yield each item with what asking for it gave, so many of them asked ahead."""
    under_way: deque[tuple[Any, Any]] = deque()
    for item in items:
        under_way.append((item, ask(item)))
        if len(under_way) >= window:
            yield under_way.popleft()
    yield from under_way
