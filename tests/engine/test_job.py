"""The whole job: a store with a request, real Spark, the answer. DuckDB runs the same files: both must say the very same."""

import json
from dataclasses import replace

import pytest
from pyarrow import parquet

from engine.stores import put, snapshot_id
from kafka_audit.bounds import isolation
from kafka_audit.job import embedded_job, spark_job
from kafka_audit.model.errors import EngineError
from kafka_audit.model.tables import LARGE, DiskReplicas, TopicConfig, ViewPartition, ViewTopic
from kafka_audit.spark import measure
from kafka_audit.spark.local_settings import FOR_FEW_ROWS

EMPTY = {"brokers": "none", "topics": "none", "controller_id": -1}
WORLDS = {
    "cut": {"now": {"views": {2: EMPTY}}},
    "whole": {"previous": {}},
    "changed": {
        "now": {
            "zookeeper": {"controller_id": 1, "controller_epoch": 4},
            "brokers": {
                1: {"listeners": {"PLAINTEXT": "PLAINTEXT://10.0.0.111:9092"}},
                2: "absent",
                3: {"listeners": {"PLAINTEXT": "PLAINTEXT://10.0.0.13:9092"}, "czxid": 130, "mzxid": 130},
            },
            "topics": {
                "payments": {"topic_id": "another-id"},
                "orders": {"partitions": {2: {"leader": 0, "leader_epoch": 6}}},
                "new": {"topic_id": "new-id", "czxid": 900, "mzxid": 900, "partitions": {}},
            },
            "configs": {"num.io.threads": "8", 0: {"log.retention.hours": "24"}},
        },
        "previous": {
            "topics": {"old": {"topic_id": None, "czxid": 77, "mzxid": 77, "partitions": {}}},
            "configs": {"num.io.threads": "8", 0: {"log.retention.hours": "168", "ssl.keystore.password": "hidden"}},
        },
    },
    "kraft": {
        "world": {"info": {"mode": "kraft"}, "zookeeper": "none"},
        "now": {
            "topics": {"orders": {"partitions": {2: {"leader": 0, "leader_epoch": 6}}}},
            "views": {
                0: {"brokers": {2: "absent"}},
                1: {"brokers": {2: "absent"}},
                2: {"controller_id": 1, "topics": {"orders": {"partitions": {2: {"leader": 2, "leader_epoch": 5}}}}},
            },
        },
        "previous": {},
    },
    "migrated": {
        "now": {
            "info": {"mode": "kraft"},
            "zookeeper": "none",
            "views": {broker: {"brokers": {1: {"host": "10.0.0.111"}}} for broker in range(3)},
        },
        "previous": {},
    },
    "blind": {"now": {"zookeeper": "none"}, "previous": {}},
    "moved": {
        "now": {"topics": {"logs": {"partitions": {number: {"leader": 1} for number in range(201)}}}},
        "previous": {},
        "world": {
            "topics": {
                "logs": {
                    "topic_id": "logs-id",
                    "czxid": 400,
                    "mzxid": 400,
                    "partitions": {
                        number: {
                            "replicas": [0, 1],
                            "leader": 0,
                            "leader_epoch": 1,
                            "controller_epoch": 3,
                            "isr": [0, 1],
                            "state_mzxid": 410,
                        }
                        for number in range(201)
                    },
                }
            }
        },
    },
}


@pytest.fixture(
    scope="module",
    params=[
        pytest.param((measure.FEW_ROWS, measure.ONE_TASK_ROWS), id="few"),
        pytest.param((0, measure.ONE_TASK_ROWS), id="one task"),
        pytest.param((0, 0), id="many", marks=pytest.mark.scenario),
    ],
)
def store(request, spark, tmp_path_factory):
    """Few rows are measured in one partition, more in one task, many as Spark likes: it makes no difference."""
    store = put(tmp_path_factory.mktemp("a store with spaces"), "r1", WORLDS)
    with pytest.MonkeyPatch.context() as patch:
        for name, most in zip(("FEW_ROWS", "ONE_TASK_ROWS"), request.param, strict=True):
            patch.setattr(measure, name, most)
        spark_job.answer(spark, store.root, "r1")
    return store


@pytest.fixture(scope="module")
def in_duckdb(store):
    """The same store, with the answer of DuckDB to the same request."""
    store.write_request(replace(store.read_request("r1"), run_id="r2"))
    embedded_job.answer(store, "r2")
    return store


pytestmark = pytest.mark.spark


def judged(store, name):
    return store.read_judged("r1", snapshot_id(name))


def findings(store, name):
    return judged(store, name).document.findings


@pytest.mark.parametrize("name", WORLDS)
def test_spark_and_duckdb_say_the_same(in_duckdb, name):
    by_spark, by_duckdb = judged(in_duckdb, name), in_duckdb.read_judged("r2", snapshot_id(name))
    assert {difference for difference in by_spark.differences if by_spark.differences[difference]}
    for table, rows in by_duckdb.differences.items():
        assert sorted(map(json.dumps, by_spark.differences[table])) == sorted(map(json.dumps, rows)), table
    assert by_spark.document == by_duckdb.document


def test_snapshots_that_are_compared_share_files_and_spark_reads_those_for_both(store):
    """What the other tests here compare with DuckDB rests on it."""
    shared = {name: _shared(store, name) for name in WORLDS}
    # The registered ones have two samples now, and one before.
    assert shared["whole"] == {ViewTopic, ViewPartition, TopicConfig, DiskReplicas}
    assert shared["changed"] == {TopicConfig, DiskReplicas}


