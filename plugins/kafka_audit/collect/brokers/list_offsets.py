"""ListOffsets on the wire: partitions are packed and read in rows of fixed size, for leaders are many and errors are few.

Versions 1 to 5, which every release speaks from 0.10.1 to 4.x; later ones differ in what is not asked here. Source:
`ListOffsetsRequest.json` and `ListOffsetsResponse.json` of Kafka.
"""

import struct
from typing import Any

import numpy as np
import numpy.typing as npt
from kafka.protocol.consumer import ListOffsetsRequest, ListOffsetsResponse

from kafka_audit.collect.brokers.leader_questions import LeaderQuestions
from kafka_audit.collect.connections.protocol_types import Cursor, WireError
from kafka_audit.collect.connections.raw_requests import RawRequest
from kafka_audit.collect.rows.columns import NONE, Ints

LOWEST, HIGHEST = 1, 5
API_KEY = ListOffsetsRequest.API_KEY

_WITH_THROTTLE, _WITH_EPOCH = 2, 4
_EARLIEST, _ANYBODY, _NO_EPOCH = -2, -1, -1
_COUNT = struct.Struct("!i")
_ASKED = {
    False: np.dtype([("partition", ">i4"), ("timestamp", ">i8")]),
    True: np.dtype([("partition", ">i4"), ("epoch", ">i4"), ("timestamp", ">i8")]),
}
_ANSWERED = {  # partition, error, timestamp and offset [and epoch]
    False: np.dtype([("partition", ">i4"), ("error", ">i2"), ("rest", "V16")]),
    True: np.dtype([("partition", ">i4"), ("error", ">i2"), ("rest", "V20")]),
}

NO_ANSWER = 2**15
"""Stands for the error code of a partition that an answer does not name."""


class _ListOffsetsRequest:
    """Has what `RawRequest` uses of a request of kafka-python's."""

    def __init__(self, version: int, packed: bytes) -> None:
        self._empty = ListOffsetsRequest(version=version, replica_id=_ANYBODY, isolation_level=0, topics=[])
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


def list_offsets_request(page: LeaderQuestions, version: int) -> RawRequest:
    """Return a request for the earliest offsets, whose answer is `errors`' to read."""
    with_epoch = version >= _WITH_EPOCH
    rows = np.empty(len(page), _ASKED[with_epoch])
    rows["partition"], rows["timestamp"] = page.partition, _EARLIEST
    if with_epoch:
        # Of a leader the epoch shows who is behind; who does not lead would answer the epoch before the dead disk.
        rows["epoch"] = np.where(page.as_leader & (page.leader_epoch != NONE), page.leader_epoch, _NO_EPOCH)
    runs = [*page.runs()]
    parts = [_COUNT.pack(len(runs))]
    for topic, start, end in runs:
        name = topic.encode()
        parts += [struct.pack("!h", len(name)), name, _COUNT.pack(end - start), rows[start:end].tobytes()]
    return RawRequest(_ListOffsetsRequest(version, b"".join(parts)), ListOffsetsResponse, API_KEY, version)


def errors(body: bytes, version: int, page: LeaderQuestions) -> Ints:
    """Return the error code of each partition of a page, `NO_ANSWER` where the answer does not name it.

    Raises:
        WireError: the body is no answer of that version, or names a partition twice.
    """
    answered = _answered(body, version)
    found = np.full(len(page), NO_ANSWER)
    for topic, start, end in page.runs():
        if topic in answered:
            rows, wanted = answered[topic], page.partition[start:end]
            at = np.minimum(np.searchsorted(rows["partition"], wanted), len(rows) - 1)
            found[start:end] = np.where(rows["partition"][at] == wanted, rows["error"].astype(np.int64)[at], NO_ANSWER)
    return found


def _answered(body: bytes, version: int) -> dict[str, npt.NDArray[np.void]]:
    """Return the rows of each topic that has any, in the order of partitions."""
    row = _ANSWERED[version >= _WITH_EPOCH]
    cursor = Cursor(body, flexible=False)
    found: dict[str, npt.NDArray[np.void]] = {}
    try:
        if version >= _WITH_THROTTLE:
            cursor.int32()
        for _ in range(cursor.length()):
            topic = cursor.name()
            rows = np.frombuffer(cursor.take(cursor.length() * row.itemsize), row)
            if topic in found:
                rows = np.concatenate((found[topic], rows))
            rows = rows[np.argsort(rows["partition"], kind="stable")]
            if (rows["partition"][1:] == rows["partition"][:-1]).any():
                msg = f"a partition of {topic} appears twice"
                raise WireError(msg)
            if len(rows):
                found[topic] = rows
    except (struct.error, IndexError, UnicodeDecodeError) as error:
        raise WireError(str(error)) from error
    return found
