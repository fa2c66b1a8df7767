"""One look at a ZooKeeper in memory, and at addresses where there is none."""

import json
import time

import pytest
from kazoo.exceptions import ConnectionLoss, NoAuthError
from kazoo.handlers.threading import KazooTimeoutError

from collect import fakes
from collect.columns import rows_of
from collect.fakes import FakeZookeeper
from kafka_audit.clients.zookeeper.session import Session
from kafka_audit.collect.rows.source_reads import Asking
from kafka_audit.collect.zookeeper import zookeeper_view
from kafka_audit.collect.zookeeper.replication import PLANNED as REPLICATION
from kafka_audit.collect.zookeeper.security import PLANNED as SECURITY
from kafka_audit.collect.zookeeper.znode_health import HEALTH
from kafka_audit.collect.zookeeper.znode_reads import DecodedZnodes
from kafka_audit.collect.zookeeper.znode_sample import IDS, PLANNED, STATES, ZnodeSample
from kafka_audit.model.cluster import ZookeeperAccess
from kafka_audit.model.errors import UsageError
from kafka_audit.model.tables import (
    RegisteredBroker,
    RegisteredEndpoint,
    RegisteredPartition,
    RegisteredTopic,
    Registry,
    SourceRead,
)
from made_rows import of


def text(content):
    return json.dumps(content).encode()


def state(leader=0, isr=(0, 1), epoch=3):
    return text({"leader": leader, "leader_epoch": epoch, "controller_epoch": 1, "isr": list(isr), "version": 1})


def znodes(chroot=""):
    found = {
        "/brokers/ids/0": text({"endpoints": ["PLAINTEXT://a:9092"], "timestamp": "1"}),
        "/brokers/ids/1": text({"endpoints": ["PLAINTEXT://b:9092"], "timestamp": "2"}),
        "/controller": text({"brokerid": 1}),
        "/controller_epoch": b"5",
        "/cluster/id": text({"version": "1", "id": "the-id"}),
        "/brokers/topics/orders": text({"version": 3, "topic_id": "abc", "partitions": {"0": [0, 1], "1": [1, 0]}}),
        "/brokers/topics/orders/partitions/0/state": state(),
        "/brokers/topics/orders/partitions/1/state": state(1),
        "/brokers/topics/new": text({"version": 3, "topic_id": "def", "partitions": {"0": [0]}}),
        "/admin/delete_topics/orders": b"",
    }
    return {chroot + path: data for path, data in found.items()}


def look(client, earlier=None):
    access = ZookeeperAccess(connect="zk:2181")
    asking = Asking(sample=1, observer="zookeeper", target=access.connect)
    return rows_of(
        ZnodeSample(Session(client=client, access=access), asking, 5.0, time.monotonic() + 3600, earlier=earlier).take()
    )


def held(rows):
    """Return all rows but those that tell how long reads took."""
    return [row for row in rows if not isinstance(row, SourceRead)]


def failed(rows):
    return {row.operation: row for row in of(rows, SourceRead) if row.outcome == "failed"}


def test_the_next_sample_decodes_what_changed(monkeypatch):
    parsed = []
    loads = json.loads
    monkeypatch.setattr(json, "loads", lambda data: parsed.append(bytes(data)) or loads(data))
    earlier, first, partition = DecodedZnodes(), znodes(), "/brokers/topics/orders/partitions/1/state"
    changed = {**first, partition: state(0, (1,), 4), "/brokers/topics/new": text({"partitions": {"0": [1]}})}
    whole, other = held(look(FakeZookeeper(first))), held(look(FakeZookeeper(changed)))
    assert whole != other
    assert held(look(FakeZookeeper(first), earlier)) == whole
    parsed.clear()
    assert held(look(FakeZookeeper(first), earlier)) == whole
    assert not [data for data in parsed if b"partitions" in data or b"isr" in data]
    assert held(look(FakeZookeeper(changed), earlier)) == other
    assert [data for data in parsed if b"partitions" in data] == [changed["/brokers/topics/new"]]
    broken = {**first, "/brokers/topics/new": b"{", partition: b"{"}
    assert failed(look(FakeZookeeper(broken), earlier)).keys() == failed(look(FakeZookeeper(broken))).keys() != set()


