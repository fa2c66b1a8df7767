"""The hostile parties are honest by default: audited without a failed read, as real ones are."""

import threading
import time
from functools import partial

import pytest
from kazoo.client import KazooClient
from kazoo.exceptions import NoAuthError, NoNodeError

from collect.taken import taken, taken_of
from hostile_parties.broker import HostileBroker
from hostile_parties.cluster import CLUSTER_ID, HostileCluster
from hostile_parties.zookeeper import NO_AUTH, HostileZookeeper
from kafka_audit.model.cluster import Security, Tls
from kafka_audit.model.tables import BrokerView, Probe, RegisteredPartition, RegisteredTopic, Registry, SnapshotInfo, SourceRead
from testbed.certificates import Authority

PASSWORD = "s3cret-of-the-auditor"  # noqa: S105 -- of a fake


@pytest.fixture
def cluster():
    with HostileCluster() as cluster:
        yield cluster


snap = partial(taken_of, secrets={"PASSWORD": PASSWORD})


def failed(snapshot):
    return [row for row in snapshot.of(SourceRead) if row.outcome != "answered"]


def test_a_snapshot_of_honest_parties_has_no_failed_read(cluster):
    snapshot = snap(cluster)
    assert failed(snapshot) == []
    assert {row.outcome for row in snapshot.of(Probe)} == {"ok"}
    (info,), (registry,) = snapshot.of(SnapshotInfo), snapshot.of(Registry)
    assert (info.mode, info.samples, snapshot.cluster_id) == ("zookeeper", 1, CLUSTER_ID)
    assert (registry.controller_id, registry.kafka_cluster_id) == (0, CLUSTER_ID)
    assert [row.broker_id for row in snapshot.of(BrokerView)] == [0, 1, 2]
    assert {row.operation for row in snapshot.of(SourceRead)} >= {"ListOffsets", "DescribeLogDirs", "DescribeAcls", "srvr"}


def test_many_topics_are_read_by_multiread(cluster):
    for number in range(70):
        cluster.create_topic(f"t{number}", {0: [0, 1, 2]})
    snapshot = snap(cluster)
    assert failed(snapshot) == []
    partitions = {(name, number) for name, numbers in cluster.topics.items() for number in numbers}
    assert {row.topic for row in snapshot.of(RegisteredTopic)} == set(cluster.topics)
    assert {(row.topic, row.partition) for row in snapshot.of(RegisteredPartition)} == partitions
    assert any(opcode == 22 for opcode, _ in cluster.zookeeper.asked)


def test_what_a_cluster_does_keeps_its_parties_of_one_view(cluster):
    cluster.move_leader("orders", 1)
    cluster.stop(2)
    assert failed(snap(cluster)) == []
    cluster.start(2)
    cluster.create_topic("payments", {0: [2, 0, 1]})
    cluster.delete_topic("orders")
    snapshot = snap(cluster)
    assert failed(snapshot) == []
    assert snapshot.of(SnapshotInfo)[0].samples == 1


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"])
def test_a_login_over_tls_succeeds_and_is_recorded(tmp_path, mechanism):
    authority = Authority(tmp_path)
    tls = authority.issue("broker", ("127.0.0.11",))
    with HostileBroker(0, host="127.0.0.11", tls=tls, mechanisms=(mechanism,), users={"auditor": PASSWORD}) as broker:
        broker.brokers = {0: (broker.host, broker.port)}
        broker.topics = {"orders": {0: (0, [0])}}
        security = Security(
            protocol="SASL_SSL",
            mechanism=mechanism,
            username="auditor",
            password_env="PASSWORD",  # noqa: S106 -- a variable's name
            tls=Tls(ca_file=str(authority.ca_file)),
        )
        snapshot = taken(bootstrap=(broker.address,), security=security, secrets={"PASSWORD": PASSWORD})
        assert failed(snapshot) == []
        assert broker.connections > 0
        assert (PASSWORD.encode() in broker.received) == (mechanism == "PLAIN")
        assert broker.passwords == [("PLAIN", "auditor", PASSWORD)] * len(broker.passwords)
        assert bool(broker.scram_messages) == (mechanism != "PLAIN")


def test_kazoo_takes_it_for_a_zookeeper():
    with HostileZookeeper({"/a/b": b"x", "/a/c": b"y", "/shut": b"z"}) as zookeeper:
        zookeeper.errors["/shut"] = NO_AUTH
        client = KazooClient(zookeeper.address, timeout=120)
        client.start(120)
        try:
            assert client.get("/a/b")[0] == b"x"
            assert client.get_children("/a") == ["b", "c"]
            children, stat = client.get_children("/a", include_data=True)
            assert (children, stat.numChildren, client.exists("/a/d")) == (["b", "c"], 2, None)
            assert client.sync("/a") == "/a"
            assert client.get_acls("/a")[0][0].id.id == "anyone"
            assert "Mode: standalone" in client.command(b"srvr")
            client.add_auth("digest", "user:word")
            assert zookeeper.auths == [("digest", b"user:word")]
            with pytest.raises(NoAuthError):
                client.get("/shut")
            del zookeeper.znodes["/a"]
            with pytest.raises(NoNodeError):
                client.get("/a/b")
            zookeeper.znodes["/a/b"] = b"again"
            assert client.get("/a/b")[0] == b"again"
        finally:
            client.stop()
            client.close()


def test_nothing_is_left_of_parties_that_closed():
    """A thread that stays is waited for without end."""
    before = {*threading.enumerate()}
    with HostileCluster() as cluster:
        snap(cluster)
    while len({*threading.enumerate()} - before) > 1:
        time.sleep(0.05)
