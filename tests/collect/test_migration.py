"""Traces of a migration from ZooKeeper to KRaft, and from when on ZooKeeper is no reference. Contents as 3.9.1 wrote them."""

import pytest

from collect.fakes import FakeZookeeper
from collect.test_zookeeper import failed, look, of, text, znodes
from kafka_audit.collect import differences, migration
from kafka_audit.collect.differences import Tables
from kafka_audit.collect.znodes import ZnodeError
from kafka_audit.model.tables import AclHolder, BrokerApi, BrokerView, Migration, RegisteredBroker, Registry, SourceRead

PREPARED = {"version": 0, "kraft_metadata_offset": -1, "kraft_controller_id": -1, "kraft_metadata_epoch": -1}
CLAIM = text({"version": 2, "brokerid": 3000, "timestamp": "1795309769771", "kraftControllerEpoch": 4})


def test_an_ordinary_cluster_leaves_no_trace():
    rows = look(FakeZookeeper(znodes()))
    assert of(rows, Migration) == []
    old = znodes() | {"/controller": text({"version": 2, "brokerid": 1, "timestamp": "1", "kraftControllerEpoch": -1})}
    (registry,) = of(look(FakeZookeeper(old)), Registry)
    assert registry.controller_id == 1


def test_controllers_that_wait_have_not_taken_over():
    rows = look(FakeZookeeper(znodes() | {"/migration": text(PREPARED)}))
    (row,) = of(rows, Migration)
    assert (row.begun, row.kraft_controller_id, row.metadata_offset) == (True, None, -1)
    (registry,) = of(rows, Registry)
    assert registry.controller_id == 1


def test_a_kraft_controller_in_controller_is_no_broker():
    rows = look(FakeZookeeper(znodes() | {"/migration": text(PREPARED | {"kraft_metadata_offset": 101}), "/controller": CLAIM}))
    (row,) = of(rows, Migration)
    assert (row.kraft_controller_id, row.kraft_controller_epoch, row.metadata_offset) == (3000, 4, 101)
    (registry,) = of(rows, Registry)
    assert registry.controller_id is None
    assert failed(rows) == {}


@pytest.mark.parametrize("broken", [b"[]", b"{", text({"kraft_metadata_offset": "x"}), text({"kraft_metadata_offset": 2**70})])
def test_a_broken_znode_is_a_failed_read(broken):
    rows = look(FakeZookeeper(znodes() | {"/migration": broken}))
    assert set(failed(rows)) == {"zookeeper /controller"}
    assert of(rows, Migration) == []
    with pytest.raises(ZnodeError):
        migration.row(1, None, broken)


def view(broker, controller):
    head = {"sample": 1, "observer": f"broker:{broker}", "broker_id": broker, "listener": "PLAINTEXT", "address": "a:1"}
    counts = {"brokers_listed": 2, "topics_listed": 0, "brokers_digest": "b", "topics_digest": "t", "metadata_version": 12}
    return BrokerView(**head, **counts, kafka_cluster_id="the-id", controller_id=controller)


def test_random_controllers_of_metadata_are_no_difference_while_a_kraft_controller_leads():
    rows = [one for one in look(FakeZookeeper(znodes() | {"/controller": CLAIM})) if isinstance(one, Registry | Migration)]
    reasons = differences.find(Tables([*rows, view(0, 1), view(1, 0)])).reasons
    assert not [one for one in reasons if "controller" in one]
    left = [one for one in rows if not isinstance(one, Migration)]
    assert "ZooKeeper has no /controller" in differences.find(Tables(left)).reasons


def api(broker, key):
    return BrokerApi(observer=f"broker:{broker}", broker_id=broker, api_key=key, min_version=0, max_version=1)


def test_where_a_broker_runs_without_zookeeper_nothing_is_compared_with_it():
    read = SourceRead(sample=1, observer="zookeeper", operation="zookeeper /brokers/ids", target="zk", outcome="answered")
    held = [
        AclHolder(sample=1, observer=one, broker_id=own, acls_digest="d", acls=0)
        for one, own in (("zookeeper", None), ("broker:0", 0))
    ]
    trace = Migration(
        sample=1, begun=True, kraft_controller_id=3000, kraft_controller_epoch=1, metadata_offset=1, metadata_epoch=1
    )
    rows = [*look(FakeZookeeper(znodes())), *held, read, trace]
    with_it = migration.without_zookeeper([*rows, api(0, 3), api(1, 3)])
    assert len(with_it) == len(rows) + 2
    without = migration.without_zookeeper([*rows, api(0, 55), api(1, 3)])
    assert of(without, Registry) == of(without, RegisteredBroker) == []
    assert [one.observer for one in of(without, AclHolder)] == ["broker:0"]
    assert trace in without
    assert read in without
