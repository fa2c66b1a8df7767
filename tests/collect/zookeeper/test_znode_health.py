"""ZooKeeper's own health: servers asked by a four-letter word over real sockets, znodes by their ACL and size."""

from contextlib import contextmanager

import pytest
from kazoo.security import ACL, Id

from collect import fakes
from collect.fakes import FakeZookeeper
from kafka_audit.collect.sampling.quorum_differences import find_ensemble_differences
from kafka_audit.collect.zookeeper import znode_health, zookeeper_view
from kafka_audit.model.cluster import ZookeeperAccess
from kafka_audit.model.tables import SourceRead, ZookeeperMember

# As ZooKeeper 3.8.4 answers.
SRVR = """Zookeeper version: 3.8.4-9316c2a7a97e1666d8f4593f34dd6fc36ecc436c, built on 2024-02-12 22:16 UTC
Latency min/avg/max: 0/0.5128/27
Received: 412
Sent: 411
Connections: 5
Outstanding: 3
Zxid: 0x200000053
Mode: follower
Node count: 140
"""


@contextmanager
def saying(text):
    def say(connection):
        assert connection.recv(16) == b"srvr"
        connection.sendall(text.encode())

    with fakes.server(say) as address:
        yield "{}:{}".format(*address)


def asked(*places, known=True, read_s=60.0):
    rows = zookeeper_view.read_servers(ZookeeperAccess(connect=",".join(places) + "/kafka"), 1, read_s, known=known)
    return [r for r in rows if isinstance(r, ZookeeperMember)], [r for r in rows if isinstance(r, SourceRead)]


CONFIG = """server.1=zk1.example:2888:3888:participant;0.0.0.0:2181
server.2=[fd00::2]:2888:3888:participant
server.3=zk3:2888:3888:observer;0.0.0.0:2181
server.4=zk4:2888:3888|zk4b:2888:3888:participant;2181
version=100000000"""


def test_the_ensemble_is_read_at_the_root_whatever_the_chroot():
    client = FakeZookeeper({"/zookeeper/config": CONFIG.encode(), "/kafka/zookeeper/config": b"server.9=x:1:2"}, "/kafka")
    servers = [(server.server_id, server.host, server.votes) for server in znode_health.read_ensemble(client, 1, lambda: 1.0)]
    assert servers == [(1, "zk1.example", True), (2, "fd00::2", True), (3, "zk3", False), (4, "zk4", True)]
    assert client.chroot == "/kafka"
    assert [*znode_health.read_ensemble(FakeZookeeper({}, "/kafka"), 1, lambda: 1.0)] == []
    assert [*znode_health.parse_ensemble("server.x=a:1:2\nserver.1=\nversion=0", 1)] == []


def test_each_server_is_asked_by_itself():
    nobody = "{}:{}".format(*fakes.refused())
    with saying(SRVR) as server, saying("This ZooKeeper instance is not currently serving requests\n") as idle:
        members, reads = asked(server, idle, nobody)
    assert [(m.member, m.state, m.error) for m in members] == [
        (server, "serving", None),
        (idle, "idle", "it is not serving requests"),
        (nobody, "down", "connection refused"),
    ]
    first = members[0]
    assert (first.mode, first.zxid, first.outstanding, first.connections, first.znodes) == ("follower", 0x200000053, 3, 5, 140)
    assert (first.latency_avg_ms, first.latency_max_ms, first.version) == (0.5128, 27.0, "3.8.4")
    assert [(r.observer, r.operation, r.outcome) for r in reads] == [
        (f"zookeeper@{place}", "srvr", "answered") for place in (server, idle, nobody)
    ]
    reasons = []
    assert find_ensemble_differences(members, (), reasons) == {
        ("ZooKeeper's server", idle, "idle"),
        ("ZooKeeper's server", nobody, "down"),
    }
    assert reasons == [f"ZooKeeper at {idle}, {nobody} does not serve"]


def test_a_word_that_is_not_allowed_is_a_failed_read_with_its_need():
    with saying("srvr is not executed because it is not in the whitelist.\n") as server:
        (member,), (read,) = asked(server)
    assert member.state == "closed"
    assert (read.outcome, read.needs) == ("failed", f"srvr in 4lw.commands.whitelist of {server}")


def test_where_nobody_answers_at_all_it_is_no_answer():
    (_,), (read,) = asked("{}:{}".format(*fakes.refused()), known=False)
    assert (read.outcome, read.error) == ("failed", "connection refused")
    assert read.needs


@pytest.mark.parametrize("behave", [fakes.silent, fakes.garbage, fakes.closing_at_once])
def test_something_else_there_does_not_serve(behave):
    with fakes.server(behave) as (host, port):
        (member,), _ = asked(f"{host}:{port}", read_s=1.0)
    assert member.state == "down"


@pytest.mark.parametrize("place", ["a..b:2181", "zk:99999", "x" * 300 + ":2181"])
def test_what_is_no_address_serves_nobody(place):
    (member,), _ = asked(place)
    assert (member.member, member.state) == (place, "down")


@pytest.mark.parametrize(
    "text", ["Mode: \x1b[2J" + "x" * 70000, "Mode: leader\nZxid: 0xzz\nLatency min/avg/max: a/b\nOutstanding: -1\n"]
)
def test_hostile_numbers_are_none(text):
    member = zookeeper_view.parse_server_answer(text, 1, "zk:2181")
    assert (member.zxid, member.outstanding, member.latency_avg_ms) == (None, None, None)
    assert (member.mode or "").isprintable()


def test_znodes_by_what_anyone_may_do_there():
    client = FakeZookeeper({"/brokers/ids/0": b"", "/controller": b"{}", "/isr_change_notification/a": b""})
    client.acls = {"/controller": [ACL(31, Id("sasl", "kafka")), ACL(1, Id("world", "anyone"))]}
    found = {node.path: node for node in znode_health.read_znode_health(client, 1, lambda: 1.0)}
    assert found.keys() == {"/brokers", "/brokers/ids", "/controller", "/isr_change_notification"}
    assert (found["/controller"].anyone, found["/brokers"].anyone) == ("r", "crwda")
    assert found["/isr_change_notification"].children == 1


def test_a_heap_of_notices_is_looked_at_twice():
    client = FakeZookeeper({f"/isr_change_notification/n{number}": b"" for number in range(10)} | {"/config/changes/c": b""})
    reasons = []
    assert find_ensemble_differences((), znode_health.read_znode_health(client, 1, lambda: 1.0), reasons) == {
        ("notices", "/isr_change_notification")
    }
    assert reasons == ["10 notifications wait in /isr_change_notification"]


def test_the_largest_are_told_by_data_or_by_their_childrens_names():
    sizes = {f"/brokers/topics/t{n}": n for n in range(10)}
    nodes = list(znode_health.largest(sizes, {"/brokers/topics": ["x" * 96] * 100}, 1))
    assert [(node.path, node.bytes, node.children) for node in nodes] == [
        ("/brokers/topics", 10_000, 100),
        ("/brokers/topics/t9", 9, 0),
        ("/brokers/topics/t8", 8, 0),
    ]
