"""DescribeLogDirs read from its bytes, in every version, as kafka-python reads it; what makes no sense is no answer."""

import struct

import pytest
from kafka.protocol.admin import DescribeLogDirsResponse

from kafka_audit.clients.budget import Budget
from kafka_audit.clients.protocol.primitive_types import WireError
from kafka_audit.clients.read_error import ReadError
from kafka_audit.collect.brokers import log_dirs
from kafka_audit.collect.brokers.log_dirs import DiskBook, FutureReplica, decode_log_dirs_answer
from kafka_audit.model.cluster import Cluster, Limits

VERSIONS = range(log_dirs.HIGHEST + 1)
LogDir = DescribeLogDirsResponse.DescribeLogDirsResult
Topic = LogDir.DescribeLogDirsTopic
Replica = Topic.DescribeLogDirsPartition


def topic(name, *replicas):
    keys = ("partition_index", "partition_size", "offset_lag", "is_future_key")
    return Topic(name=name, partitions=[Replica(**dict(zip(keys, one, strict=True))) for one in replicas])


def log_dir(path, *topics, error=0):
    return LogDir(error_code=error, log_dir=path, topics=[*topics], total_bytes=10**12, usable_bytes=-1, is_cordoned=False)


def response(*found, error=0):
    return DescribeLogDirsResponse(throttle_time_ms=7, error_code=error, results=[*found])


def encoded(message, version):
    return bytes(message.encode(version=version))


FOUND = response(
    log_dir("/a", topic("orders", (0, 5, 0, False), (1, 6, 0, False), (0, 3, 2, True)), topic("ü" * 80, (300, 2**40, 9, False))),
    log_dir("/b", error=56),
    log_dir(
        "/c",
        topic("__consumer_offsets", (0, 7, 0, False), (1, 9, 0, False), (2, 99, 1, True)),
        topic("empty"),
        topic("x", *((number, 1, 0, number % 3 == 0) for number in range(200))),
    ),
)


@pytest.mark.parametrize("version", VERSIONS)
def test_every_version_reads_the_same(version):
    found = decode_log_dirs_answer(encoded(FOUND, version), version)
    assert (found.throttle_ms, found.error) == (7, 0)
    sizes = (10**12, -1) if version >= log_dirs.SIZES else (None, None)
    assert [(one.path, one.error, one.replicas, one.future, one.total_bytes, one.usable_bytes) for one in found.log_dirs] == [
        ("/a", 0, 3, 1, *sizes),
        ("/b", 56, 0, 0, *sizes),
        ("/c", 0, 135, 68, *sizes),
    ]
    assert [(one.replica_bytes, one.offsets_bytes) for one in found.log_dirs] == [(11 + 2**40, None), (0, None), (149, 9)]
    assert [*found.log_dirs[0].future_replicas()] == [FutureReplica("orders", 0, 3, 2)]
    assert [one.partition for one in found.log_dirs[2].future_replicas()] == [2, *range(0, 200, 3)]
    held = [
        (names, lengths.tolist(), partitions.tolist()) for names, lengths, partitions in (one.held() for one in found.log_dirs)
    ]
    rest = [number for number in range(200) if number % 3]
    assert held == [
        (["orders", "ü" * 80], [2, 1], [0, 1, 300]),
        ([], [], []),
        (["__consumer_offsets", "x"], [2, 133], [0, 1, *rest]),
    ]


def test_the_same_replicas_in_another_order_are_kept_once():
    first, second = (
        decode_log_dirs_answer(
            encoded(response(log_dir("/a", *topics), log_dir("/b", topic("x", (7, 1, 0, False)))), 4), 4
        ).log_dirs
        for topics in (
            (topic("x", (1, 5, 0, False), (0, 5, 0, False)), topic("a", (3, 9, 0, False)), topic("no topic", (0, 9, 0, False))),
            (topic("a", (3, 1, 0, False)), topic("x", (0, 5, 0, False), (1, 6, 2, False), (2, 1, 1, True))),
        )
    )
    book, budget = DiskBook(), Budget()
    digests = book.add(first, budget)
    assert book.add(second, budget) == digests
    assert len({*digests}) == 2
    assert book.large(digests[:1]).drop_columns("replicas_digest").to_pylist() == [
        {"topic": "a", "partitions": [3]},
        {"topic": "x", "partitions": [0, 1]},
    ]
    assert book.add(first[:1], budget) == (None,)  # its only one: what goes with it is all that the broker has


def test_replicas_of_disks_count_as_rows():
    named = [topic(f"t{number}", *((at, 1, 0, False) for at in range(100))) for number in range(30)]
    found = decode_log_dirs_answer(encoded(response(log_dir("/a", *named), log_dir("/b")), 4), 4)
    with pytest.raises(ReadError, match="exceed 20 rows"):
        DiskBook().add(found.log_dirs, Budget(Cluster(name="c", bootstrap=("h:1",), limits=Limits(rows=20))))


