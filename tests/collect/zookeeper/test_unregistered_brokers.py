"""Whose hosts are asked whether they reach ZooKeeper, and which servers."""

import pytest

from kafka_audit.collect.probes import endpoint_probes
from kafka_audit.collect.probes.command_vantages import runs
from kafka_audit.collect.probes.endpoint_probes import ProbeStep
from kafka_audit.collect.sampling.quorum_differences import find_unreached_servers
from kafka_audit.collect.zookeeper.unregistered_brokers import brokers_without_session, server_targets
from kafka_audit.model.cluster import Cluster, Vantage, ZookeeperAccess
from kafka_audit.model.tables import BrokerConfig, BrokerIdentity, RegisteredBroker, ZookeeperProbe
from made_rows import made

ACCESS = ZookeeperAccess(connect="forward:2181/kafka")


def registered(broker):
    return RegisteredBroker(sample=1, broker_id=broker, rack=None, ephemeral_owner=1, registered_ms=0, czxid=1, mzxid=1)


def answering(address, broker):
    return BrokerIdentity(sample=1, broker_id=-1, listener="bootstrap", address=address, answered_by=broker, kafka_cluster_id="c")


def connect(broker, value):
    return made(BrokerConfig, broker_id=broker, key="zookeeper.connect", value=value)


def test_brokers_that_are_assigned_or_answer_and_are_not_registered():
    rows = [registered(0), registered(1), answering("b0:9092", 0), answering("b3:9092", 3), answering("b9:9092", None)]
    assert brokers_without_session(rows, {0, 1, 2}) == (2, 3)
    assert brokers_without_session(rows[:3], {0, 1}) == ()


@pytest.mark.parametrize(
    ("rows", "servers"),
    [
        ([connect(0, "zk1:2181,[fd00::1]:2182/kafka"), connect(1, "zk1:2181/kafka")], ["zk1:2181", "[fd00::1]:2182"]),
        ([connect(0, None)], ["forward:2181"]),
        ([], ["forward:2181"]),
        ([connect(0, "$(reboot):2181,zk1:99999,zk2")], ["zk2:2181"]),
        ([connect(0, ",".join(f"zk{number}:2181" for number in range(99)))], [f"zk{number}:2181" for number in range(10)]),
    ],
)
def test_the_servers_that_brokers_use_and_no_byte_is_sent_to_them(rows, servers):
    targets = server_targets(ACCESS, rows)
    assert [target.advertised for target in targets] == servers
    assert {endpoint_probes.layers(target) for target in targets} == {("dns", "tcp")}


def test_what_a_host_reports_is_a_row_of_its_own_table():
    vantage = Vantage(name="hosts", role="broker", command=("ssh", "{broker_id}"))
    cluster = Cluster(name="prod", zookeeper=ACCESS, vantages=(vantage,))
    targets = server_targets(ACCESS, ())
    (run,) = runs(cluster, 1, (), [2], controllers=targets, roles=("broker",))
    steps = [ProbeStep("dns", "ok", None, None, None, 1), ProbeStep("tcp", "failed", "timeout", None, None, 9)]
    (row,) = run._rows_of(targets[0], steps)
    assert row == made(ZookeeperProbe, vantage="hosts", from_broker=2, address="forward:2181", outcome="failed", error="timeout")


def test_a_server_that_is_not_reached_asks_for_another_sample_of_everything():
    head = {"sample": 1, "vantage": "hosts", "from_broker": 2, "address": "zk1:2181", "needs": None}
    rows = [
        ZookeeperProbe(**head, layer="tcp", outcome="failed", error="timeout"),
        ZookeeperProbe(**{**head, "from_broker": 0}, layer="tcp", outcome="ok", error=None),
    ]
    reasons = []
    assert find_unreached_servers(rows, reasons) == {("from broker to ZooKeeper", "hosts", 2, "zk1:2181", "tcp")}
    assert reasons == ["tcp from broker 2 to ZooKeeper at zk1:2181 failed (timeout)"]