@pytest.mark.parametrize("chroot", ["", "/kafka"])
def test_everything_is_read_and_told(chroot):
    rows = look(FakeZookeeper(znodes(chroot), chroot))
    (registry,) = of(rows, Registry)
    assert (registry.kafka_cluster_id, registry.controller_id, registry.controller_epoch) == ("the-id", 1, 5)
    assert (registry.zxid_before, registry.zxid_after) == (100, 100)
    assert [(row.broker_id, row.registered_ms) for row in of(rows, RegisteredBroker)] == [(0, 1), (1, 2)]
    assert [(row.broker_id, row.host) for row in of(rows, RegisteredEndpoint)] == [(0, "a"), (1, "b")]
    assert {row.topic: (row.topic_id, row.deleting) for row in of(rows, RegisteredTopic)} == {
        "orders": ("abc", True),
        "new": ("def", False),
    }
    partitions = {
        (partition.topic, partition.partition): (partition.leader, partition.isr, partition.state_mzxid)
        for partition in of(rows, RegisteredPartition)
    }
    assert partitions == {("orders", 0): (0, (0, 1), 10), ("orders", 1): (1, (0, 1), 10), ("new", 0): (None, None, None)}
    assert {row.operation: row.outcome for row in of(rows, SourceRead)} == {f"zookeeper {path}": "answered" for path in PLANNED}


@pytest.mark.parametrize(
    ("path", "data", "lost"),
    [
        ("/brokers/ids/1", b"{", {"RegisteredBroker": 1, "RegisteredEndpoint": 1}),
        ("/brokers/topics/orders", b"[]", {"RegisteredTopic": 1, "RegisteredPartition": 2}),
        ("/brokers/topics/orders/partitions/1/state", b"\x00", {"RegisteredPartition": 1}),
        ("/brokers/topics/orders/partitions/1/state", NoAuthError(), {"RegisteredPartition": 1}),
    ],
)
def test_a_broken_znode_costs_its_own_rows_and_is_named(path, data, lost):
    whole, rows = look(FakeZookeeper(znodes())), look(FakeZookeeper(znodes() | {path: data}))
    assert list(failed(rows)) == [f"zookeeper {path}"]
    assert path in failed(rows)[f"zookeeper {path}"].needs
    for table in (RegisteredBroker, RegisteredEndpoint, RegisteredTopic, RegisteredPartition):
        assert len(of(whole, table)) - len(of(rows, table)) == lost.get(table.__name__, 0)


@pytest.mark.parametrize("path", ["/controller", "/controller_epoch", "/cluster/id"])
def test_a_broken_single_znode_is_a_failed_read(path):
    assert list(failed(look(FakeZookeeper(znodes() | {path: b"\xfe"})))) == [f"zookeeper {path}"]


def test_absent_znodes_are_an_answer():
    held = znodes()
    for path in ("/controller", "/cluster/id", "/admin/delete_topics/orders"):
        del held[path]
    rows = look(FakeZookeeper(held))
    (registry,) = of(rows, Registry)
    assert (registry.controller_id, registry.controller_mzxid, registry.kafka_cluster_id) == (None, None, None)
    assert failed(rows) == {}


def test_a_right_that_is_missing_is_named():
    read = failed(look(FakeZookeeper(znodes() | {"/brokers/topics": NoAuthError()})))["zookeeper /brokers/topics"]
    assert (read.error, read.needs) == ("NoAuthError", "read permission on /brokers/topics in ZooKeeper")


