"""Whole snapshots of fake brokers, without ZooKeeper: what is asked when, what is kept, what is never raised."""

import logging
import re
import threading
import time
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest

from collect import fakes
from collect.fakes import FakeBroker, server
from kafka_audit import checks
from kafka_audit.collect import snapshot as snapshot_module
from kafka_audit.collect.snapshot import take_snapshot
from kafka_audit.model.cluster import Cluster, Expect, Limits, Vantage, ZookeeperAccess
from kafka_audit.model.errors import UsageError
from kafka_audit.model.tables import (
    BOOTSTRAP,
    LARGE,
    TABLES,
    Acl,
    AclHolder,
    BrokerApi,
    BrokerConfig,
    BrokerIdentity,
    BrokerProperty,
    BrokerView,
    LogDir,
    Probe,
    Reassignment,
    Sample,
    Snapshot,
    SnapshotInfo,
    SourceRead,
    ViewBroker,
    ViewTopic,
)

AMPLE = Limits(read_s=60.0, settle_s=0.2, audit_s=600.0)
NEVER = 3600.0  # seconds that no test lasts
NOBODY = "127.0.0.1:1"


@pytest.fixture
def brokers():
    """Three brokers that agree."""
    with ExitStack() as stack:
        found = [FakeBroker(number) for number in range(3)]
        addresses = {broker.id: stack.enter_context(server(broker)) for broker in found}
        for broker in found:
            broker.brokers = dict(addresses)
            broker.controller_id = 1
            broker.topics = {"orders": {0: (0, [0, 1, 2]), 1: (1, [1, 2, 0])}}
            broker.address = "{}:{}".format(*addresses[broker.id])
        yield found


def cluster(*bootstrap, **options):
    return Cluster(**{"name": "c", "bootstrap": tuple(bootstrap), "limits": AMPLE, **options})


def snap(described, lines=None):
    return take_snapshot(described, snapshot_id="s", say=(lines if lines is not None else []).append, secrets={})


def test_brokers_that_agree_are_asked_once(brokers):
    lines = []
    snapshot = snap(cluster(brokers[0].address), lines)
    # The first one's address is the bootstrap address, which is asked for the list of brokers before.
    assert [(len(broker.asked(3)), len(broker.asked(60))) for broker in brokers] == [(2, 1), (1, 1), (1, 1)]
    (info,) = snapshot.of(SnapshotInfo)
    assert (info.mode, info.samples, info.cluster, info.client_vantages) == ("kraft", 1, "c", 1)
    assert (snapshot.snapshot_id, snapshot.cluster, snapshot.cluster_id) == ("s", "c", "fake")
    assert {view.observer: view.listener for view in snapshot.of(BrokerView)} == dict.fromkeys(
        ("broker:0", "broker:1", "broker:2"), "bootstrap"
    )
    assert {identity.broker_id: identity.answered_by for identity in snapshot.of(BrokerIdentity)} == {0: 0, 1: 1, 2: 2}
    assert len(snapshot.of(ViewBroker)) == 3
    assert len(snapshot.of(ViewTopic)) == 1
    assert {row.outcome for row in snapshot.of(SourceRead)} == {"answered"}
    assert any("asking broker 2 at" in line for line in lines)
    assert {type(row) for row in snapshot.rows} <= {*TABLES} - {*LARGE}
    assert snapshot.large.keys() == {*LARGE}


def test_a_view_that_differs_is_looked_at_again_and_kept_twice(brokers):
    brokers[2].topics, brokers[2].brokers, brokers[2].controller_id = {}, {}, -1
    lines = []
    snapshot = snap(cluster(brokers[0].address), lines)
    assert [sample.sample for sample in snapshot.of(Sample)] == [1, 2]
    assert "broker 2 and the other brokers show different views" in snapshot.of(Sample)[1].reason
    found = "broker 2 and the other brokers show different views"
    assert any(re.fullmatch(rf"so far: .*{found}.*; looking again", line) for line in lines)
    assert any(re.fullmatch(rf"confirmed: .*{found}.*", line) for line in lines)
    assert [(view.sample, view.brokers_listed) for view in snapshot.of(BrokerView) if view.broker_id == 2] == [(1, 0), (2, 0)]
    assert snapshot.of(Sample)[1].started_ms - snapshot.of(Sample)[0].started_ms >= 200
    assert len(snapshot.of(BrokerConfig)) == 3
    assert len({(row.observer, row.api_key) for row in snapshot.of(BrokerApi)}) == len(snapshot.of(BrokerApi))


