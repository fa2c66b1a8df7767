"""A second sample asks only what is in doubt again: what is asked, what is stored, and what checks make of it."""

import copy
from collections import Counter
from dataclasses import replace

import pytest

from cluster_views import cluster_view
from collect.taken import taken_of
from hostile_parties.cluster import HostileCluster
from hostile_parties.party import hang_up
from kafka_audit.checks.metadata.stale_leader import stale_leader
from kafka_audit.cluster.samples import Samples
from kafka_audit.collect.probes import command_vantages
from kafka_audit.collect.sampling import sample_again
from kafka_audit.model.cluster import Vantage
from kafka_audit.model.finding import Status
from kafka_audit.model.tables import (
    BrokerConfig,
    BrokerView,
    LogDir,
    Probe,
    RegisteredBroker,
    RegisteredPartition,
    RegisteredTopic,
    Registry,
    Sample,
    SourceRead,
    TopicConfig,
    ZookeeperNode,
)

STALE = "broker:2"


@pytest.fixture
def cluster():
    """Five brokers; broker 2 has missed that orders-0 has its preferred leader again."""
    with HostileCluster(5) as made:
        held = copy.deepcopy(made.topics)
        _, replicas, epoch, isr = held["orders"][0]
        held["orders"][0] = (replicas[1], replicas, epoch, isr)
        made.brokers[2].topics = held
        elect(made, "orders", 0)
        yield made


def elect(cluster, topic, partition):
    """Elect the leader of a partition anew."""
    leader, replicas, epoch, isr = cluster.topics[topic][partition]
    cluster._write(topic, {**cluster.topics[topic], partition: (leader, replicas, epoch + 1, isr)})


def snap(cluster, between=lambda: None, *, until=sample_again.MOST_SAMPLES, **options):
    """Take a snapshot; `between` runs once, after the first sample."""
    pending = [between]

    def say(line):
        if line.startswith("so far: ") and pending:
            pending.pop()()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sample_again, "MOST_SAMPLES", until)
        return taken_of(cluster, say=say, **options)


def judged(snapshot):
    return {found.resource: found.status for found in stale_leader(cluster_view(snapshot))}


def asked_in(snapshot, sample, operation):
    return {row.observer for row in snapshot.of(SourceRead) if (row.sample, row.operation) == (sample, operation)}


def heal(cluster):
    cluster.brokers[2].topics = cluster.topics


def test_a_stale_broker_is_asked_again_and_no_other(cluster):
    at = []
    snapshot = snap(cluster, lambda: at.append(len(cluster.zookeeper.asked)))
    first, second = snapshot.of(Sample)
    assert (first.asked_again, second.asked_again) == (None, (STALE, "zookeeper"))
    assert (first.topics_again, second.topics_again) == (None, 1)
    everyone = {f"broker:{number}" for number in range(5)}
    for operation in ("Metadata", "DescribeLogDirs", "ListOffsets", "DescribeConfigs BROKER"):
        assert asked_in(snapshot, 1, operation) == everyone
        assert asked_in(snapshot, 2, operation) == {STALE}
    paths = Counter(path for _, batch in cluster.zookeeper.asked[at[0] :] for path in batch)
    read = {path for path in paths if path.startswith("/brokers/topics/")}
    assert read == {"/brokers/topics/orders", *(f"/brokers/topics/orders/partitions/{number}/state" for number in range(3))}
    assert {"/brokers/ids/0", "/brokers/ids/4", "/controller"} <= paths.keys()


def test_it_is_judged_as_after_two_whole_samples(cluster):
    found = judged(snap(cluster))
    assert found.pop("broker/2") == Status.FAIL
    assert {*found.values()} == {Status.PASS}
    assert len(found) == 4


def test_the_newest_sample_is_whole_and_the_one_before_has_what_it_may_confirm(cluster):
    snapshot = snap(cluster)
    samples = Samples(snapshot)
    for table, each in ((BrokerView, 1), (LogDir, 1)):
        assert Counter(row.broker_id for row in samples.at(table, 2)) == dict.fromkeys(range(5), each)
        assert {row.broker_id for row in samples.at(table, 1)} == {2}
        assert {row.broker_id: row.sample for row in samples.at(table, 2)} == {0: 1, 1: 1, 2: 2, 3: 1, 4: 1}
    assert len(samples.at(Registry, 1)) == len(samples.at(Registry, 2)) == 1
    assert len(samples.at(RegisteredBroker, 1)) == len(samples.at(RegisteredBroker, 2)) == 5
    assert {row.broker_id for row in snapshot.of(BrokerConfig)} == {*range(5)}
    assert {row.sample for row in snapshot.of(RegisteredPartition)} == {1, 2}  # one row is of both, and has a row for each here
    both = Counter((row.topic, row.partition) for row in snapshot.of(RegisteredPartition))
    assert {*both.values()} == {2}
    assert len({row.topic for row in snapshot.of(TopicConfig)}) > 1
    sizes = [{row.path: row.bytes for row in samples.at(ZookeeperNode, sample)} for sample in (1, 2)]
    assert max(sizes[0].items(), key=lambda entry: entry[1]) == max(sizes[1].items(), key=lambda entry: entry[1])


