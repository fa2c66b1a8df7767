"""Kafka's Metadata response, versions 1 to 13, cut into topics before anything is decoded.

A full decoding costs kafka-python 0.29 s per 50,000 partitions, and the answers of a hundred brokers are nearly all equal. So a
body is only searched for where its topics begin and end; a topic's bytes are decoded once, whichever broker sent them, many
topics at a time, and into columns.
"""

import base64
import struct
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from kafka_audit.clients.protocol.primitive_types import Cursor, WireError
from kafka_audit.collect.priorities import MOST_REPLICAS
from kafka_audit.collect.rows.columns import NONE, Ints, Lists
from kafka_audit.collect.rows.topic_digests import topic_digests
from kafka_audit.model.names import NameKind, RefusedNames, can_be_name

VERSIONS = (1, 13)
_CLUSTER_ID, _THROTTLE, _OFFLINE, _EPOCH, _TOPIC_OPS, _FLEXIBLE, _TOPIC_ID, _TOP_ERROR = 2, 3, 5, 7, 8, 9, 10, 13
_CLUSTER_OPS = (8, 10)
_MOST_NAME = 255  # characters of a cluster's id, which has 22
_int32 = struct.Struct("!i").unpack_from

MOST = 2**31
"""As many as the wire can count."""

ROW_BYTES = 64
"""Bytes that count as a row at least: a partition with five replicas takes 58."""

_CHECK_EACH = 1000

Check = Callable[[int], None]
Known = Mapping[bytes, Sequence[tuple[bytes, int]]]
"""Topics whose bytes were seen before, each with its number, by `head`: the same content comes in several orders."""

NEW = -1
"""The number of a new topic."""


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


@dataclass(frozen=True, kw_only=True)
class ListedTopics:
    """Topics of an answer: each has a place in the lists, and its partitions, sorted by number, in the columns.

    Attributes:
        names: of the topics.
        topic_ids: as ZooKeeper has them (base64), None where the version or the broker has none.
        errors: of the topics.
        digests: 32 hex digits, equal for topics of equal name and partitions, whatever order they came in.
        bounds: the partitions of topic i are those from `bounds[i]` to before `bounds[i + 1]`.
        leader_epoch: `NONE` where it is not known.
        isr: sorted, as is `offline_replicas`.
        longest: by topic with a list of more than `MOST_REPLICAS`, how many the longest has; of each list the first are kept.
    """

    names: list[str]
    topic_ids: list[str | None]
    errors: list[int]
    digests: list[str]
    bounds: Ints
    partition: Ints
    error: Ints
    leader: Ints
    leader_epoch: Ints
    replicas: Lists
    isr: Lists
    offline_replicas: Lists
    longest: Mapping[int, int]


@dataclass(frozen=True, slots=True)
class MetadataAnswer:
    """A Metadata response whose topics are still bytes.

    Attributes:
        version: of the response.
        error: its error code.
        brokers: in its order.
        cluster_id: None where the version or the broker has none.
        controller_id: -1 where the broker knows none.
        numbers: of the topics that are known, `NEW` for others, in its order.
        topics: those others.
        refused: what of its brokers no cluster has; such a broker is not in `brokers`.
        nowhere: the ids of those brokers.
    """

    version: int
    error: int
    brokers: tuple[ListedBroker, ...]
    cluster_id: str | None
    controller_id: int
    numbers: Sequence[int]
    topics: Sequence[bytes]
    refused: RefusedNames = field(compare=False)
    nowhere: Sequence[int] = ()


class _TopicCursor(Cursor):
    """Knows the version that it reads."""

    def __init__(self, data: bytes, version: int) -> None:
        super().__init__(data, flexible=version >= _FLEXIBLE)
        self.version = version


def decode_metadata_answer(
    body: bytes, version: int, known: Known | None = None, *, most_brokers: int = MOST, check: Check = _anyhow
) -> MetadataAnswer:
    """Decode a response body (after its header); raises MetadataError, and what `check` raises.

    Args:
        body: the response.
        version: its version.
        known: bytes of topics of the same version, by `head`; where they come again they are passed over in one step (a topic's
            bytes have a known end, so they are the whole topic).
        most_brokers: how many brokers an answer may list.
        check: is called with the number of topics before they are decoded, and with 0 every thousand of them.
    """
    try:
        return _answer(_TopicCursor(body, version), known or {}, most_brokers, check)
    except (WireError, struct.error, IndexError, UnicodeDecodeError, MemoryError) as error:
        msg = f"no Metadata answer of version {version}: {error}"
        raise MetadataError(msg) from error