def test_a_difference_that_heals_ends_the_looking(brokers):
    whole = brokers[2].topics
    brokers[2].topics = {}

    lines = []

    def heal(line):
        lines.append(line)
        if line.startswith("so far: "):
            brokers[2].topics = whole

    snapshot = take_snapshot(cluster(brokers[0].address), snapshot_id="s", say=heal, secrets={})
    assert "withdrawn: the last look shows no difference" in lines
    assert not any(line.startswith("confirmed") for line in lines)
    assert snapshot.of(SnapshotInfo)[0].samples == 2
    newest = [view for view in snapshot.of(BrokerView) if view.sample == 2]
    assert len({view.topics_digest for view in newest}) == 1


def test_what_never_settles_is_given_up_after_four_looks_and_two_are_kept(brokers):
    looks = []

    def hang_up(*_):
        raise ConnectionAbortedError

    def another_one_each_time(line):
        if line.startswith("asking 2 bootstrap addresses"):
            looks.append(line)
            for broker in brokers:
                broker._metadata = hang_up if broker.id == len(looks) % 3 else partial(FakeBroker._metadata, broker)

    described = cluster(brokers[0].address, brokers[1].address)
    snapshot = take_snapshot(described, snapshot_id="s", say=another_one_each_time, secrets={})
    assert snapshot.of(SnapshotInfo)[0].samples == len(looks) == 4
    assert [sample.sample for sample in snapshot.of(Sample)] == [3, 4]
    assert {row.sample for row in snapshot.of(SourceRead)} == {3, 4}


def test_time_that_is_over_ends_the_looking(brokers):
    brokers[2].topics = {}
    lines = []
    limits = Limits(read_s=60.0, settle_s=2 * NEVER, audit_s=NEVER)
    snapshot = snap(cluster(brokers[0].address, limits=limits), lines)
    assert snapshot.of(SnapshotInfo)[0].samples == 1
    assert any("audit_s leaves no time" in line for line in lines)


def test_an_address_that_answers_late_is_not_waited_for_and_its_brokers_are_asked_all_the_same(brokers, monkeypatch):
    first, late, _ = brokers
    first.brokers = {0: first.brokers[0]}
    asked = threading.Event()
    answer_first, answer_late = first._configs, late._metadata
    monkeypatch.setattr(first, "_configs", lambda *arguments: asked.set() or answer_first(*arguments))
    monkeypatch.setattr(late, "_metadata", lambda *arguments: asked.wait() and answer_late(*arguments))
    snapshot = snap(cluster(first.address, late.address, limits=AMPLE))
    assert {view.broker_id for view in snapshot.of(BrokerView) if view.sample == 1} >= {0, 1, 2}
    assert {probe.broker_id for probe in snapshot.of(Probe) if probe.sample == 1} >= {0, 1, 2}


def test_a_broker_that_hangs_costs_its_own_rows_and_one_deadline(brokers, monkeypatch):
    """Time passes while it is waited for: what is left until the next sample counts from when the others had answered."""
    connections, slept = [], []
    clock = SimpleNamespace(monotonic=time.monotonic, sleep=slept.append)
    monkeypatch.setattr(snapshot_module, "time", clock)
    with server(lambda connection: connections.append(1) or fakes.silent(connection)) as hanging:
        for broker in brokers:
            broker.brokers = {**broker.brokers, 9: hanging}
        snapshot = snap(cluster(brokers[0].address, limits=replace(AMPLE, read_s=4.0, settle_s=1.0)))
    assert slept == [0.0]
    assert len(connections) == snapshot.of(SnapshotInfo)[0].samples == 2
    failed = {row.observer for row in snapshot.of(SourceRead) if row.outcome == "failed"}
    assert failed == {"broker:9"}
    assert {view.broker_id for view in snapshot.of(BrokerView)} == {0, 1, 2}


