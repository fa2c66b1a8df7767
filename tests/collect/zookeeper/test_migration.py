"""Traces of a migration from ZooKeeper to KRaft, and from when on ZooKeeper is no reference. Contents as 3.9.1 wrote them."""

from contextlib import ExitStack
from dataclasses import replace

import pytest

from collect.columns import collected, rows_of
from collect.fakes import FakeZookeeper
from collect.zookeeper.test_zookeeper_view import failed, look, text, znodes
from hostile_parties.broker import HostileBroker
from hostile_parties.zookeeper import HostileZookeeper, kafka_tree
from kafka_audit.checks.audit.source_not_collected import source_not_collected
from kafka_audit.cluster.view import ClusterView
from kafka_audit.collect.sampling import sample_again, sample_differences
from kafka_audit.collect.sampling.sample_again import ExaminedSample
from kafka_audit.collect.sampling.sample_differences import SampleTables
from kafka_audit.collect.snapshot import take_snapshot
from kafka_audit.collect.zookeeper import migration
from kafka_audit.collect.zookeeper.znodes import ZnodeError
from kafka_audit.model.cluster import Cluster, Limits, ZookeeperAccess
from kafka_audit.model.finding import Status
from kafka_audit.model.tables import (
    AclHolder,
    BrokerApi,
    BrokerIdentity,
    BrokerView,
    Migration,
    QuorumView,
    RegisteredBroker,
    RegisteredEndpoint,
    RegisteredPartition,
    Registry,
    SnapshotInfo,
    SourceRead,
)
from made_rows import made, of

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
        migration.migration_row(1, None, broken)


def view(broker, controller):
    return made(BrokerView, broker_id=broker, kafka_cluster_id="the-id", controller_id=controller)


def test_random_controllers_of_metadata_are_no_difference_while_a_kraft_controller_leads():
    rows = [row for row in look(FakeZookeeper(znodes() | {"/controller": CLAIM})) if isinstance(row, Registry | Migration)]
    reasons = sample_differences.find_sample_differences(SampleTables(collected([*rows, view(0, 1), view(1, 0)]))).reasons
    assert not [reason for reason in reasons if "controller" in reason]
    left = [row for row in rows if not isinstance(row, Migration)]
    assert "ZooKeeper has no /controller" in sample_differences.find_sample_differences(SampleTables(collected(left))).reasons


def without_zookeeper(rows):
    return rows_of(migration.without_zookeeper(collected(rows)))


def offers(broker, *keys, observer=None):
    """What a party answers to ApiVersions: the read, and its rows."""
    observer = observer or f"broker:{broker}"
    read = SourceRead(sample=1, observer=observer, operation="ApiVersions", target=f"h{broker}:1", outcome="answered")
    apis = [BrokerApi(observer=observer, broker_id=broker, api_key=key, min_version=0, max_version=1) for key in keys]
    return [read, *apis]


ZOOKEEPER_MODE, KRAFT = (3, 32), (3, 32, 55)


def session(broker, owner=7):
    return made(RegisteredBroker, broker_id=broker, ephemeral_owner=owner, czxid=1, mzxid=1)


def held_by_zookeeper(*registered, claim=None, is_read=True):
    """What ZooKeeper has, with these registrations; `claim` is a KRaft controller in /controller, and -1 only /migration."""
    kept = [row for row in look(FakeZookeeper(znodes())) if not isinstance(row, RegisteredBroker | RegisteredEndpoint)]
    if not is_read:
        kept = [replace(row, brokers_pzxid=None) if isinstance(row, Registry) else row for row in kept]
    controller = None if claim == -1 else claim
    trace = made(Migration, begun=True, kraft_controller_id=controller, kraft_controller_epoch=1, metadata_offset=1)
    return [*kept, *registered, *([] if claim is None else [trace])]


def quorum(broker):
    quorum = {"leader_id": broker, "leader_epoch": 1, "high_watermark": 1}
    return QuorumView(sample=1, observer=f"broker:{broker}", node_id=broker, **quorum)


def assert_zookeeper_stays(rows, *contradicting):
    """The registry stays the reference; exactly these parties contradict it, and count for nothing where KRaft is concerned."""
    left = without_zookeeper(rows)
    assert of(left, Registry) == of(rows, Registry)
    assert of(left, RegisteredBroker) == of(rows, RegisteredBroker)
    assert of(left, RegisteredPartition) == of(rows, RegisteredPartition)
    assert not migration.runs_without_zookeeper(rows)
    assert not migration.runs_without_zookeeper(left)
    assert_contradicting(left, *contradicting)


def assert_zookeeper_goes(rows, *contradicting):
    left = without_zookeeper(rows)
    assert of(left, Registry) == of(left, RegisteredBroker) == of(left, RegisteredPartition) == []
    assert migration.runs_without_zookeeper(rows)
    assert migration.runs_without_zookeeper(left)
    assert_contradicting(left, *contradicting)


