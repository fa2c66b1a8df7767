"""Made-up broker ids, by topics or by a broker: what is started, opened and kept for each id is bounded."""

import json
from collections import Counter
from dataclasses import replace

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from collect.fakes import refused
from collect.taken import QUICK, taken_of
from hostile_parties.broker import changed
from hostile_parties.cluster import HostileCluster
from kafka_audit.bounds.kept_brokers import Vouchers
from kafka_audit.collect.logs import sources as logs
from kafka_audit.collect.priorities import MOST_REPLICAS
from kafka_audit.collect.probes import command_vantages
from kafka_audit.collect.properties import sources
from kafka_audit.collect.rows.collected import Collected
from kafka_audit.collect.snapshot import _vouchers
from kafka_audit.model.cluster import Logs, Vantage
from kafka_audit.model.read_failure import ReadFailure
from kafka_audit.model.tables import BrokerView, RegisteredPartition, SourceRead, ViewBroker, ViewTopic
from made_rows import made

MOST = 20
METADATA = 3


@pytest.fixture
def started(monkeypatch):
    """Count what is started and opened."""
    found = Counter()
    run, bytes_of, tail = command_vantages.run_vantage_command, sources._bytes, logs.read_log_tail

    def command(*arguments, **options):
        found["commands"] += 1
        return run(*arguments, **options)

    def opened(file):
        found["files"] += not found[file.path]  # in KRaft, each sample reads those of brokers that do not answer
        found[file.path] += 1
        return bytes_of(file)

    def read(*arguments):
        found["logs"] += 1
        return tail(*arguments)

    monkeypatch.setattr(command_vantages, "run_vantage_command", command)
    monkeypatch.setattr(logs, "run_vantage_command", command, raising=False)
    monkeypatch.setattr(sources, "_bytes", opened)
    monkeypatch.setattr(logs, "read_log_tail", read)
    return found


def snap(parties, tmp_path, *, zookeeper=True, **limits):
    """Take a snapshot with logs, files and a vantage for each broker."""
    for broker in range(3):
        (tmp_path / f"{broker}.properties").write_text(f"broker.id={broker}\nlog.dirs=/data\n")
    return taken_of(
        parties,
        zookeeper=zookeeper,
        bootstrap=tuple(broker.address for broker in parties.brokers),
        properties=(f"{tmp_path}/{{broker_id}}.properties",),
        logs=Logs(command=("echo", "{broker_id}")),
        vantages=(Vantage(name="v", role="broker", command=("false", "{broker_id}")),),
        limits=replace(QUICK, **{"brokers": MOST} | limits),
    )


def limits_row(snapshot):
    return {row.operation: row.message for row in snapshot.of(SourceRead) if row.observer == "limits"}


def read_of(snapshot, what):
    """Return of which brokers a file or log was read."""
    reads = (row for row in snapshot.of(SourceRead) if row.outcome == "answered")
    return {row.observer for row in reads if row.observer.startswith(f"{what}:")}


