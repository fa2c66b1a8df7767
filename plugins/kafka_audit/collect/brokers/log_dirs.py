"""Kafka's DescribeLogDirs response, versions 0 to 5, read as columns: a broker lists every replica that it holds.

Only replicas that move between log dirs become objects. Of the others it is counted how many there are, and kept which log dir
has which, of brokers with several: what the loss of a disk takes along. Source: `DescribeLogDirsResponse.json` of Kafka.
"""

import hashlib
import struct
import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from kafka_audit.clients.budget import Budget
from kafka_audit.clients.protocol.primitive_types import MOST_TEXT, Cursor, WireError
from kafka_audit.collect.rows.columns import Ints, Lists, empty, table
from kafka_audit.model.names import NameKind, can_be_name
from kafka_audit.model.tables import DiskReplicas

HIGHEST = 5
TOP_ERROR, SIZES = 3, 4
"""Versions from which the response has a top-level error code, and the sizes of volumes."""

_FLEXIBLE, _CORDONED = 2, 5
_OFFSETS = b"__consumer_offsets"
_MOST_BYTES = 2**62
_REPLICA = np.dtype([("partition", ">i4"), ("size", ">i8"), ("lag", ">i8"), ("future", "u1")])
_UNREADABLE = (WireError, struct.error, IndexError, UnicodeDecodeError, MemoryError)
_int16, _int32 = struct.Struct("!h").unpack_from, struct.Struct("!i").unpack_from


class FutureReplica(NamedTuple):
    """A replica that will replace the one in another log dir of the broker."""

    topic: str
    partition: int
    size_bytes: int
    offset_lag: int


@dataclass(frozen=True, kw_only=True)
class ListedLogDir:
    """A log dir of the response.

    Attributes:
        error: its error code.
        path: its path.
        replicas: how many replicas there are in it, without future ones.
        future: how many future replicas there are in it.
        replica_bytes: their sizes together, without future ones.
        offsets_bytes: the size of the largest replica of `__consumer_offsets` among them, None where there is none.
        total_bytes: -1 where the broker does not know it, None where the version has none, as is `usable_bytes`.
    """

    error: int
    path: str
    replicas: int
    future: int
    replica_bytes: int
    offsets_bytes: int | None
    total_bytes: int | None
    usable_bytes: int | None
    _topics: "_Topics"

    def future_replicas(self) -> Iterator[FutureReplica]:
        """Yield the future replicas."""
        topics = self._topics
        value = topics.rows[topics.future]
        owners = np.repeat(np.arange(len(topics.names)), topics.counts)[topics.future]
        for owner, (partition, size, lag, _) in zip(owners.tolist(), value.tolist(), strict=True):
            yield FutureReplica(topics.names[owner].decode(), partition, size, lag)

    def sizes(self) -> Iterator[tuple[str, int, int]]:
        """Yield topic, partition and size of each replica, without future ones."""
        topics = self._topics
        owners = np.repeat(np.arange(len(topics.names)), topics.counts)[~topics.future]
        for owner, (partition, size, _, _) in zip(owners.tolist(), topics.rows[~topics.future].tolist(), strict=True):
            yield topics.names[owner].decode(), partition, max(size, 0)

    def held(self) -> tuple[list[str], Ints, Ints]:
        """Return the topics in order, how many partitions there are of each, and all these partitions in order of both.

        Future replicas are left out.
        """
        topics = self._topics
        by_name = sorted(range(len(topics.names)), key=topics.names.__getitem__)
        rank = np.empty(len(by_name), np.int64)
        rank[by_name] = np.arange(len(by_name))
        stays = ~topics.future
        owner, partition = np.repeat(rank, topics.counts)[stays], topics.rows["partition"].astype(np.int64)[stays]
        lengths = np.bincount(owner, minlength=len(by_name))
        names = [topics.names[place].decode() for place, length in zip(by_name, lengths.tolist(), strict=True) if length]
        return names, lengths[lengths > 0], partition[np.lexsort((partition, owner))]


class LogDirsAnswer(NamedTuple):
    """A DescribeLogDirs response."""

    throttle_ms: int
    error: int
    log_dirs: tuple[ListedLogDir, ...]


@dataclass(frozen=True, kw_only=True)
class _Topics:
    """Topics of a log dir; the replicas of all of them, one after the other, are rows of `_REPLICA`."""

    names: list[bytes]
    counts: list[int]
    rows: npt.NDArray[np.void]
    future: npt.NDArray[np.bool_]


