"""Kafka's Metadata response, versions 1 to 13, cut into topics before anything is decoded.

A full decoding costs kafka-python 0.29 s per 50,000 partitions, and the answers of a hundred brokers are nearly all equal. So a
body is only walked to find where its topics begin and end; a topic's bytes are decoded once, whoever sent them.
"""

import base64
import struct
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from kafka_audit.collect.cursor import Cursor, WireError

VERSIONS = (1, 13)
_CLUSTER_ID, _THROTTLE, _OFFLINE, _EPOCH, _TOPIC_OPS, _FLEXIBLE, _TOPIC_ID, _TOP_ERROR = 2, 3, 5, 7, 8, 9, 10, 13
_CLUSTER_OPS = (8, 10)
_MOST_NAME = 255  # characters; Kafka's own bound for topics is 249, an id of a cluster has 22
_int32 = struct.Struct("!i").unpack_from

MOST = 2**31
"""As many as the wire can count."""

ROW_BYTES = 64
"""Bytes that count as a row at least: a partition with five replicas takes 58."""

_CHECK_EACH = 1000

Check = Callable[[int], None]


def _anyhow(_count: int) -> None:
    return


class MetadataError(WireError):
    """The bytes are no Metadata response of that version."""


class ListedBroker(NamedTuple):
    """A broker of the answer."""

    broker_id: int
    host: str
    port: int
    rack: str | None


