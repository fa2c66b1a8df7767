"""What changed since the previous snapshot, from small tables and difference rows alone."""

from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from checks.world import World, snapshots
from kafka_audit.cluster.changes import changes
from kafka_audit.cluster.view import ClusterView
from kafka_audit.differences.found import Differences
from kafka_audit.differences.tables import DIFFERENCES, LeaderMove, MovedPartition, TopicChange
from kafka_audit.model.tables import Row

KRAFT = {"info": {"mode": "kraft"}, "zookeeper": "none"}
UNREAD = {"observer": "zookeeper", "error": "NoAuthError"}
TOPIC = TopicChange(kind="created", topic="new", before=None, after="new-id")
MOVED = MovedPartition(topic="orders", partition=0, before=0, after=None)


@cache
def base() -> World:
    return yaml.load((Path(__file__).parents[1] / "checks" / "base.yaml").read_text(), yaml.CSafeLoader)


def found(case: dict[str, Any], *rows: Row) -> list[tuple[str, str, str | None, str | None]]:
    now, previous = snapshots(base(), "case", {"previous": {}} | case)
    found = changes(ClusterView(now, previous, Differences.from_rows(DIFFERENCES, rows)))
    return [(change.kind, change.resource, change.before, change.after) for change in found]


def listeners(**addresses: str) -> dict[str, Any]:
    return {"brokers": {2: {"listeners": {"PLAINTEXT": "absent"} | addresses}}}


def test_nothing_changed():
    assert found({}) == found({"world": KRAFT}) == []


def test_without_a_previous_snapshot_nothing_changed():
    now, _ = snapshots(base(), "case", {})
    assert changes(ClusterView(now, None, Differences.from_rows(DIFFERENCES, [TOPIC]))) == ()


def test_brokers_come_and_go():
    three = {"brokers": {3: {"listeners": {"PLAINTEXT": "PLAINTEXT://b3:9092", "SSL": "SSL://b3:9093"}, "czxid": 1, "mzxid": 1}}}
    assert found({"now": three, "previous": {"brokers": {2: "absent"}}}) == [
        ("broker_came", "broker/2", None, "PLAINTEXT://10.0.0.12:9092"),
        ("broker_came", "broker/3", None, "PLAINTEXT://b3:9092, SSL://b3:9093"),
    ]
    assert found({"now": {"brokers": {2: "absent"}}}) == [("broker_went", "broker/2", "PLAINTEXT://10.0.0.12:9092", None)]


def quorum(**addresses: str) -> dict[str, Any]:
    usual = {"leader": 0, "epoch": 7, "high_watermark": 9000, "voters": {0: 0, 1: 0, 2: 0}, "observers": {}}
    return {"quorum": usual | {"addresses": {int(voter[1:]): address for voter, address in addresses.items()}}}


def test_a_voter_has_another_address():
    now, earlier = (
        quorum(c0="c0:9093", c1="C1.example:9093", c2="c2:9094"),
        quorum(c0="c0:9093", c1="c1.example:9093", c2="c2:9093"),
    )
    moved = [("voter_address", "controller/2", "c2:9093", "c2:9094")]
    assert found({"world": KRAFT, "now": now, "previous": earlier}) == moved
    assert found({"world": KRAFT, "now": now, "previous": quorum(c0="c0:9093")}) == []  # nothing is known of the others


def test_in_kraft_a_broker_comes_without_a_listener():
    assert found({"world": KRAFT, "previous": {"brokers": {2: "absent"}}})[0] == (
        "broker_came",
        "broker/2",
        None,
        "10.0.0.12:9092",
    )


@pytest.mark.parametrize("side", ["now", "previous"])
@pytest.mark.parametrize("operation", ["zookeeper /brokers/ids", "zookeeper /brokers/ids/2"])
def test_registrations_that_were_not_read_are_not_compared(side, operation):
    unread = {"brokers": {2: "absent"}, "reads": [UNREAD | {"operation": operation}]}
    assert found({"now": {}, "previous": {}} | {side: unread}) == []


def test_endpoints_change_come_and_go():
    case = {"now": listeners(PLAINTEXT="PLAINTEXT://b2:9092", SSL="SSL://b2:9093"), "previous": listeners(LAN="SSL://b2:9093")}
    assert found(case) == [
        ("endpoint", "broker/2/listener/LAN", "SSL://b2:9093", None),
        ("endpoint", "broker/2/listener/PLAINTEXT", None, "PLAINTEXT://b2:9092"),
        ("endpoint", "broker/2/listener/SSL", None, "SSL://b2:9093"),
    ]
    case = {"now": listeners(SSL="SSL://b2:9092"), "previous": listeners(SSL="PLAINTEXT://b2:9092")}
    assert found(case) == [("endpoint", "broker/2/listener/SSL", "PLAINTEXT://b2:9092", "SSL://b2:9092")]