def weight(data: bytes, version: int) -> int:
    """Return as how many rows a topic counts, before it is decoded: its partitions, more where their lists are long.

    Raises:
        MetadataError: the bytes are no topic.
    """
    cursor = _TopicCursor(data, version)
    try:
        _topic_head(cursor)
        return max(1 + cursor.length(), len(data) // ROW_BYTES)
    except (WireError, struct.error, IndexError, UnicodeDecodeError) as error:
        msg = f"no topic of Metadata version {version}: {error}"
        raise MetadataError(msg) from error


def head(data: bytes, version: int) -> bytes:
    """Return how the bytes of a topic begin, up to its name; raises what `read_topics` makes of bytes that are no topic."""
    cursor = _TopicCursor(data, version)
    cursor.int16()
    cursor.name()
    return data[: cursor.at]


def read_topics(pieces: Sequence[bytes], version: int) -> ListedTopics:
    """Decode some of `MetadataAnswer.topics`; raises MetadataError."""
    try:
        return _topics(_TopicCursor(b"".join(pieces), version), [*map(len, pieces)])
    except (WireError, struct.error, IndexError, UnicodeDecodeError, MemoryError) as error:
        msg = f"no topic of Metadata version {version}: {error}"
        raise MetadataError(msg) from error


def _answer(cursor: _TopicCursor, known: Known, most_brokers: int, check: Check) -> MetadataAnswer:
    version = cursor.version
    if version >= _THROTTLE:
        cursor.int32()
    refused = RefusedNames()
    nowhere: list[int] = []
    brokers = tuple(_brokers(cursor, most_brokers, refused, nowhere))
    _demand_distinct([listed_broker.broker_id for listed_broker in brokers], "broker")
    cluster_id = cursor.text() if version >= _CLUSTER_ID else None
    if cluster_id is not None and len(cluster_id) > _MOST_NAME:
        msg = f"a cluster id of {len(cluster_id)} characters"
        raise WireError(msg)
    controller_id = cursor.int32()
    count = cursor.length()
    check(count)
    numbers, topics = _topic_bytes(cursor, count, known, check)
    if _CLUSTER_OPS[0] <= version <= _CLUSTER_OPS[1]:
        cursor.int32()
    error = cursor.int16() if version >= _TOP_ERROR else 0
    cursor.tags()
    return MetadataAnswer(version, error, brokers, cluster_id, controller_id, numbers, topics, refused, nowhere)


def _demand_distinct(numbers: list[int], what: str) -> None:
    """Raise WireError where an id is below zero, or a duplicate: which one is valid is unknown."""
    if numbers and min(numbers) < 0:
        msg = f"{what} {min(numbers)} is listed"
        raise WireError(msg)
    if len(set(numbers)) != len(numbers):
        twice = next(number for number, count in Counter(numbers).items() if count > 1)
        msg = f"{what} {twice} is listed twice"
        raise WireError(msg)


def _brokers(cursor: _TopicCursor, most: int, refused: RefusedNames, nowhere: list[int]) -> Iterator[ListedBroker]:
    count = cursor.length()
    if count > most:
        msg = f"it lists {count} brokers, more than {most}"
        raise WireError(msg)
    for _ in range(count):
        broker, host, port, rack = cursor.int32(), cursor.name(), cursor.int32(), cursor.text()
        cursor.tags()
        if rack is not None and not can_be_name(NameKind.RACK, rack):
            refused.add(NameKind.RACK.value, rack)
            rack = None
        if refused.address(host, port):
            nowhere.append(broker)
        else:
            yield ListedBroker(broker, host.removeprefix("[").removesuffix("]"), port, rack)


def _topic_head(cursor: _TopicCursor) -> tuple[int, str, bytes]:
    error, name = cursor.int16(), cursor.name()
    topic_id = cursor.take(16) if cursor.version >= _TOPIC_ID else b""
    cursor.at += 1  # is_internal
    return error, name, topic_id


def _topic_bytes(cursor: _TopicCursor, count: int, known: Known, check: Check) -> tuple[list[int], list[bytes]]:
    """Pass over the topics; return the numbers of all, and the bytes of those that are new."""
    numbers: list[int] = []
    new: list[bytes] = []
    data, start, find, startswith = cursor.data, cursor.at, known.get, cursor.data.startswith
    # A name shorter than 127 bytes has a length of one byte, or of two before version 9; any other is not found here.
    before, less = (3, 1) if cursor.flexible else (4, 0)
    for number in range(count):
        if number % _CHECK_EACH == 0:
            check(0)
        name_at = start + before
        for same, place in find(data[start : name_at + data[name_at - 1] - less], ()):
            if startswith(same, start):
                start += len(same)
                numbers.append(place)
                break
        else:
            cursor.at = start
            _topic_head(cursor)
            _skip_partitions(cursor)
            new.append(data[start : cursor.at])
            numbers.append(NEW)
            start = cursor.at
    cursor.at = start
    return numbers, new


def _skip_partitions(cursor: _TopicCursor, starts: list[int] | None = None) -> int:
    """Pass over the partitions of a topic, note where each begins, and return how many there are."""
    count = cursor.length()
    fixed = 14 if cursor.version >= _EPOCH else 10
    arrays = 3 if cursor.version >= _OFFLINE else 2
    (_skip_compact if cursor.flexible else _skip_plain)(cursor, count, fixed, arrays, starts)
    if cursor.version >= _TOPIC_OPS:
        cursor.int32()
    cursor.tags()
    if cursor.at > len(cursor.data):
        msg = "the answer ends early"
        raise WireError(msg)
    return count


def _skip_compact(cursor: _TopicCursor, count: int, fixed: int, arrays: int, starts: list[int] | None) -> None:
    """Pass over partitions of versions 9 on: the hot loop, so without calls where lengths are one byte, which they are."""
    data, at = cursor.data, cursor.at
    common = _common_size(data, at, count, fixed, arrays) if count > 1 else 0
    if common:
        cursor.at = at + common * count
        if starts is not None:
            starts.extend(range(at, cursor.at, common))
        return
    for _ in range(count):
        if starts is not None:
            starts.append(at)
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


def _common_size(data: bytes, begin: int, count: int, fixed: int, arrays: int) -> int:
    """Return how many bytes each of so many partitions takes; 0 where their arrays differ in length, or one has tags."""
    at, bytes_of_lengths = begin + fixed, []
    for _ in range(arrays):
        length = data[at]
        if length >= 0x80:  # noqa: PLR2004 -- the continuation bit
            return 0
        bytes_of_lengths.append((at, length))
        at += 1 + 4 * length - (4 if length else 0)
    size = at + 1 - begin
    end = begin + size * count
    return size if all(data[place:end:size].count(byte) == count for place, byte in (*bytes_of_lengths, (at, 0))) else 0


def _skip_plain(cursor: _TopicCursor, count: int, fixed: int, arrays: int, starts: list[int] | None) -> None:
    data, at = cursor.data, cursor.at
    for _ in range(count):
        if starts is not None:
            starts.append(at)
        at += fixed
        for _ in range(arrays):
            (size,) = _int32(data, at)
            at += 4 + 4 * max(0, size)
    cursor.at = at


def _topics(cursor: _TopicCursor, sizes: Sequence[int]) -> ListedTopics:
    names: list[str] = []
    raw_ids: list[bytes] = []
    errors: list[int] = []
    counts: list[int] = []
    starts: list[int] = []
    end = 0
    for size in sizes:
        end += size
        error, name, raw_id = _topic_head(cursor)
        counts.append(_skip_partitions(cursor, starts))
        names.append(name)
        raw_ids.append(raw_id)
        errors.append(error)
        if cursor.at != end:
            msg = "a topic ends elsewhere"
            raise WireError(msg)
    bounds = np.concatenate(([0], np.cumsum(counts, dtype=np.int64)))
    topic = np.repeat(np.arange(len(names)), counts)
    buffer, at = np.frombuffer(cursor.data, np.uint8), np.array(starts, np.int64)
    number, epoch = _int32s(buffer, at + 2), np.full(len(at), NONE)
    order = np.lexsort((number, topic))
    number, at = number[order], at[order]
    _demand_partitions(names, topic, number)
    if cursor.version >= _EPOCH:
        epoch = _int32s(buffer, at + 10)
        epoch[epoch < 0] = NONE
    replicas, after, longest = _lists(cursor, buffer, at + (14 if cursor.version >= _EPOCH else 10))
    isr, after, longest_isr = _lists(cursor, buffer, after)
    offline, _, longest_offline = (
        _lists(cursor, buffer, after)
        if cursor.version >= _OFFLINE
        else (Lists.of_lengths(np.zeros(len(at), np.int64), np.empty(0, np.int64)), after, np.zeros(len(at), np.int64))
    )
    longest = np.maximum(longest, np.maximum(longest_isr, longest_offline))
    cut = np.flatnonzero(longest > MOST_REPLICAS)
    by_topic = np.zeros(len(names), np.int64)
    np.maximum.at(by_topic, topic[cut], longest[cut])
    errors_of = _int32s(buffer, at - 2).astype(np.int16).astype(np.int64)
    columns = (number, errors_of, _int32s(buffer, at + 6), epoch)
    lists = (replicas, isr.sorted(), offline.sorted())
    return ListedTopics(
        names=names,
        topic_ids=[base64.urlsafe_b64encode(data).decode().rstrip("=") if any(data) else None for data in raw_ids],
        errors=errors,
        digests=topic_digests(names, bounds, columns, lists),
        bounds=bounds,
        partition=columns[0],
        error=columns[1],
        leader=columns[2],
        leader_epoch=columns[3],
        replicas=lists[0],
        isr=lists[1],
        offline_replicas=lists[2],
        longest={place: int(by_topic[place]) for place in np.flatnonzero(by_topic).tolist()},
    )


def _demand_partitions(names: Sequence[str], topic: Ints, number: Ints) -> None:
    """Raise WireError where a partition is below zero, or there twice in its topic; both are sorted by topic and number."""
    twice = (np.diff(topic, prepend=-1) == 0) & (np.diff(number, prepend=-1) == 0)
    for place in np.flatnonzero(twice | (number < 0))[:1].tolist():
        text = "is listed" if number[place] < 0 else "is listed twice"
        msg = f"partition of {names[topic[place]]}: {number[place]} {text}"
        raise WireError(msg)


def _int32s(buffer: npt.NDArray[np.uint8], at: Ints) -> Ints:
    """Return the four bytes from each place on, signed."""
    if not len(at):
        return np.empty(0, np.int64)
    windows = np.lib.stride_tricks.sliding_window_view(buffer, 4)
    return windows[at].view(">i4").ravel().astype(np.int64)


def _lists(cursor: _TopicCursor, buffer: npt.NDArray[np.uint8], at: Ints) -> tuple[Lists, Ints, Ints]:
    """Return the first `MOST_REPLICAS` of the array of int32 at each place, the places after them, and how long they are.

    Raises:
        WireError: one is null.
    """
    if cursor.flexible:
        lengths, at = _varints(buffer, at)
        lengths -= 1
    else:
        lengths, at = _int32s(buffer, at), at + 4
    if (lengths < 0).any():
        msg = "null instead of a list"
        raise WireError(msg)
    kept = np.minimum(lengths, MOST_REPLICAS)
    column = Lists.of_lengths(kept, np.empty(0, np.int64))
    within = np.arange(column.offsets[-1]) - np.repeat(column.offsets[:-1], kept)
    values = _int32s(buffer, np.repeat(at, kept) + 4 * within)
    return Lists(column.offsets, values), at + 4 * lengths, lengths


def _varints(buffer: npt.NDArray[np.uint8], at: Ints) -> tuple[Ints, Ints]:
    """Return the number of one to five bytes at each place, and the places after them."""
    value = np.zeros(len(at), np.int64)
    more, shift = np.ones(len(at), np.bool_), 0
    while more.any():
        byte = buffer[at[more]].astype(np.int64)
        value[more] |= (byte & 0x7F) << shift
        at = at + more
        more[more] = byte >= 0x80  # noqa: PLR2004 -- the continuation bit
        shift += 7
    return value, at