def assert_contradicting(left, *contradicting):
    failed_reads = {read.observer: (read.operation, read.error) for read in of(left, SourceRead) if read.outcome == "failed"}
    assert failed_reads == dict.fromkeys(contradicting, ("ApiVersions", "contradicts ZooKeeper"))
    for table in (BrokerApi, QuorumView):
        assert not {row.observer for row in of(left, table)} & set(contradicting)


def test_one_registered_broker_of_three_that_claims_kraft_decides_nothing():
    rows = held_by_zookeeper(session(0), session(1), session(2))
    honest = [*offers(0, *ZOOKEEPER_MODE), *offers(1, *ZOOKEEPER_MODE)]
    assert_zookeeper_stays([*rows, *honest, *offers(2, *ZOOKEEPER_MODE)])
    assert_zookeeper_stays([*rows, *honest, *offers(2, *KRAFT), quorum(2)], "broker:2")
    assert_zookeeper_stays([*rows, *offers(2, *KRAFT), quorum(2)], "broker:2")  # no other broker answers
    every = [*offers(0, *KRAFT), *offers(1, *KRAFT), *offers(2, *KRAFT)]
    assert_zookeeper_stays([*rows, *every], "broker:0", "broker:1", "broker:2")


@pytest.mark.parametrize("owner", [7, 0], ids=["with a session", "a znode without a session"])
@pytest.mark.parametrize("claim", [None, -1, 3000], ids=["no migration", "prepared", "dual write"])
def test_a_fourth_broker_that_only_a_znode_lists_decides_nothing(owner, claim):
    rows = [*held_by_zookeeper(session(0), session(1), session(2), session(9, owner), claim=claim)]
    honest = [row for broker in range(3) for row in offers(broker, *ZOOKEEPER_MODE)]
    assert_zookeeper_stays([*rows, *honest, *offers(9, *KRAFT), quorum(9)], "broker:9")


def test_an_address_of_the_cluster_file_that_is_another_cluster_s_decides_nothing():
    rows = [*held_by_zookeeper(session(0), session(1)), *offers(0, *ZOOKEEPER_MODE), *offers(1, *ZOOKEEPER_MODE)]
    assert_zookeeper_stays([*rows, *offers(-1, *KRAFT, observer="broker@h-1:1")], "broker@h-1:1")


def test_an_address_of_the_cluster_file_is_the_broker_that_answers_there():
    """A registered broker that claims KRaft at an address of the cluster file alone is as contradictory as at its own."""
    identity = BrokerIdentity(sample=1, broker_id=-1, listener="bootstrap", address="h-1:1", answered_by=0, kafka_cluster_id=None)
    rows = [*held_by_zookeeper(session(0), session(1), claim=3000), *offers(-1, *KRAFT, observer="broker@h-1:1")]
    assert_zookeeper_stays([*rows, identity, *offers(1, *ZOOKEEPER_MODE)], "broker@h-1:1")
    assert_zookeeper_goes([*rows, replace(identity, answered_by=2), *offers(1, *ZOOKEEPER_MODE)])


@pytest.mark.parametrize("claim", [3000, None])
def test_where_a_migration_has_finished_nothing_is_compared_with_zookeeper(claim):
    rows = held_by_zookeeper(claim=claim)
    every = [row for broker in range(3) for row in offers(broker, *KRAFT)]
    assert_zookeeper_goes([*rows, *every, quorum(0)])
    assert of(without_zookeeper([*rows, *every, quorum(0)]), QuorumView) == [quorum(0)]
    assert_zookeeper_goes([*rows, session(2, owner=0), *every])  # a znode that was left behind is no broker


def test_acls_and_traces_are_kept_where_zookeeper_goes():
    read = SourceRead(sample=1, observer="zookeeper", operation="zookeeper /brokers/ids", target="zk", outcome="answered")
    held = [
        AclHolder(sample=1, observer=observer, broker_id=own, acls_digest="d", acls=0)
        for observer, own in (("zookeeper", None), ("broker:0", 0))
    ]
    rows = [*held_by_zookeeper(claim=3000), *held, read, *offers(0, *KRAFT)]
    without = without_zookeeper(rows)
    assert [holder.observer for holder in of(without, AclHolder)] == ["broker:0"]
    assert of(without, Migration) == of(rows, Migration)
    assert read in without


@pytest.mark.parametrize("converted", [{0}, {2}, {0, 1}, {1, 2}])
def test_midway_brokers_without_a_session_have_changed_and_the_others_have_not(converted):
    rows = held_by_zookeeper(*(session(broker) for broker in range(3) if broker not in converted), claim=3000)
    offered = [offers(broker, *(KRAFT if broker in converted else ZOOKEEPER_MODE)) for broker in range(3)]
    for order in (offered, offered[::-1]):
        assert_zookeeper_goes([*rows, *(row for answer in order for row in answer)])
    # ZooKeeper names no controller that took over, and brokers hold sessions: then it is the reference, whatever one says.
    names = [f"broker:{broker}" for broker in sorted(converted)]
    unnamed = [row for row in rows if not isinstance(row, Migration)]
    assert_zookeeper_stays([*unnamed, *(row for answer in offered for row in answer)], *names)


