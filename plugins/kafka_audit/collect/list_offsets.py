"""ListOffsets on the wire: partitions are packed and read in rows of fixed size, for leaders are many and errors are few.

Versions 1 to 5, which every release speaks from 0.10.1 to 4.x; later ones differ in what is not asked here. Source:
`ListOffsetsRequest.json` and `ListOffsetsResponse.json` of Kafka.
"""

import struct
from collections.abc import Mapping, Sequence
from typing import Any

from kafka.protocol.consumer import ListOffsetsRequest, ListOffsetsResponse

from kafka_audit.collect.cursor import Cursor, WireError
from kafka_audit.collect.raw import RawRequest

LOWEST, HIGHEST = 1, 5
API_KEY = ListOffsetsRequest.API_KEY

_WITH_THROTTLE, _WITH_EPOCH = 2, 4
_EARLIEST, _ANYBODY = -2, -1
_COUNT = struct.Struct("!i")
_ASKED = {False: struct.Struct("!iq"), True: struct.Struct("!iiq")}  # partition, [current leader epoch,] timestamp
_TOLD = {False: struct.Struct("!ih16x"), True: struct.Struct("!ih20x")}  # partition, error, timestamp and offset [and epoch]

Asked = Mapping[str, Sequence[tuple[int, int]]]
"""Partitions by topic, each with the leader epoch to be asked for, -1 for none."""


class _Request:
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


def request(asked: Asked, version: int) -> RawRequest:
    """Return a request for the earliest offsets, whose answer is `errors`' to read."""
    with_epoch = version >= _WITH_EPOCH
    row = _ASKED[with_epoch]
    parts = [_COUNT.pack(len(asked))]
    for topic, partitions in asked.items():
        name = topic.encode()
        parts += [struct.pack("!h", len(name)), name, _COUNT.pack(len(partitions))]
        if with_epoch:
            parts += [row.pack(number, epoch, _EARLIEST) for number, epoch in partitions]
        else:
            parts += [row.pack(number, _EARLIEST) for number, _ in partitions]
    return RawRequest(_Request(version, b"".join(parts)), ListOffsetsResponse, API_KEY, version)


def errors(body: bytes, version: int) -> dict[tuple[str, int], int]:
    """Return the error code of each partition, by topic and partition.

    Raises:
        WireError: the body is no answer of that version.
    """
    row = _TOLD[version >= _WITH_EPOCH]
    cursor = Cursor(body, flexible=False)
    found: dict[tuple[str, int], int] = {}
    try:
        if version >= _WITH_THROTTLE:
            cursor.int32()
        for _ in range(cursor.length()):
            topic = cursor.name()
            rows = cursor.take(cursor.length() * row.size)
            before = len(found)
            found.update(((topic, number), code) for number, code in row.iter_unpack(rows))
            if len(found) - before != len(rows) // row.size:
                msg = f"a partition of {topic} is told twice"
                raise WireError(msg)
    except (struct.error, IndexError, UnicodeDecodeError) as error:
        raise WireError(str(error)) from error
    return found
