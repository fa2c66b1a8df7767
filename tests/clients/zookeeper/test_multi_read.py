"""The bytes of multiRead, and what happens where a server does not know it."""

import struct
import time

import pytest
from kazoo.exceptions import ConnectionLoss, NoAuthError, NoNodeError, SystemZookeeperError, UnimplementedError
from kazoo.handlers.threading import KazooTimeoutError

from collect.fakes import FakeZookeeper
from kafka_audit.clients.read_error import ReadError
from kafka_audit.clients.zookeeper.multi_read import WORTH_IT, MultiRead, Znode, ZnodeReader, batches

MANY = [f"/t/{number}" for number in range(3 * WORTH_IT)]


def reader(client, read_s=600.0):
    return ZnodeReader(client, read_s, time.monotonic() + 600)


def test_a_request_is_headers_paths_and_watch_bytes():
    get = struct.pack("!iBi", 4, 0, -1)
    end = struct.pack("!iBi", -1, 1, -1)
    assert MultiRead(["/a", "/bc"]).serialize() == get + b"\0\0\0\2/a\0" + get + b"\0\0\0\3/bc\0" + end


def test_a_reply_has_data_or_an_error_per_path():
    stat = list(range(1, 12))
    reply = (
        struct.pack("!iBii", 4, 0, 0, 2) + b"hi" + struct.pack("!qqqqiiiqiiq", *stat)
        + struct.pack("!iBii", 4, 0, 0, -1) + struct.pack("!qqqqiiiqiiq", *stat)
        + struct.pack("!iBii", -1, 0, -101, -101)
        + struct.pack("!iBii", -1, 0, -102, -102)
        + struct.pack("!iBi", -1, 1, -1)
    )  # fmt: skip
    first, empty, absent, forbidden = MultiRead.deserialize(b"xx" + reply, 2).results()
    assert (first.data, first.stat.czxid, first.stat.mzxid, first.stat.pzxid) == (b"hi", 1, 2, 11)
    assert empty.data == b""
    assert isinstance(absent, NoNodeError)
    assert isinstance(forbidden, NoAuthError)
    with pytest.raises(struct.error):
        MultiRead.deserialize(reply[:-1], 0)


def test_an_error_that_no_zookeeper_gives_is_that_of_its_path_alone():
    (found,) = MultiRead.deserialize(struct.pack("!iBii", -1, 0, -4242, -4242) + struct.pack("!iBi", -1, 1, -1), 0).results()
    assert isinstance(found, SystemZookeeperError)
    assert "-4242" in str(found)


def test_requests_stay_below_both_bounds_and_lose_nothing():
    paths = [f"/{'x' * (number % 50)}" for number in range(997)]
    cut = list(batches(paths, most=100, most_bytes=2000))
    assert [path for batch in cut for path in batch] == paths
    assert max(map(len, cut)) <= 100
    assert all(len(MultiRead(batch).serialize()) <= 2000 + 9 for batch in cut)
    assert list(batches(["/" + "y" * 5000, "/z"], most_bytes=1000)) == [["/" + "y" * 5000], ["/z"]]
    assert list(batches([])) == []


def test_many_znodes_go_by_multi_read_below_the_chroot():
    client = FakeZookeeper({f"/kafka{path}": path.encode() for path in MANY}, chroot="/kafka")
    found = reader(client).get_many([*MANY, "/gone"])
    assert {path: znode.data for path, znode in found.items() if isinstance(znode, Znode)} == {
        path: path.encode() for path in MANY
    }
    assert isinstance(found["/gone"], NoNodeError)
    assert client.single_reads == []


@pytest.mark.parametrize("count", [1, len(MANY)])
def test_a_znode_that_was_created_without_data_is_empty(count):
    paths = [f"/t/{number}" for number in range(count)]
    client = FakeZookeeper({f"{path}/child": b"x" for path in paths})
    assert {znode.data for znode in reader(client).get_many(paths, most_bytes=10).values()} == {b""}
    assert bool(client.multi_reads) == (count > WORTH_IT)


def test_few_znodes_are_not_worth_it():
    client = FakeZookeeper(dict.fromkeys(MANY, b"x"))
    assert len(reader(client).get_many(MANY[: WORTH_IT - 1])) == WORTH_IT - 1
    assert client.multi_reads == []


@pytest.mark.parametrize("refusal", [UnimplementedError(), ConnectionLoss()])
def test_an_old_server_that_hides_its_version_is_asked_once_then_read_one_by_one(refusal):
    client = FakeZookeeper(dict.fromkeys(MANY, b"x"), version=None, has_multi=refusal)
    multi = reader(client)
    for _ in range(2):
        found = multi.get_many([*MANY, "/gone"])
        assert sum(isinstance(result, Znode) for result in found.values()) == len(MANY)
        assert isinstance(found["/gone"], NoNodeError)
    assert len(client.multi_reads) == 1


def test_an_old_server_that_tells_its_version_never_sees_the_request():
    client = FakeZookeeper(dict.fromkeys(MANY, b"x"), version="3.5.9")
    assert len(reader(client).get_many(MANY)) == len(MANY)
    assert client.multi_reads == []


def test_a_read_that_times_out_is_not_taken_for_an_absent_znode():
    client = FakeZookeeper({"/a": KazooTimeoutError()})
    with pytest.raises(KazooTimeoutError):
        reader(client).get_many(["/a"])


def test_znodes_read_one_by_one_are_counted_before_all_are_held():
    paths = [f"/t/{number}" for number in range(40)]
    client = FakeZookeeper(dict.fromkeys(paths, b"x" * 1024 * 1024))
    with pytest.raises(ReadError, match=r"limits\.bytes"):
        reader(client).get_many(paths, most_bytes=8 * 1024 * 1024)
    assert len(client.single_reads) == len(paths), "those ahead are asked for"
    held = [len(contents) for _, contents in reader(client).each(len(paths), paths.__getitem__)]
    assert (sum(held), max(held)) == (len(paths), 5)