def decode_log_dirs_answer(body: bytes, version: int) -> LogDirsAnswer:
    """Decode a response body (after its header); raises WireError."""
    cursor = Cursor(body, flexible=version >= _FLEXIBLE)
    try:
        throttle_ms = cursor.int32()
        code = cursor.int16() if version >= TOP_ERROR else 0
        count = _length(cursor, "log dirs")
        found = tuple(_log_dir(cursor, version) for _ in range(count))
        cursor.tags()
    except _UNREADABLE as error:
        msg = f"no DescribeLogDirs answer of version {version}: {error}"
        raise WireError(msg) from error
    return LogDirsAnswer(throttle_ms, code, found)


def _length(cursor: Cursor, what: str) -> int:
    try:
        return cursor.length()
    except WireError as error:
        msg = f"{what}: {error}"
        raise WireError(msg) from None


def _log_dir(cursor: Cursor, version: int) -> ListedLogDir:
    error, path = cursor.int16(), cursor.text()
    if not path:
        msg = "a log dir without a name"
        raise WireError(msg)
    topics = _topics(cursor)
    total_bytes, usable_bytes = struct.unpack("!qq", cursor.take(16)) if version >= SIZES else (None, None)
    if version >= _CORDONED:
        cursor.int8()
    cursor.tags()
    future = int(np.count_nonzero(topics.future))
    sizes = np.where(topics.future, 0, np.maximum(topics.rows["size"], 0))  # -1: the log dir is offline
    if sizes.sum(dtype=np.float64) > _MOST_BYTES:
        msg = f"replicas of more than {_MOST_BYTES} bytes"
        raise WireError(msg)
    is_offsets = np.array([name == _OFFSETS for name in topics.names], np.bool_)
    of_offsets = sizes[np.repeat(is_offsets, np.array(topics.counts, np.int64))]
    return ListedLogDir(
        error=error,
        path=path,
        replicas=len(topics.rows) - future,
        future=future,
        replica_bytes=int(sizes.sum()),
        offsets_bytes=int(of_offsets.max()) if len(of_offsets) else None,
        total_bytes=total_bytes,
        usable_bytes=usable_bytes,
        _topics=topics,
    )


def _topics(cursor: Cursor) -> _Topics:
    count, begin = _length(cursor, "topics in a log dir"), cursor.at
    try:
        names, counts, at = _without_tags(cursor, count)
    except _UNREADABLE:
        cursor.at = begin
        names, counts, at = _with_tags(cursor, count)
    if cursor.at > len(cursor.data):
        msg = "the answer ends early"
        raise WireError(msg)
    if not b"".join(names).isascii():
        for name in names:
            name.decode()
    rows = np.empty(0, _REPLICA)
    if len(at):
        windows = np.lib.stride_tricks.sliding_window_view(np.frombuffer(cursor.data, np.uint8), _REPLICA.itemsize)
        rows = windows[at].view(_REPLICA).ravel()
    return _Topics(names=names, counts=counts, rows=rows, future=rows["future"] != 0)


def _without_tags(cursor: Cursor, count: int) -> tuple[list[bytes], list[int], Ints]:
    """Pass over topics whose replicas have no tagged fields, and return names, numbers of replicas, and the places of replicas.

    No release of Kafka writes tagged fields here. Raises WireError, among others, where there are some.
    """
    size = _REPLICA.itemsize + cursor.flexible
    names, counts, starts = (_skip_compact if cursor.flexible else _skip_plain)(cursor, count, size)
    if cursor.at > len(cursor.data):
        msg = "the answer ends early"
        raise WireError(msg)
    lengths, begins = np.array(counts, np.int64), np.array(starts, np.int64)
    first = np.cumsum(lengths) - lengths
    at = np.repeat(begins - size * first, lengths) + size * np.arange(lengths.sum())
    if cursor.flexible:
        buffer = np.frombuffer(cursor.data, np.uint8)
        if buffer[at + _REPLICA.itemsize].any() or buffer[begins + size * lengths].any():
            msg = "tagged fields"
            raise WireError(msg)
    return names, counts, at