def test_a_leader_that_moved_while_it_was_asked_is_no_fault(cluster):
    snapshot = snap(cluster, lambda: heal(cluster))
    assert len(snapshot.of(Sample)) == 2
    assert {*judged(snapshot).values()} == {Status.PASS}


def test_a_leader_that_moves_before_the_second_sample_has_all_asked_once_more(cluster):
    def move():
        heal(cluster)
        elect(cluster, "orders", 1)

    snapshot = snap(cluster, move)
    assert [(row.sample, row.asked_again) for row in snapshot.of(Sample)] == [(2, (STALE, "zookeeper")), (3, None)]
    assert asked_in(snapshot, 3, "Metadata") == {f"broker:{number}" for number in range(5)}
    assert {*judged(snapshot).values()} == {Status.PASS}


def test_what_moved_and_was_not_asked_again_is_in_motion_and_no_fault(cluster):
    """Where no time is left for a third sample, the brokers that were not asked again show the state of before."""
    snapshot = snap(cluster, lambda: elect(cluster, "orders", 0), until=2)
    assert [row.sample for row in snapshot.of(Sample)] == [1, 2]
    seen = Samples(snapshot)
    assert {row.observer for row in seen.at(BrokerView, 2)} == {f"broker:{number}" for number in range(5)}
    assert {row.observer for row in seen.at(BrokerView, 1)} == {STALE}  # of the others one view counts once
    found = judged(snapshot)
    assert {found[f"broker/{number}"] for number in (0, 1, 3, 4)} <= {Status.PASS, Status.UNKNOWN}


def test_a_registration_that_changed_has_everything_asked_at_once(cluster):
    def restart():
        place = cluster.zookeeper.znodes["/brokers/ids/4"]
        del cluster.zookeeper.znodes["/brokers/ids/4"]
        cluster.zookeeper.znodes["/brokers/ids/4"] = place

    snapshot = snap(cluster, restart)
    newest = snapshot.of(Sample)[-1]
    assert newest.asked_again is None
    assert asked_in(snapshot, newest.sample, "Metadata") == {f"broker:{number}" for number in range(5)}
    assert judged(snapshot)["broker/2"] == Status.FAIL


def test_a_topic_that_is_new_is_read_and_one_that_is_gone_is_left_out(cluster):
    def change():
        cluster.create_topic("fresh", {0: [0, 1, 3]})
        cluster.delete_topic("__transaction_state")

    snapshot = snap(cluster, change)
    last = max(row.sample for row in snapshot.of(RegisteredTopic))
    names = {row.topic for row in snapshot.of(RegisteredTopic) if row.sample == last}
    assert "fresh" in names
    assert "__transaction_state" not in names
    assert judged(snapshot)["broker/2"] == Status.FAIL


def test_vantages_are_asked_again_if_a_probe_of_one_failed_and_brokers_that_agree_are_not(cluster, monkeypatch):
    rows = command_vantages.VantageRun.rows

    def closed(run):
        return tuple(
            replace(row, outcome="failed", error="timeout")
            if isinstance(row, Probe) and (row.broker_id, row.layer) == (4, "tcp")
            else row
            for row in rows(run)
        )

    monkeypatch.setattr(command_vantages.VantageRun, "rows", closed)
    snapshot = snap(cluster, vantages=(Vantage(name="clients", command=("env",)),))
    assert snapshot.of(Sample)[-1].asked_again == (STALE, "vantage:clients", "zookeeper")
    assert asked_in(snapshot, 2, "Metadata") == {STALE}
    probes = {(row.sample, row.broker_id) for row in snapshot.of(Probe) if row.vantage == "clients"}
    assert probes == {(sample, broker) for sample in (1, 2) for broker in range(5)}
    samples = Samples(snapshot)
    assert Counter((row.vantage, row.broker_id) for row in samples.at(Probe, 2) if row.layer == "tcp") == {
        (vantage, broker): 1 for vantage in ("worker", "clients") for broker in range(5)
    }


def test_zookeeper_that_is_silent_at_the_second_sample_has_everything_asked_again(cluster):
    snapshot = snap(cluster, lambda: cluster.zookeeper.script.update({"connect": hang_up}))
    newest = snapshot.of(Sample)[-1]
    assert newest.asked_again is None
    assert any(row.outcome == "failed" and row.observer == "zookeeper" for row in snapshot.of(SourceRead))
    assert Status.PASS not in judged(snapshot).values()