class Partition(NamedTuple):
    """A partition of the answer, in an order of columns that sorts by number; isr and offline are sorted."""

    partition: int
    error: int
    leader: int
    leader_epoch: int | None
    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    offline_replicas: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic of the answer; `topic_id` as ZooKeeper has it (base64), None where the version or the broker has none."""

    name: str
    topic_id: str | None
    error: int
    partitions: tuple[Partition, ...]


@dataclass(frozen=True, slots=True)
class Answer:
    """A Metadata response whose topics are still bytes."""

    version: int
    error: int
    brokers: tuple[ListedBroker, ...]
    cluster_id: str | None
    controller_id: int
    topics: tuple[bytes, ...]


class _Cursor(Cursor):
    """Knows the version that it reads."""

    def __init__(self, data: bytes, version: int) -> None:
        super().__init__(data, flexible=version >= _FLEXIBLE)
        self.version = version


def read_answer(
    body: bytes, version: int, known: dict[str, bytes] | None = None, *, most_brokers: int = MOST, check: Check = _anyhow
) -> Answer:
    """Walk through a response body (after its header); raises MetadataError, and what `check` raises.

    Args:
        body: the response.
        version: its version.
        known: bytes of topics of the same version, by name; where they come again they are passed over in one step (a topic's
            bytes tell their own end, so they are the whole topic). The topics of this answer are added once all is well.
        most_brokers: how many brokers an answer may list.
        check: is called with the number of topics before they are walked through, and with 0 every thousand of them.
    """
    fresh: dict[str, bytes] = {}
    try:
        answer = _answer(_Cursor(body, version), known or {}, fresh, most_brokers, check)
    except (WireError, struct.error, IndexError, UnicodeDecodeError, MemoryError) as error:
        msg = f"no Metadata answer of version {version}: {error}"
        raise MetadataError(msg) from error
    if known is not None:
        known.update(fresh)
    return answer


def weight(data: bytes, version: int) -> int:
    """Return as how many rows a topic counts, before it is decoded: its partitions, more where their lists are long.

    Raises:
        MetadataError: the bytes are no topic.
    """
    cursor = _Cursor(data, version)
    try:
        _topic_head(cursor)
        return max(1 + cursor.length(), len(data) // ROW_BYTES)
    except (WireError, struct.error, IndexError, UnicodeDecodeError) as error:
        msg = f"no topic of Metadata version {version}: {error}"
        raise MetadataError(msg) from error


def read_topic(data: bytes, version: int) -> Topic:
    """Decode one of `Answer.topics`; raises MetadataError."""
    try:
        return _topic(_Cursor(data, version))
    except (WireError, struct.error, IndexError, UnicodeDecodeError, MemoryError) as error:
        msg = f"no topic of Metadata version {version}: {error}"
        raise MetadataError(msg) from error


def _answer(cursor: _Cursor, known: dict[str, bytes], fresh: dict[str, bytes], most_brokers: int, check: Check) -> Answer:
    version = cursor.version
    if version >= _THROTTLE:
        cursor.int32()
    brokers = tuple(_brokers(cursor, most_brokers))
    _demand_distinct([one.broker_id for one in brokers], "broker")
    cluster_id = cursor.text() if version >= _CLUSTER_ID else None
    if cluster_id is not None and len(cluster_id) > _MOST_NAME:
        msg = f"a cluster id of {len(cluster_id)} characters"
        raise WireError(msg)
    controller_id = cursor.int32()
    topics = []
    count = cursor.length()
    check(count)
    for number in range(count):
        if number % _CHECK_EACH == 0:
            check(0)
        topics.append(_topic_bytes(cursor, known, fresh))
    if _CLUSTER_OPS[0] <= version <= _CLUSTER_OPS[1]:
        cursor.int32()
    error = cursor.int16() if version >= _TOP_ERROR else 0
    cursor.tags()
    return Answer(version, error, brokers, cluster_id, controller_id, tuple(topics))


def _demand_distinct(numbers: list[int], what: str) -> None:
    """Raise WireError where an id is below zero, or there twice: nobody can tell which of them holds."""
    if numbers and min(numbers) < 0:
        msg = f"{what} {min(numbers)} is listed"
        raise WireError(msg)
    if len(set(numbers)) != len(numbers):
        twice = next(one for one, count in Counter(numbers).items() if count > 1)
        msg = f"{what} {twice} is listed twice"
        raise WireError(msg)


def _brokers(cursor: _Cursor, most: int) -> Iterator[ListedBroker]:
    count = cursor.length()
    if count > most:
        msg = f"it lists {count} brokers, more than {most}"
        raise WireError(msg)
    for _ in range(count):
        broker, host, port, rack = cursor.int32(), cursor.name(), cursor.int32(), cursor.text()
        cursor.tags()
        yield ListedBroker(broker, host, port, rack)


def _topic_head(cursor: _Cursor) -> tuple[int, str, bytes]:
    error, name = cursor.int16(), cursor.name()
    if len(name) > _MOST_NAME:
        msg = f"a topic's name of {len(name)} characters"
        raise WireError(msg)
    topic_id = cursor.take(16) if cursor.version >= _TOPIC_ID else b""
    cursor.at += 1  # is_internal
    return error, name, topic_id


def _topic_bytes(cursor: _Cursor, known: dict[str, bytes], fresh: dict[str, bytes]) -> bytes:
    start = cursor.at
    _, name, _ = _topic_head(cursor)
    same = known.get(name)
    if same is not None and cursor.data.startswith(same, start):
        cursor.at = start + len(same)
        return same
    _skip_partitions(cursor)
    fresh[name] = cursor.data[start : cursor.at]
    return fresh[name]


def _skip_partitions(cursor: _Cursor) -> None:
    count = cursor.length()
    fixed = 14 if cursor.version >= _EPOCH else 10
    arrays = 3 if cursor.version >= _OFFLINE else 2
    (_skip_compact if cursor.flexible else _skip_plain)(cursor, count, fixed, arrays)
    if cursor.version >= _TOPIC_OPS:
        cursor.int32()
    cursor.tags()
    if cursor.at > len(cursor.data):
        msg = "the answer ends early"
        raise WireError(msg)


def _skip_compact(cursor: _Cursor, count: int, fixed: int, arrays: int) -> None:
    """Pass over partitions of versions 9 on: the hot loop, so without calls where lengths are one byte, which they are."""
    data, at = cursor.data, cursor.at
    for _ in range(count):
        at += fixed
        for _ in range(arrays):
            size = data[at]
            if size < 0x80:  # noqa: PLR2004 -- the continuation bit
                at += 1 + 4 * size - (4 if size else 0)
            else:
                cursor.at = at
                size = cursor.length()
                at = cursor.at + 4 * size
        if data[at]:
            cursor.at = at
            cursor.tags()
            at = cursor.at
        else:
            at += 1
    cursor.at = at


def _skip_plain(cursor: _Cursor, count: int, fixed: int, arrays: int) -> None:
    data, at = cursor.data, cursor.at
    for _ in range(count):
        at += fixed
        for _ in range(arrays):
            (size,) = _int32(data, at)
            at += 4 + 4 * max(0, size)
    cursor.at = at


def _topic(cursor: _Cursor) -> Topic:
    error, name, raw_id = _topic_head(cursor)
    partitions = tuple(sorted([_partition(cursor) for _ in range(cursor.length())], key=lambda one: one.partition))
    _demand_distinct([one.partition for one in partitions], f"partition of {name}:")
    topic_id = base64.urlsafe_b64encode(raw_id).decode().rstrip("=") if any(raw_id) else None
    return Topic(name, topic_id, error, partitions)


def _partition(cursor: _Cursor) -> Partition:
    error, number, leader = cursor.int16(), cursor.int32(), cursor.int32()
    epoch = cursor.int32() if cursor.version >= _EPOCH else -1
    replicas, isr = cursor.ints(), cursor.ints()
    offline = cursor.ints() if cursor.version >= _OFFLINE else ()
    cursor.tags()
    return Partition(number, error, leader, None if epoch < 0 else epoch, replicas, tuple(sorted(isr)), tuple(sorted(offline)))