def _skip_compact(cursor: Cursor, count: int, size: int) -> tuple[list[bytes], list[int], list[int]]:
    """Pass over topics of versions 2 on: the hot loop, so without calls where lengths are one byte, which they are."""
    names, counts, starts = [], [], []
    data, at = cursor.data, cursor.at
    for _ in range(count):
        length = data[at]
        at += 1
        if length >= 0x80:  # noqa: PLR2004 -- the continuation bit
            cursor.at = at - 1
            length = cursor.varint()
            at = cursor.at
        if length < 2 or length > MOST_TEXT + 1:  # noqa: PLR2004 -- null and empty
            _refuse_name(length - 1)
        names.append(data[at : at + length - 1])
        at += length - 1
        length = data[at]
        at += 1
        if length >= 0x80:  # noqa: PLR2004 -- see above
            cursor.at = at - 1
            length = cursor.varint()
            at = cursor.at
        if not length:
            _refuse_null()
        counts.append(length - 1)
        starts.append(at)
        at += (length - 1) * size + 1
    cursor.at = at
    return names, counts, starts


def _skip_plain(cursor: Cursor, count: int, size: int) -> tuple[list[bytes], list[int], list[int]]:
    names, counts, starts = [], [], []
    data, at = cursor.data, cursor.at
    for _ in range(count):
        (length,) = _int16(data, at)
        if length < 1:
            _refuse_name(length)
        at += 2
        names.append(data[at : at + length])
        at += length
        (length,) = _int32(data, at)
        if length < 0:
            _refuse_null()
        at += 4
        counts.append(length)
        starts.append(at)
        at += length * size
    cursor.at = at
    return names, counts, starts


def _with_tags(cursor: Cursor, count: int) -> tuple[list[bytes], list[int], Ints]:
    """Return what `_without_tags` does of any topics; raises what it is unreadable for."""
    names: list[bytes] = []
    counts: list[int] = []
    at: list[int] = []
    for _ in range(count):
        name = cursor.name().encode()
        if not name:
            _refuse_name(0)
        names.append(name)
        counts.append(_length(cursor, "partitions in a log dir"))
        for _ in range(counts[-1]):
            at.append(cursor.at)
            cursor.take(_REPLICA.itemsize)
            cursor.tags()
        cursor.tags()
    return names, counts, np.array(at, np.int64)


def _refuse_name(length: int) -> None:
    msg = f"a text of {length} bytes" if length > 0 else "a topic without a name"
    raise WireError(msg)


def _refuse_null() -> None:
    msg = "partitions in a log dir: null instead of a list"
    raise WireError(msg)


class DiskBook:
    """Takes log dirs from any thread, and keeps each distinct content once: it seldom changes between samples."""

    def __init__(self) -> None:
        """Start empty."""
        self._lock = threading.Lock()
        self._contents: dict[str, pa.Table] = {}

    def add(self, log_dirs: Sequence[ListedLogDir], budget: Budget) -> tuple[str | None, ...]:
        """Take all log dirs of a broker; return the digest of the content of each, None for a broker's only one.

        Raises:
            ReadError: over the budget of rows, which all different contents share.
        """
        if len(log_dirs) == 1:
            return (None,)
        return tuple(self._add(log_dir, budget) for log_dir in log_dirs)

    def _add(self, log_dir: ListedLogDir, budget: Budget) -> str:
        names, lengths, partitions = log_dir.held()
        # A name that no topic has is in no list of topics either, so that nothing can become of its partitions.
        possible = np.array([can_be_name(NameKind.TOPIC, name) for name in names], np.bool_)
        if not possible.all():
            names = [name for name, kept in zip(names, possible.tolist(), strict=True) if kept]
            partitions, lengths = partitions[np.repeat(possible, lengths)], lengths[possible]
        content = hashlib.blake2b("\n".join(names).encode(), digest_size=16)
        content.update(lengths.tobytes() + partitions.tobytes())
        digest = content.hexdigest()
        with self._lock:
            if digest not in self._contents:
                budget.add_rows(1, sum(map(len, names)) + partitions.nbytes)  # columns: far smaller than as many rows
                lists = Lists.of_lengths(lengths, partitions)
                of = pa.repeat(digest, len(names))
                self._contents[digest] = table(DiskReplicas, replicas_digest=of, topic=names, partitions=lists)
        return digest

    def large(self, digests: Iterable[str]) -> pa.Table:
        """Return the contents with these digests, each once."""
        return pa.concat_tables([empty(DiskReplicas), *(self._contents[digest] for digest in sorted({*digests}))])