def test_an_audit_that_is_over_tells_what_it_did_not_get(brokers):
    with server(fakes.silent) as hanging:
        for broker in brokers:
            broker.brokers = {**broker.brokers, 9: hanging}
        limits = Limits(read_s=NEVER, settle_s=0.1, audit_s=5.0)
        snapshot = snap(cluster(brokers[0].address, limits=limits))
    late = [row for row in snapshot.of(SourceRead) if row.observer == "broker:9"]
    assert {(row.operation, row.outcome, row.error) for row in late} >= {("Metadata", "failed", "timeout")}


def test_nobody_anywhere_is_rows_and_an_id_of_our_own():
    zookeeper = ZookeeperAccess(connect=NOBODY)
    snapshot = snap(cluster(NOBODY, zookeeper=zookeeper))
    assert snapshot.cluster_id == Snapshot.UNKNOWN_ID + "c"
    assert snapshot.of(SnapshotInfo)[0].mode == "zookeeper"
    assert {row.outcome for row in snapshot.of(SourceRead)} == {"failed"}
    assert {row.observer for row in snapshot.of(SourceRead)} == {"zookeeper", f"zookeeper@{NOBODY}", f"broker@{NOBODY}"}
    assert snap(cluster(NOBODY, expect=Expect(cluster_id="known"))).cluster_id == "known"


def test_without_zookeeper_the_brokers_are_asked_all_the_same(brokers):
    snapshot = snap(cluster(brokers[0].address, zookeeper=ZookeeperAccess(connect=NOBODY)))
    assert {view.broker_id for view in snapshot.of(BrokerView)} == {0, 1, 2}
    assert snapshot.cluster_id == "fake"


def test_a_wrong_broker_behind_an_address_is_seen(brokers):
    for broker in brokers:
        broker.brokers = {**broker.brokers, 2: brokers[1].brokers[1]}
    snapshot = snap(cluster(brokers[0].address))
    assert {(identity.broker_id, identity.answered_by) for identity in snapshot.of(BrokerIdentity)} == {(0, 0), (1, 1), (2, 1)}
    assert "answers at" in snapshot.of(Sample)[1].reason


def test_an_undecodable_view_is_a_failed_read(brokers):
    class Odd(FakeBroker):
        def _answer(self, connection, request):
            if request[:2] == b"\0\3":
                connection.sendall(b"\0\0\0\x09" + request[4:8] + b"\0\xff\xff\xff\xff")
            else:
                super()._answer(connection, request)

    odd = Odd(8)
    with server(odd) as address:
        for broker in brokers:
            broker.brokers = {**broker.brokers, 8: address}
        snapshot = snap(cluster(brokers[0].address))
    (read, _) = [row for row in snapshot.of(SourceRead) if (row.observer, row.operation) == ("broker:8", "Metadata")]
    assert (read.outcome, read.error) == ("failed", "unreadable")


def test_a_vantage_belongs_to_the_snapshot(brokers):
    vantages = (Vantage(name="here", command=("env",)), Vantage(name="far", queue="dmz"))
    snapshot = snap(cluster(brokers[0].address, vantages=vantages))
    (info,) = snapshot.of(SnapshotInfo)
    assert (info.client_vantages, info.broker_vantages, info.samples) == (2, 0, 1)
    assert {(row.vantage, row.outcome) for row in snapshot.of(Probe)} == {("worker", "ok"), ("here", "ok"), ("far", "unknown")}


AMONG_BROKERS = Vantage(name="hosts", command=("env",), role="broker")


def reached_between_brokers(snapshot):
    """Return how far probes from brokers' hosts came at listener INTERNAL, by host where it is another than loopback."""
    rows = [row for row in snapshot.of(Probe) if row.listener == "INTERNAL"]
    assert {row.role for row in rows} <= {"broker"}, "clients need not reach it"
    return {
        (row.from_broker, row.broker_id): (row.layer, row.outcome, row.error)
        for row in rows
        if row.layer in {"tcp", "api"} or row.error
    }


def with_internal(broker, host, port, protocol="PLAINTEXT"):
    broker.configs |= {
        "advertised.listeners": (f"EXTERNAL://e.example:9092,INTERNAL://{host}:{port}", False),
        "inter.broker.listener.name": ("INTERNAL", False),
        "listener.security.protocol.map": (f"EXTERNAL:PLAINTEXT,INTERNAL:{protocol}", False),
    }