def test_a_broker_that_was_just_restarted_in_kraft_mode_settles_with_the_end_of_its_session():
    first = [*offers(0, *KRAFT), *offers(1, *ZOOKEEPER_MODE), *offers(2, *ZOOKEEPER_MODE)]
    rows = held_by_zookeeper(session(0), session(1), session(2), claim=3000)
    assert_zookeeper_stays([*rows, *first], "broker:0")
    before = without_zookeeper([*rows, *first])
    assert "broker 0 at h0:1 contradicts ZooKeeper" in (sample_again.why_again(ExaminedSample(collected(before))) or "")
    assert sample_again.session_wait(collected(before)) == sample_again.SESSION_S + sample_again.TICK_S
    later = held_by_zookeeper(session(1), session(2), claim=3000)
    assert_zookeeper_goes([*later, *first])
    now = without_zookeeper([*later, *first])
    assert sample_again.session_wait(collected(now)) == 0
    assert "contradicts" not in (
        sample_again.why_once_more(ExaminedSample(collected(before)), ExaminedSample(collected(now))) or ""
    )
    # Another one had changed before: then that brokers run without ZooKeeper is certain, and only this one is in doubt.
    second = [*offers(0, *KRAFT), *offers(1, *KRAFT), *offers(2, *ZOOKEEPER_MODE)]
    assert_zookeeper_goes([*later, *second], "broker:1")


def test_a_contradiction_that_stays_has_settled():
    rows = [*held_by_zookeeper(session(0), session(1)), *offers(0, *ZOOKEEPER_MODE), *offers(1, *KRAFT)]
    left = without_zookeeper(rows)
    assert sample_again.why_once_more(ExaminedSample(collected(left)), ExaminedSample(collected(left))) is None


def test_registrations_that_cannot_be_read_may_be_sessions():
    every = [*offers(0, *KRAFT), *offers(1, *KRAFT)]
    unread = SourceRead(
        sample=1, observer="zookeeper", operation="zookeeper /brokers/ids/1", target="zk", outcome="failed", error="unreadable"
    )
    left = without_zookeeper([*held_by_zookeeper(), *every, unread])
    assert of(left, Registry)
    assert not migration.runs_without_zookeeper(left)
    for rows in (held_by_zookeeper(is_read=False), [*held_by_zookeeper(), replace(unread, operation="zookeeper /brokers/ids")]):
        assert of(without_zookeeper([*rows, *every]), Registry)
    assert_zookeeper_goes([*held_by_zookeeper(is_read=False, claim=3000), *every])


def test_where_zookeeper_was_not_read_all_brokers_must_agree():
    assert migration.runs_without_zookeeper([*offers(0, *KRAFT), *offers(1, *KRAFT)])
    assert not migration.runs_without_zookeeper([*offers(0, *KRAFT), *offers(1, *ZOOKEEPER_MODE)])
    assert not migration.runs_without_zookeeper([])


@pytest.mark.parametrize("hostile", [2, 9], ids=["one of three", "a fourth that a znode lists"])
def test_a_hostile_broker_does_not_take_zookeeper_out_of_an_audit(hostile):
    with ExitStack() as stack:
        parties = {broker: stack.enter_context(HostileBroker(broker)) for broker in {0, 1, 2, hostile}}
        addresses = {broker: (party.host, party.port) for broker, party in parties.items()}
        for party in parties.values():
            party.brokers, party.controller_id = addresses, 0
        parties[hostile].apis[55] = (0, 1)
        endpoints = {broker: {"PLAINTEXT": ("PLAINTEXT", *address)} for broker, address in addresses.items()}
        zookeeper = stack.enter_context(HostileZookeeper(kafka_tree(endpoints, {})))
        access = ZookeeperAccess(connect=zookeeper.address)
        # The session's end is not waited for: there is no time for another sample.
        cluster = Cluster(name="c", zookeeper=access, limits=Limits(read_s=10.0, settle_s=0.1, audit_s=12.0))
        lines = []
        snapshot = take_snapshot(cluster, snapshot_id="s", say=lines.append, secrets={})
    assert [row.mode for row in snapshot.of(SnapshotInfo)] == ["zookeeper"]
    assert {row.broker_id for row in snapshot.of(RegisteredBroker)} == {0, 1, 2, hostile}
    assert snapshot.of(Registry)
    assert any(f"broker {hostile} at {parties[hostile].address} contradicts ZooKeeper" in line for line in lines)
    judged = {
        judgement.resource: judgement
        for judgement in source_not_collected(ClusterView.of_files(snapshot))
        if judgement.status is Status.FAIL
    }
    assert set(judged) == {f"broker/{hostile}"}
    assert "contradicts ZooKeeper" in judged[f"broker/{hostile}"].evidence["error"]
