"""Settings of topics and reassignments in a ZooKeeper in memory."""

import pytest
from kazoo.exceptions import NoAuthError

from collect.columns import collected
from collect.fakes import FakeZookeeper
from collect.zookeeper.test_zookeeper_view import failed, look, text, znodes
from kafka_audit.collect.sampling.partition_differences import replication_gaps
from kafka_audit.model.tables import Reassignment, RegisteredPartition, TopicConfig, ViewPartition
from made_rows import made, of


def settings(**config):
    return text({"version": 1, "config": {key.replace("_", "."): value for key, value in config.items()}})


def test_what_topics_set_for_themselves_is_told_as_far_as_checks_need_it():
    rows = look(FakeZookeeper(znodes() | {"/config/topics/orders": settings(min_insync_replicas="2", flush_ms="1")}))
    assert failed(rows) == {}
    assert of(rows, TopicConfig) == [
        TopicConfig(observer="zookeeper", topic="orders", key="min.insync.replicas", value="2"),
    ]


def test_a_topic_without_such_a_znode_sets_nothing():
    rows = look(FakeZookeeper(znodes()))
    assert failed(rows) == {}
    assert of(rows, TopicConfig) == []


@pytest.mark.parametrize("content", [b"{", b"[]", b'{"config": 1}'])
def test_an_unreadable_znode_is_a_row_of_its_own(content):
    rows = look(FakeZookeeper(znodes() | {"/config/topics/orders": content}))
    assert list(failed(rows)) == ["zookeeper /config/topics/orders"]


def test_settings_that_may_not_be_read_are_one_row():
    rows = look(FakeZookeeper(znodes() | {"/config/topics/orders": NoAuthError()}))
    assert list(failed(rows)) == ["zookeeper /config/topics"]


def test_a_reassignment_stands_in_the_topic_s_own_znode():
    content = {
        "version": 3,
        "partitions": {"0": [0, 1, 2], "1": [0]},
        "adding_replicas": {"0": [2]},
        "removing_replicas": {"1": []},
    }
    rows = look(FakeZookeeper(znodes() | {"/brokers/topics/orders": text(content)}))
    assert [(r.observer, r.topic, r.partition, r.replicas, r.adding, r.removing) for r in of(rows, Reassignment)] == [
        ("zookeeper", "orders", 0, (0, 1, 2), (2,), ()),
    ]


def test_a_reassignment_of_old_names_what_there_is_to_be():
    asked = {"version": 1, "partitions": [{"topic": "orders", "partition": 1, "replicas": [1, 2]}]}
    rows = look(FakeZookeeper(znodes() | {"/admin/reassign_partitions": text(asked)}))
    assert [(r.topic, r.partition, r.adding) for r in of(rows, Reassignment)] == [("orders", 1, (1, 2))]


@pytest.mark.parametrize("content", [b"{", b"{}", b'{"partitions": [1]}', b'{"partitions": [{"topic": "t", "replicas": ["x"]}]}'])
def test_an_unreadable_reassignment_fails_its_read(content):
    rows = look(FakeZookeeper(znodes() | {"/admin/reassign_partitions": content}))
    assert list(failed(rows)) == ["zookeeper /admin/reassign_partitions"]


def state(**fields):
    whole = {"replicas": (0, 1), "leader": 0, "leader_epoch": 1, "controller_epoch": 1, "isr": (0, 1), "leader_recovery_state": 0}
    return made(RegisteredPartition, topic="t", **whole | fields)


def found(rows, reasons):
    sample = collected(rows)
    return replication_gaps(sample.columns(RegisteredPartition), sample.columns(ViewPartition), reasons).names.to_pylist()


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (state(), None),
        (state(leader=None, isr=None), None),  # not created yet
        (state(leader=-1), "1 partition has no leader"),
        (state(isr=(0,)), "1 partition has replicas out of the ISR"),
    ],
)
def test_partitions_in_trouble_are_looked_at_again(row, reason):
    reasons = []
    assert bool(found([row], reasons)) == bool(reason)
    assert reasons == ([reason] if reason else [])


def test_without_zookeeper_the_views_tell():
    partition = {"topic_digest": "d", "topic": "t", "partition": 0, "error": 5, "leader": -1, "leader_epoch": 1}
    row = ViewPartition(**partition, replicas=(0,), isr=(0,), offline_replicas=(0,))
    reasons = []
    assert found([row, row], reasons) == ["0\0t"]
