"""ListOffsets on the wire: partitions are packed and read in rows of fixed size, for leaders are many and errors are few.

Versions 1 to 5, which every release from 0.10.1 to 4.x supports; later versions differ only in fields that are not used here.
Source: `ListOffsetsRequest.json` and `ListOffsetsResponse.json` of Kafka.
"""

import struct
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from kafka.protocol.consumer import ListOffsetsRequest, ListOffsetsResponse

from kafka_audit.clients.protocol.primitive_types import Cursor, WireError
from kafka_audit.clients.protocol.raw_requests import RawRequest
from kafka_audit.collect.brokers.leader_questions import LeaderQuestions
from kafka_audit.collect.rows.columns import NONE, Ints

LOWEST, HIGHEST = 1, 5
API_KEY = ListOffsetsRequest.API_KEY

_WITH_THROTTLE, _WITH_EPOCH = 2, 4
EARLIEST, LATEST = -2, -1
"""What is asked for in place of a timestamp in milliseconds."""

COMMITTED_FROM = 2
"""Version from which the offset that read_committed consumers stop at can be asked for."""

_ANYBODY, _NO_EPOCH = -1, -1
_COUNT = struct.Struct("!i")
_ASKED = {
    False: np.dtype([("partition", ">i4"), ("timestamp", ">i8")]),
    True: np.dtype([("partition", ">i4"), ("epoch", ">i4"), ("timestamp", ">i8")]),
}
_FOUND = [("partition", ">i4"), ("error", ">i2"), ("timestamp", ">i8"), ("offset", ">i8")]
_ANSWERED = {False: np.dtype(_FOUND), True: np.dtype([*_FOUND, ("epoch", ">i4")])}

_NAME_BYTES = 2  # before a name: its length
_SHIFT = 32  # a partition's number is Java's int
Bytes: TypeAlias = npt.NDArray[np.uint8]

NO_ANSWER = 2**15
"""The error code of a partition that is missing in an answer."""


class _ListOffsetsRequest:
    """Has what `RawRequest` uses of a request of kafka-python's."""

    def __init__(self, version: int, packed: bytes, *, committed: bool) -> None:
        self._empty = ListOffsetsRequest(version=version, replica_id=_ANYBODY, isolation_level=int(committed), topics=[])
        self._packed = packed

    def with_header(self, correlation_id: int, client_id: str) -> None:
        """Pass on."""
        self._empty.with_header(correlation_id=correlation_id, client_id=client_id)

    def encode(self, *, framed: bool, header: bool) -> bytes:
        """Return the request with our topics in the place of none."""
        body = bytes(self._empty.encode(framed=False, header=header))[: -_COUNT.size] + self._packed
        return _COUNT.pack(len(body)) + body if framed else body

    @property
    def header(self) -> Any:  # noqa: ANN401 -- kafka-python's messages are untyped
        """Pass on."""
        return self._empty.header


def list_offsets_request(
    page: LeaderQuestions, version: int, timestamp: int = EARLIEST, *, committed: bool = False
) -> RawRequest:
    """Return a request for the offsets of a timestamp, whose answer is `offsets`' or `errors`' to read.

    Args:
        page: the partitions.
        version: of the request.
        timestamp: in milliseconds, or `EARLIEST` or `LATEST`.
        committed: ask as read_committed consumers do: `LATEST` is the last stable offset then.
    """
    with_epoch = version >= _WITH_EPOCH
    rows = np.empty(len(page), _ASKED[with_epoch])
    rows["partition"], rows["timestamp"] = page.partition, timestamp
    if with_epoch:
        # Of a leader the epoch shows who is behind; who does not lead would answer the epoch before the dead disk.
        rows["epoch"] = np.where(page.as_leader & (page.leader_epoch != NONE), page.leader_epoch, _NO_EPOCH)
    packed, at = _topics(page, rows.itemsize)
    packed[_each(at, rows.itemsize)] = _bytes_of(rows)
    return RawRequest(_ListOffsetsRequest(version, packed.tobytes(), committed=committed), ListOffsetsResponse, API_KEY, version)


def _topics(page: LeaderQuestions, row_bytes: int) -> tuple[Bytes, Ints]:
    """Return the topics of a page as both requests and responses have them, with rows of zeros, and where each row begins."""
    begins = np.flatnonzero(np.diff(page.topic, prepend=-1))
    counts = np.diff(begins, append=len(page))
    names = [page.topics[place].encode() for place in page.topic[begins].tolist()]
    sizes = np.array([*map(len, names)], np.int64)
    ends = _COUNT.size + np.cumsum(_NAME_BYTES + sizes + _COUNT.size + counts * row_bytes)
    at_rows = ends - counts * row_bytes
    at_names = at_rows - _COUNT.size - sizes
    found = np.zeros(ends[-1] if len(ends) else _COUNT.size, np.uint8)
    found[: _COUNT.size] = np.frombuffer(_COUNT.pack(len(names)), np.uint8)
    found[_each(at_names - _NAME_BYTES, _NAME_BYTES)] = _bytes_of(sizes.astype(">i2"))
    found[_runs(at_names, sizes)] = np.frombuffer(b"".join(names), np.uint8)
    found[_each(at_names + sizes, _COUNT.size)] = _bytes_of(counts.astype(">i4"))
    return found, _runs(at_rows, counts, row_bytes)