@pytest.mark.parametrize("error", [KazooTimeoutError("no answer"), ConnectionLoss()])
def test_after_a_lost_session_the_rest_is_not_waited_for(error):
    client = FakeZookeeper(znodes() | {"/controller": error})
    rows = look(client)
    assert list(failed(rows)) == [f"zookeeper {path}" for path in PLANNED if path != IDS]
    assert not any(path.startswith("/brokers/topics") for path in client.single_reads)
    assert len(of(rows, RegisteredBroker)) == 2


def test_a_znode_that_moved_while_we_read_is_read_again():
    client = FakeZookeeper(znodes())
    path = "/brokers/topics/orders/partitions/1/state"

    def move():
        client.last_zxid = 120
        client.znodes[path] = state(0, (0,), 4)
        client.stats[path] = {"mzxid": 118}

    client.stats[path] = {"mzxid": 105}  # written after the first zxid that we saw
    client.then[path] = move
    rows = look(client)
    (moved,) = [
        partition for partition in of(rows, RegisteredPartition) if (partition.topic, partition.partition) == ("orders", 1)
    ]
    assert (moved.leader, moved.leader_epoch, moved.isr, moved.state_mzxid) == (0, 4, (0,), 118)
    (registry,) = of(rows, Registry)
    assert (registry.zxid_before, registry.zxid_after) == (100, 120)


def test_states_that_could_not_be_read_do_not_look_like_absent_ones():
    rows = look(FakeZookeeper(znodes() | {"/brokers/topics/orders/partitions/0/state": ConnectionLoss()}))
    assert list(failed(rows)) == [
        f"zookeeper {path}" for path in (STATES, *REPLICATION, *SECURITY, HEALTH)
    ]  # the session is lost
    assert of(rows, RegisteredPartition) == []


def reads(rows):
    return [row for row in of(rows, SourceRead) if row.observer == "zookeeper"]


def test_nobody_there_is_a_failed_read_per_set():
    host, port = fakes.refused()
    access = ZookeeperAccess(connect=f"{host}:{port}/kafka")
    rows = reads(zookeeper_view.read_zookeeper(access, 1, {}, read_s=60.0, deadline=time.monotonic() + 3600).rows)
    assert {row.operation for row in rows} == {f"zookeeper {path}" for path in PLANNED}
    assert {(row.outcome, row.error, row.target) for row in rows} == {("failed", "connection refused", access.connect)}
    assert all(access.connect in row.needs for row in rows)


@pytest.mark.parametrize("behave", [fakes.silent, fakes.garbage, fakes.closing_at_once])
def test_something_else_there_costs_one_deadline(behave, monkeypatch):
    opened, open_session = [], zookeeper_view.open_session
    monkeypatch.setattr(zookeeper_view, "open_session", lambda *given: opened.append(given[1]) or open_session(*given))
    with fakes.server(behave) as (host, port):
        access = ZookeeperAccess(connect=f"{host}:{port}")
        rows = zookeeper_view.read_zookeeper(access, 1, {}, read_s=1.0, deadline=time.monotonic() + 3600).rows
    rows = of(rows, SourceRead)
    assert {row.outcome for row in rows} == {"failed"}
    assert opened == [1.0], "not one for each set of znodes"


def test_a_password_that_is_missing_is_named_by_its_variable():
    access = ZookeeperAccess(connect="127.0.0.1:1", username="u", password_env="ZK_PASSWORD")  # noqa: S106 -- a variable
    (needs,) = {
        row.needs
        for row in reads(zookeeper_view.read_zookeeper(access, 1, {}, read_s=1.0, deadline=time.monotonic() + 3600).rows)
    }
    assert needs in {"the environment variable ZK_PASSWORD", "the package pure-sasl, with which kazoo logs in"}


@pytest.mark.parametrize("connect", ["", ":2181", "zk:port"])
def test_a_connection_string_that_is_none_is_a_usage_error(connect):
    with pytest.raises(UsageError, match="zookeeper"):
        zookeeper_view.read_zookeeper(ZookeeperAccess(connect=connect), 1, {}, read_s=1.0, deadline=time.monotonic() + 3600)