def _shared(store, name):
    tables = store.manifest(snapshot_id(name)).tables
    return {table for table in LARGE if tables[table.table()].stored_in is not None}


def test_every_pair_of_the_run_is_judged(store):
    answer = store.read_answer("r1")
    assert (set(answer.judged), answer.failed) == ({snapshot_id(name) for name in WORLDS}, ())
    found = {(name, finding.code, finding.resource.name): finding for name in WORLDS for finding in findings(store, name)}
    empty = found["cut", "KA105", "broker/2"]
    assert (empty.status, empty.severity) == ("FAIL", "CRITICAL")
    assert found["whole", "KA105", "broker/2"].status == "PASS"
    assert found["blind", "KA105", "cluster"].evidence["error"] == "ZooKeeper was not read: connection refused"
    cut = found["cut", "KA302", "broker/2/listener/PLAINTEXT"]
    assert (cut.status, cut.confidence) == ("FAIL", "inferred")
    (incident,) = (incident for incident in judged(store, "cut").document.incidents if incident.cause == "KA302")
    assert cut.fingerprint in incident.findings


def test_every_partition_that_a_view_shows_differently_is_in_a_table(store):
    rows = parquet.read_table(f"{store.root}/runs/r1/{spark_job.DISAGREEMENTS}").to_pylist()
    shown = [row for row in rows if row["snapshot_id"] == snapshot_id("kraft") and row["kind"] == "leader"]
    assert [(row["topic"], row["partition"], row["view_leader"], row["leader"], row["repeated"]) for row in shown] == [
        ("orders", 2, 2, 0, True)
    ]
    assert {row["observer"] for row in shown} == {"2"}


def test_changes(store):
    changes = judged(store, "changed").document.changes
    topics = {
        (change.kind, change.resource, change.before, change.after) for change in changes if change.kind.startswith("topic")
    }
    assert topics == {
        ("topic_created", "topic/new", None, "new-id"),
        ("topic_deleted", "topic/old", "77", None),
        ("topic_recreated", "topic/payments", "payments-id", "another-id"),
    }
    assert judged(store, "whole").document.changes == ()


def test_another_try_replaces_the_answer_and_both_leave_the_session_as_it_was(spark, tmp_path):
    store = put(tmp_path, "r1", {"cut": WORLDS["cut"]})
    settings = {name: spark.conf.get(name, None) for name in FOR_FEW_ROWS}
    spark_job.answer(spark, store.root, "r1")
    first = judged(store, "cut")
    assert first.document.findings
    answer = tmp_path / "runs" / "r1" / "answer.json"
    written = answer.stat().st_ino
    spark_job.answer(spark, store.root, "r1")
    assert judged(store, "cut") == first
    assert answer.stat().st_ino != written
    assert {name: spark.conf.get(name, None) for name in FOR_FEW_ROWS} == settings


def test_a_request_that_is_not_there(spark, tmp_path):
    with pytest.raises(EngineError, match=r"r9/request\.json: does not exist"):
        spark_job.answer(spark, str(tmp_path), "r9")


def test_a_table_that_spark_cannot_read_is_named(spark, tmp_path):
    store = put(tmp_path, "r1", {"cut": WORLDS["cut"]})
    (tmp_path / "snapshots" / snapshot_id("cut") / "view_partition.parquet").write_bytes(b"no parquet")
    with pytest.raises(EngineError, match=r"cannot be computed: .*view_partition\.parquet"):
        spark_job.answer(spark, store.root, "r1")


@pytest.mark.parametrize("fault", ["damaged", "endless"])
def test_a_cluster_that_spark_cannot_measure_costs_no_other_one_its_report(spark, tmp_path, monkeypatch, fault):
    """No cluster of the run had a report."""
    store = put(tmp_path, "r1", {"cut": WORLDS["cut"], "whole": WORLDS["whole"]})
    if fault == "damaged":
        (tmp_path / "snapshots" / snapshot_id("cut") / "view_partition.parquet").write_bytes(b"no parquet")
    else:
        register = measure._Pass.register

        def endless(self, tables, given):
            if snapshot_id("cut") in given:
                self._spark.sql("SELECT max(xxhash64(id)) FROM range(0, 1000000000000000)").collect()
            register(self, tables, given)

        monkeypatch.setattr(measure._Pass, "register", endless)
        seconds = iter([0.0, 0.0, 3600.0])  # together, then each apart
        monkeypatch.setattr(isolation.InTurn, "before", lambda *_: next(seconds))
    spark_job.answer(spark, store.root, "r1")
    answer = store.read_answer("r1")
    assert answer.judged == (snapshot_id("whole"),)
    ((failed, why),) = answer.failed
    assert failed == snapshot_id("cut")
    assert ("the comparison took longer than 0 s" if fault == "endless" else "cannot be computed") in why
    assert {finding.status for finding in findings(store, "whole")} >= {"PASS"}


@pytest.mark.parametrize(
    ("root", "expected"),
    [
        ("/var/kafka audit", "file:///var/kafka audit"),
        ("s3://bucket/audit", "s3a://bucket/audit"),
        ("abfs://c@a.dfs.core.windows.net/audit", "abfs://c@a.dfs.core.windows.net/audit"),
        ("file:///var/audit", "file:///var/audit"),
    ],
)
def test_roots_as_spark_knows_them(root, expected):
    assert measure.url(root) == expected