def _each(at: Ints, size: int) -> Ints:
    """Return the places of so many bytes from each place on, a line each."""
    found: Ints = at[:, None] + np.arange(size)
    return found


def _runs(at: Ints, lengths: Ints, step: int = 1) -> Ints:
    """Return so many places from each place on, one after the other."""
    first = np.cumsum(lengths) - lengths
    found: Ints = np.repeat(at - step * first, lengths) + step * np.arange(lengths.sum())
    return found


def _bytes_of(values: npt.NDArray[Any]) -> Bytes:
    """Return the bytes of each value, a line each."""
    return values.view(np.uint8).reshape(len(values), values.itemsize)


def errors(body: bytes, version: int, page: LeaderQuestions) -> Ints:
    """Return the error code of each partition of a page, `NO_ANSWER` where the answer does not name it.

    Raises:
        WireError: the body is no answer of that version, or names a partition twice.
    """
    return offsets(body, version, page)[0]


def offsets(body: bytes, version: int, page: LeaderQuestions) -> tuple[Ints, Ints]:
    """Return the error code and the offset of each partition of a page, -1 for an offset that there is not.

    Raises:
        WireError: the body is no answer of that version, or names a partition twice.
    """
    found = _in_order(body, version, page)
    return _in_any_order(body, version, page) if found is None else found


def _in_order(body: bytes, version: int, page: LeaderQuestions) -> tuple[Ints, Ints] | None:
    """Return both where the answer has all partitions in the order of the request, as that of a newer broker; else None."""
    row = _ANSWERED[version >= _WITH_EPOCH]
    expected, at = _topics(page, row.itemsize)
    start = _COUNT.size if version >= _WITH_THROTTLE else 0
    if len(body) < start + len(expected) or not ((np.diff(page.topic) > 0) | (np.diff(page.partition) > 0)).all():
        return None
    answer = np.frombuffer(body, np.uint8)[start : start + len(expected)].copy()
    places = _each(at, row.itemsize)
    rows = answer[places].view(row).ravel()
    answer[places] = 0
    same = (rows["partition"] == page.partition).all() and (answer == expected).all()
    return (rows["error"].astype(np.int64), rows["offset"].astype(np.int64)) if same else None


def _in_any_order(body: bytes, version: int, page: LeaderQuestions) -> tuple[Ints, Ints]:
    """Return what `offsets` does."""
    row = _ANSWERED[version >= _WITH_EPOCH]
    cursor = Cursor(body, flexible=False)
    numbers: dict[str, int] = {}
    of, counts, starts = [], [], []
    try:
        if version >= _WITH_THROTTLE:
            cursor.int32()
        for _ in range(cursor.length()):
            of.append(numbers.setdefault(cursor.name(), len(numbers)))
            counts.append(cursor.length())
            starts.append(cursor.at)
            cursor.skip(counts[-1] * row.itemsize)
    except (struct.error, IndexError, UnicodeDecodeError) as error:
        raise WireError(str(error)) from error
    lengths = np.array(counts, np.int64)
    at = _runs(np.array(starts, np.int64), lengths, row.itemsize)
    rows = np.frombuffer(body, np.uint8)[_each(at, row.itemsize)].view(row).ravel()
    keys = _keys(np.repeat(np.array(of, np.int64), lengths), rows["partition"])
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    for place in np.flatnonzero(np.diff(keys) == 0)[:1].tolist():
        msg = f"a partition of {[*numbers][keys[place] >> _SHIFT]} appears twice"
        raise WireError(msg)
    codes, found = np.full(len(page), NO_ANSWER), np.full(len(page), -1)
    if len(keys):
        topics, topic = np.unique(page.topic, return_inverse=True)
        named = np.array([numbers.get(page.topics[topic], -1) for topic in topics.tolist()], np.int64)
        requested = _keys(named[topic], page.partition)
        near = np.minimum(np.searchsorted(keys, requested), len(keys) - 1)
        there = keys[near] == requested
        codes[there] = rows["error"][order[near[there]]]
        found[there] = rows["offset"][order[near[there]]]
    return codes, found


def _keys(topic: Ints, partition: Ints) -> Ints:
    """Return a number for each partition of a topic; a hostile answer may name one below zero."""
    return topic << _SHIFT | partition.astype(np.int64) & (1 << _SHIFT) - 1