def test_a_listener_that_only_settings_name_is_probed_from_brokers_hosts_and_asked_nothing(brokers):
    with ExitStack() as stack:
        internal = [FakeBroker(broker.id) for broker in brokers]
        for broker, inside in zip(brokers, internal, strict=True):
            with_internal(broker, *stack.enter_context(server(inside)))
        with_internal(brokers[2], "169.254.169.254", 9094)
        snapshot = snap(cluster(brokers[0].address, vantages=(AMONG_BROKERS,)))
    reached = reached_between_brokers(snapshot)
    assert {pair for pair, how in reached.items() if how == ("api", "ok", None)} == {(at, to) for at in range(3) for to in (0, 1)}
    refused = ("tcp", "unknown", "not dialled: link-local address")
    assert {how for (_, to), how in reached.items() if to == 2} == {refused}
    assert {key for broker in internal for key, _, _ in broker.requests} <= {18, 32}, "a probe asks for versions and the identity"
    assert {row.listener for row in snapshot.of(BrokerView)} == {BOOTSTRAP}


@pytest.mark.parametrize("described", [True, False])
def test_views_of_two_listeners_differ_by_design_and_are_not_looked_at_again(brokers, described):
    with ExitStack() as stack:
        inside = [FakeBroker(broker.id) for broker in brokers]
        addresses = {broker.id: stack.enter_context(server(broker)) for broker in inside}
        for one, other in zip(inside, brokers, strict=True):
            one.brokers, one.topics, one.controller_id = addresses, other.topics, other.controller_id
            if described:
                outer = other.address
                names = f"EXTERNAL://{outer},INTERNAL://{addresses[one.id][0]}:{addresses[one.id][1]}"
                for side in (one, other):
                    side.configs["advertised.listeners"] = (names, False)
        both = cluster(brokers[0].address, "{}:{}".format(*addresses[0]))
        snapshot = snap(both)
        assert [row.reason for row in snapshot.of(Sample)] == ["first"]
        named = {"EXTERNAL", "INTERNAL"} if described else {BOOTSTRAP}
        assert {row.listener for row in snapshot.of(BrokerView)} == named
        # A list that is another on the same listener is still looked at again.
        brokers[2].brokers = {key: place for key, place in brokers[2].brokers.items() if key != 1}
        assert len(snap(both).of(Sample)) > 1


def test_the_file_of_a_broker_that_may_not_be_asked_says_where_brokers_reach_it(brokers, tmp_path):
    with server(FakeBroker(0)) as (host, port):
        brokers[0].may_describe_configs = False
        brokers[0].operations = 1 << 8
        (tmp_path / "0").write_text(
            f"node.id=0\nadvertised.listeners=INTERNAL://{host}:{port}\ninter.broker.listener.name=INTERNAL\n"
            "listener.security.protocol.map=INTERNAL:PLAINTEXT\n"
        )
        snapshot = snap(cluster(brokers[0].address, vantages=(AMONG_BROKERS,), properties=(str(tmp_path / "{broker_id}"),)))
    assert reached_between_brokers(snapshot) == {(at, 0): ("api", "ok", None) for at in range(3)}


def test_a_listener_between_brokers_that_is_known_or_left_out_is_not_probed_once_more(brokers):
    for broker in brokers:
        host, port = broker.address.split(":")
        with_internal(broker, host, port)  # the bootstrap address is of the same listener
    known = snap(cluster(brokers[0].address, vantages=(AMONG_BROKERS,)))
    pairs = [(row.from_broker, row.broker_id) for row in known.of(Probe) if (row.vantage, row.layer) == ("hosts", "api")]
    assert sorted(pairs) == [(at, to) for at in range(3) for to in range(3)]
    for broker in brokers:
        with_internal(broker, *fakes.refused())
    left_out = snap(cluster(brokers[0].address, vantages=(AMONG_BROKERS,), listeners={"INTERNAL": None}))
    assert reached_between_brokers(left_out) == {}


@pytest.mark.parametrize("options", [{}, {"bootstrap": ("nowhere",)}])
def test_a_cluster_file_that_leads_nowhere_is_a_usage_error(options):
    with pytest.raises(UsageError, match=r"clusters\.c"):
        snap(cluster(**options))