def test_in_kraft_an_address_belongs_to_the_broker():
    case = {"world": KRAFT, "previous": listeners(PLAINTEXT="PLAINTEXT://b2:9092")}
    assert found(case) == [("endpoint", "broker/2", "b2:9092", "10.0.0.12:9092")]


def test_a_migration_is_no_change_of_addresses():
    zookeeper = {"info": {"mode": "zookeeper"}, "zookeeper": base()["zookeeper"]}
    both = listeners(PLAINTEXT="PLAINTEXT://10.0.0.12:9092", SSL="SSL://b2:9093")
    assert found({"world": KRAFT, "previous": zookeeper | both}) == []
    other = listeners(PLAINTEXT="PLAINTEXT://b2:9092")
    assert found({"world": KRAFT, "previous": zookeeper | other}) == [("endpoint", "broker/2", None, "10.0.0.12:9092")]


def test_settings_change_where_somebody_set_them():
    now = {"configs": {2: {"num.io.threads": "9", "log.dirs": "hidden"}}}
    assert found({"now": now, "previous": {"configs": {2: {"num.io.threads": "8"}}}}) == [
        ("config", "broker/2/config/log.dirs", None, "hidden"),
        ("config", "broker/2/config/num.io.threads", "8", "9"),
    ]


def test_defaults_are_no_change_of_settings():
    known = {"configs": {"new.key": "1"}, "config_sources": {"new.key": 5}}
    assert found({"now": known}) == []
    set_now = {"configs": {0: {"new.key": "2"}}, "config_sources": {}}
    assert found({"now": set_now, "previous": {"configs": {0: {"new.key": "1"}}, "config_sources": {"new.key": 5}}}) == [
        ("config", "broker/0/config/new.key", "1", "2")
    ]


def test_settings_of_a_broker_that_was_not_read_before_are_no_change():
    assert found({"previous": {"brokers": {2: "absent"}}})[1:] == []


DENIED = ["User:kafka", "ClusterAction", "DENY", "10.0.0.10"]


def acls(*held, **more):
    return {
        "acls": [["User:kafka", "All"], *held],
        "configs": {"authorizer.class.name": "kafka.security.authorizer.AclAuthorizer"},
    } | more


def test_acls_come_and_go():
    text = "DENY ClusterAction for User:kafka from 10.0.0.10 on Cluster kafka-cluster"
    assert found({"now": acls(DENIED), "previous": acls()}) == [("acl", "cluster", None, text)]
    assert found({"now": acls(), "previous": acls(DENIED)}) == [("acl", "cluster", text, None)]
    assert found({"now": acls(DENIED), "previous": acls(DENIED)}) == []


@pytest.mark.parametrize("side", ["now", "previous"])
def test_acls_that_were_not_read_did_not_change(side):
    unread = {"acls_of": dict.fromkeys(("zookeeper", 0, 1, 2), "unread")}
    assert found({"now": acls(DENIED), "previous": acls()} | {side: acls(**unread)}) == []


def test_the_controller_moves():
    assert found({"now": {"zookeeper": {"controller_id": None, "controller_epoch": 4}}}) == [
        ("controller", "cluster", "0 (epoch 3)", "none (epoch 4)")
    ]
    unread = {"zookeeper": {"controller_id": None}, "reads": [UNREAD | {"operation": "zookeeper /controller"}]}
    assert found({"now": unread}) == found({"previous": unread}) == []


def test_topics_come_go_and_are_recreated():
    recreated = TopicChange(kind="recreated", topic="orders", before="a", after="b")
    assert found({}, TOPIC, recreated) == [
        ("topic_created", "topic/new", None, "new-id"),
        ("topic_recreated", "topic/orders", "a", "b"),
    ]


@pytest.mark.parametrize("side", ["now", "previous"])
def test_topics_that_were_not_read_did_not_go(side):
    unread = {"reads": [UNREAD | {"operation": "zookeeper /brokers/topics/new"}]}
    assert found({"now": {}, "previous": {}} | {side: unread}, TOPIC, MOVED)[:1] == [
        ("leader_moved", "topic/orders/partition/0", "0", None)
    ]
    unread = {"reads": [UNREAD | {"operation": "zookeeper /brokers/topics"}]}
    assert found({"now": {}, "previous": {}} | {side: unread}, TOPIC, MOVED) == []


def test_many_leaders_that_moved_are_counted_by_broker():
    move = LeaderMove(broker_id=2, led=500, moved=300, first=("orders-0",), leaders=(0, 1))
    stayed = LeaderMove(broker_id=1, led=500, moved=0, first=(), leaders=())
    assert found({}, move, stayed) == [("leader_moved", "broker/2", "led 300 partitions that other brokers lead now", None)]
    assert found({}, move, MOVED) == [("leader_moved", "topic/orders/partition/0", "0", None)]