def test_sizes_that_no_disk_has_are_no_answer():
    body = encoded(response(log_dir("/a", topic("orders", (0, 2**62, 0, False), (1, 2**62, 0, False)))), 1)
    with pytest.raises(WireError, match="no DescribeLogDirs answer of version 1: replicas of more than"):
        decode_log_dirs_answer(body, 1)


@pytest.mark.parametrize("version", VERSIONS)
def test_an_error_and_an_empty_list_are_told(version):
    found = decode_log_dirs_answer(encoded(response(error=31), version), version)
    assert (found.error, found.log_dirs) == (31 if version >= log_dirs.TOP_ERROR else 0, ())


def test_tagged_fields_are_passed_over():
    """Nobody writes any; a release that does must be read all the same."""
    tag = b"\x01\x05\x02hi"
    row = struct.pack("!iqq?", 4, 50, 6, True)  # noqa: FBT003 -- a field
    topics = b"\x03" + b"\x02a\x02" + row + tag + b"\x00" + b"\x02b\x03" + row + b"\x00" + row + tag + tag
    body = struct.pack("!ih", 0, 0) + b"\x02" + struct.pack("!h", 0) + b"\x03/d" + topics + struct.pack("!qq", 1, 2) + tag + tag
    (found,) = decode_log_dirs_answer(body, 4).log_dirs
    assert [*found.future_replicas()] == [FutureReplica("a", 4, 50, 6), *[FutureReplica("b", 4, 50, 6)] * 2]
    assert (found.replicas, found.total_bytes, found.usable_bytes) == (0, 1, 2)


NULL = -1
ODD = {
    "log dirs null": (struct.pack("!ii", 0, NULL), "log dirs: null instead of a list"),
    "a log dir without a name": (struct.pack("!iihh", 0, 1, 0, NULL), "a log dir without a name"),
    "a log dir with an empty name": (struct.pack("!iihh", 0, 1, 0, 0), "a log dir without a name"),
    "topics null": (struct.pack("!iihh2si", 0, 1, 0, 2, b"/a", NULL), "topics in a log dir: null instead of a list"),
    "a topic without a name": (struct.pack("!iihh2sih", 0, 1, 0, 2, b"/a", 1, 0), "a topic without a name"),
    "replicas null": (struct.pack("!iihh2sih1si", 0, 1, 0, 2, b"/a", 1, 1, b"t", NULL), "partitions in a log dir: null instead"),
    "more replicas than bytes": (struct.pack("!iihh2sih1si", 0, 1, 0, 2, b"/a", 1, 1, b"t", 2**31 - 1), "ends early"),
    "more topics than bytes": (struct.pack("!iihh2si", 0, 1, 0, 2, b"/a", 2**31 - 1), ""),
    "a topic no UTF-8": (struct.pack("!iihh2sih1si", 0, 1, 0, 2, b"/a", 1, 1, b"\xff", 0), "utf-8"),
    "nothing": (b"", ""),
}


@pytest.mark.parametrize("odd", ODD)
def test_an_odd_answer_is_none(odd):
    body, words = ODD[odd]
    with pytest.raises(WireError, match=f"no DescribeLogDirs answer of version 1: .*{words}"):
        decode_log_dirs_answer(body, 1)


COMPACT = {
    "log dirs null": (b"\0", "log dirs: null instead of a list"),
    "topics null": (b"\x02\0\0\x03/a\0", "topics in a log dir: null instead of a list"),
    "a topic without a name": (b"\x02\0\0\x03/a\x02\0\x01\0", "null instead of a name"),
    "a topic with an empty name": (b"\x02\0\0\x03/a\x02\x01\x01\0", "a topic without a name"),
    "replicas null": (b"\x02\0\0\x03/a\x02\x02t\0\0", "partitions in a log dir: null instead of a list"),
    "a length without an end": (b"\x02\0\0\x03/a\x02\x02t" + b"\xff" * 9, "too long"),
    "a topic of 40,000 bytes": (b"\x02\0\0\x03/a\x02\xc1\xb8\x02" + b"t" * 40_000, "a text of 40000 bytes"),
}


@pytest.mark.parametrize("odd", COMPACT)
def test_an_odd_answer_of_a_flexible_version_is_none(odd):
    body, words = COMPACT[odd]
    with pytest.raises(WireError, match=words):
        decode_log_dirs_answer(bytes(6) + body, 3)


@pytest.mark.parametrize("version", VERSIONS)
def test_an_answer_that_ends_early_is_none(version):
    body = encoded(FOUND, version)
    for size in range(0, len(body), 7):
        with pytest.raises(WireError):
            decode_log_dirs_answer(body[:size], version)