def test_nothing_is_logged_and_no_thread_is_left(brokers, caplog):
    before = {*threading.enumerate()}
    with server(fakes.garbage) as garbage, caplog.at_level(logging.DEBUG):
        for broker in brokers:
            broker.brokers = {**broker.brokers, 9: garbage}
        snap(cluster(brokers[0].address))
    assert [record.name for record in caplog.records if record.name.startswith("kafka")] == []
    while [thread for thread in {*threading.enumerate()} - before if thread.name.endswith(("(_work)", "(work)"))]:
        time.sleep(0.01)  # one that has handed over its answer is about to end


def test_properties_are_read_once_for_every_broker_that_anybody_names(brokers, tmp_path):
    brokers[2].topics, brokers[2].brokers = {}, {}  # two looks
    for broker in (0, 1):
        (tmp_path / f"{broker}").write_text(f"broker.id={broker}\n")
    snapshot = snap(cluster(brokers[0].address, properties=(str(tmp_path / "{broker_id}"),)))
    assert len(snapshot.of(Sample)) == 2
    reads = {read.observer: (read.sample, read.outcome) for read in snapshot.of(SourceRead) if read.operation == "properties"}
    assert reads == {"properties:0": (2, "answered"), "properties:1": (2, "answered"), "properties:2": (2, "failed")}
    assert {(setting.broker_id, setting.key, setting.value) for setting in snapshot.of(BrokerProperty)} == {
        (0, "broker.id", "0"),
        (1, "broker.id", "1"),
    }


def test_nothing_is_said_of_properties_that_nobody_named(brokers):
    assert not [read for read in snap(cluster(brokers[0].address)).of(SourceRead) if "properties" in read.operation]


def _talkative(brokers):
    for broker in brokers:
        broker.apis |= {29: (0, 3), 35: (0, 4), 46: (0, 0), 55: (0, 1)}
        broker.acls = [(4, "kafka-cluster", 3, [("User:kafka", "*", 9, 3)])]
    brokers[0].reassignments = {("orders", 0): ((0, 1, 2), (2,), ())}
    brokers[2].topics, brokers[2].brokers = {}, {}  # two looks


def test_what_no_difference_rests_on_is_kept_once_and_acl_sets_by_content(brokers):
    _talkative(brokers)
    brokers[1].acls = [*brokers[1].acls, (2, "*", 3, [("User:a", "*", 3, 3)])]
    snapshot = snap(cluster(brokers[0].address))
    assert [(row.sample, row.observer) for row in snapshot.of(Reassignment)] == [(2, "broker:0")]
    assert [(holder.sample, holder.broker_id, holder.acls) for holder in snapshot.of(AclHolder)] == [
        (look, broker, 2 if broker == 1 else 1) for look in (1, 2) for broker in (0, 1, 2)
    ]
    assert len(snapshot.of(Acl)) == 3
    assert {acl.acls_digest for acl in snapshot.of(Acl)} == {holder.acls_digest for holder in snapshot.of(AclHolder)}


def test_a_replica_that_is_assigned_to_nobody_is_looked_at_twice(brokers):
    """KA507 fails only where two samples show it, in a cluster without any other difference."""
    for broker in brokers:
        broker.apis |= {35: (0, 4)}
    assert {log_dir.sample for log_dir in snap(cluster(brokers[0].address)).of(LogDir)} == {1}
    brokers[2].log_dirs = {"/data": (0, {"orders": [0, 1], "gone": [0]})}
    snapshot = snap(cluster(brokers[0].address))
    assert [(log_dir.sample, log_dir.replicas) for log_dir in snapshot.of(LogDir) if log_dir.broker_id == 2] == [(1, 3), (2, 3)]


def test_no_check_compares_samples_of_what_is_kept_of_one():
    code = "".join(path.read_text() for path in Path(checks.__file__).parent.rglob("*.py"))
    compared = set(re.findall(r"view\.before\((\w+)\)", code))
    assert "LogDir" in compared
    assert not compared & {table.__name__ for table in snapshot_module._ONCE}


def test_a_reassignment_that_ended_between_two_looks_is_gone(brokers):
    _talkative(brokers)
    asked = brokers[0].requests

    class Ending(dict):
        def items(self):
            return () if sum(key == 46 for key, _, _ in asked) > 1 else super().items()

    brokers[0].reassignments = Ending(brokers[0].reassignments)
    snapshot = snap(cluster(brokers[0].address))
    assert len([read for read in snapshot.of(SourceRead) if read.operation == "ListPartitionReassignments"]) == 2
    assert snapshot.of(Reassignment) == ()