@pytest.mark.parametrize("made_up", [400, 140_000])
def test_replicas_that_a_topic_makes_up_start_no_process_and_open_no_file(tmp_path, started, made_up):
    """400 ids started 403 processes; 140,000 wrote 60,087 rows."""
    with HostileCluster(brokers=3) as parties:
        ids = [*range(10_000, 10_000 + made_up)]
        partitions = {str(place): ids[place * 200 : place * 200 + 200] for place in range(-(-made_up // 200))}
        parties.zookeeper.znodes["/brokers/topics/flood"] = json.dumps({"version": 1, "partitions": partitions}).encode()
        for number, replicas in partitions.items():
            state = {"controller_epoch": 1, "leader": replicas[0], "version": 1, "leader_epoch": 0, "isr": replicas[:1]}
            parties.zookeeper.znodes[f"/brokers/topics/flood/partitions/{number}/state"] = json.dumps(state).encode()
        snapshot = snap(parties, tmp_path)
    assert started["logs"] <= 2 * MOST, "each is read again where its time zone is unknown"
    assert started["files"] <= MOST
    samples = max(row.sample for row in snapshot.of(SourceRead))
    assert started["commands"] <= 3 * 2 * samples + 2 * MOST * (samples + 1), "vantages; hosts that may not reach ZooKeeper"
    assert read_of(snapshot, "properties") == {f"properties:{broker}" for broker in range(3)}, "the honest ones are read"
    assert read_of(snapshot, "logs") == {f"logs:{broker}" for broker in range(3)} | {
        f"logs:{broker}" for broker in range(10_000, 10_000 + MOST - 3)
    }
    message = limits_row(snapshot)["read the files of all brokers"]
    assert message.startswith(f"{made_up + 3 - MOST} of {made_up + 3} broker ids are left out: 100")
    assert len(snapshot.rows) < 1000


@pytest.mark.parametrize("zookeeper", [True, False])
def test_brokers_that_one_broker_makes_up_displace_none_that_others_list(tmp_path, started, zookeeper):
    with HostileCluster(brokers=3) as parties:
        closed = refused()
        own = parties.brokers[2].brokers
        parties.brokers[2].brokers = {**own, **dict.fromkeys(range(100, 290), closed)}
        snapshot = snap(parties, tmp_path, zookeeper=zookeeper)
    assert {row.broker_id for row in snapshot.of(BrokerView)} >= {0, 1, 2}
    assert started["files"] <= MOST
    assert started["logs"] <= 2 * MOST
    assert read_of(snapshot, "properties") == {f"properties:{broker}" for broker in range(3)}
    assert limits_row(snapshot)["read the files of all brokers"].startswith(f"{193 - MOST} of 193 broker ids are left out: ")


def test_the_honest_twin_is_read_whole_and_no_row_is_about_limits(tmp_path, started):
    with HostileCluster(brokers=3) as parties:
        snapshot = snap(parties, tmp_path)
    assert limits_row(snapshot) == {}
    assert started["files"] == 3
    for source in ("properties", "logs"):
        assert read_of(snapshot, source) == {f"{source}:{broker}" for broker in range(3)}


def test_files_count_as_rows(tmp_path, started):
    with HostileCluster(brokers=3) as parties:
        snapshot = snap(parties, tmp_path, rows=2)
    assert started["files"] == 0
    errors = {row.observer: row.error for row in snapshot.of(SourceRead) if row.observer.startswith("properties")}
    assert errors == {"properties:3 files": ReadFailure.OVER_LIMIT.words}


def test_a_list_that_one_broker_gives_is_one_claim_and_one_that_many_give_is_more():
    views = [
        made(BrokerView, broker_id=broker, brokers_digest=digest) for broker, digest in ((0, "same"), (1, "same"), (2, "other"))
    ]
    listed = [
        ViewBroker(brokers_digest=digest, broker_id=broker, host="h", port=1, rack=None)
        for digest, broker in (("same", 7), ("other", 8))
    ]
    found = _vouchers(Collected(rows=(*views, *listed)), Collected(rows=tuple(views)), {("h", 1)}, {9})
    assert found == Vouchers(
        named=[7],
        registered=[],
        long_known=[0, 1, 2],
        claimed={"same/0": [7], "same/1": [7], "other/0": [8], "assigned": [], "replicas": [], "earlier": [9]},
    )


def longest_list(snapshot):
    """Return how many replicas the longest list of a partition has in any table."""
    lists = [column for table in snapshot.large.values() for column in table.columns if column.type == pa.list_(pa.int64())]
    return max(pc.max(pc.list_value_length(column)).as_py() or 0 for column in lists if len(column))


def failed_reads(snapshot):
    return {
        (row.observer, row.operation): row.message for row in snapshot.of(SourceRead) if row.outcome == "failed" and row.message
    }


@pytest.mark.parametrize("column", ["replica_nodes", "isr_nodes", "offline_replicas"])
def test_replicas_that_a_broker_makes_up_are_cut_and_it_says_so_in_each_sample(tmp_path, column):
    """12,000 were in the store, and the join of a partition's replicas with its ISR did not end."""

    def flood(message):
        for topic in message.topics:
            if topic.name == "orders":
                setattr(topic.partitions[0], column, [2, *range(10_000, 22_000)])

    with HostileCluster(brokers=3) as parties:
        parties.brokers[2].script[METADATA] = changed(flood)
        snapshot = snap(parties, tmp_path, zookeeper=False)
        topics = set(parties.topics)
    assert longest_list(snapshot) == MOST_REPLICAS
    cut = [row for row in snapshot.of(SourceRead) if row.operation == "Metadata (replicas)"]
    says = f"1 topic with a list of more than {MOST_REPLICAS} replicas, the first: 12001 of orders"
    assert {row.message for row in cut} == {says}
    assert {row.sample for row in cut} == {row.sample for row in snapshot.of(BrokerView) if row.broker_id == 2}
    assert {row.observer for row in cut} <= {"broker:2", f"broker@{parties.brokers[2].address}"}
    assert {row.topic for row in snapshot.of(ViewTopic)} == topics


def test_a_znode_that_makes_replicas_up_is_one_failed_read(tmp_path):
    with HostileCluster(brokers=3) as parties:
        topics = parties.zookeeper.znodes
        flood = [*range(10_000, 10_000 + MOST_REPLICAS + 1)]
        topics["/brokers/topics/flood"] = json.dumps({"version": 1, "partitions": {"0": flood}}).encode()
        topics["/brokers/topics/moving"] = json.dumps(
            {"version": 3, "partitions": {"0": [0]}, "adding_replicas": {"0": flood}}
        ).encode()
        state = "/brokers/topics/orders/partitions/0/state"
        topics[state] = json.dumps({**json.loads(topics[state]), "isr": flood}).encode()
        entry = {"topic": "orders", "partition": 1, "replicas": flood}
        topics["/admin/reassign_partitions"] = json.dumps({"version": 1, "partitions": [entry]}).encode()
        snapshot = snap(parties, tmp_path)
    assert longest_list(snapshot) <= MOST_REPLICAS
    failed = {operation for who, operation in failed_reads(snapshot) if who == "zookeeper"}
    assert failed == {
        "zookeeper /brokers/topics/flood", "zookeeper /brokers/topics/moving", f"zookeeper {state}",
        "zookeeper /admin/reassign_partitions",
    }  # fmt: skip
    assert {(row.topic, row.partition) for row in snapshot.of(RegisteredPartition)} >= {("orders", 1), ("orders", 2)}


def test_a_topic_on_each_broker_of_a_large_cluster_is_whole(tmp_path):
    with HostileCluster(brokers=3) as parties:
        parties.create_topic("everywhere", {0: [*range(MOST_REPLICAS)]})
        snapshot = snap(parties, tmp_path)
    assert longest_list(snapshot) == MOST_REPLICAS
    assert not any("replicas" in message for message in failed_reads(snapshot).values())
