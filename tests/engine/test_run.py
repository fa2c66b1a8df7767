"""A request in files, an answer in files."""

import pyarrow.parquet as pq
import pytest
from pyspark.sql import DataFrame

from engine.stores import changes, judgements, put
from kafka_audit.engine import run
from kafka_audit.engine.local_settings import FEW_ROWS, FOR_FEW_ROWS, VERY_FEW_ROWS
from kafka_audit.engine.prepared.changes import MANY
from kafka_audit.engine.views import RESULT, url
from kafka_audit.model.errors import EngineError
from kafka_audit.model.finding import Change, Confidence, Judgement, Severity, Status

EMPTY = {"brokers": "none", "topics": "none", "controller_id": -1}
WORLDS = {
    "cut": {"now": {"views": {2: EMPTY}, "configs": {"authorizer.class.name": "kafka.security.authorizer.AclAuthorizer"}}},
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
            "views": {one: {"brokers": {1: {"host": "10.0.0.111"}}} for one in range(3)},
        },
        "previous": {},
    },
    "blind": {"now": {"zookeeper": "none"}, "previous": {}},
    "moved": {
        "now": {"topics": {"logs": {"partitions": {number: {"leader": 1} for number in range(MANY + 1)}}}},
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
                        for number in range(MANY + 1)
                    },
                }
            }
        },
    },
}


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(VERY_FEW_ROWS, id="very_few"),
        pytest.param(FEW_ROWS, id="few", marks=pytest.mark.scenario),
        pytest.param(None, id="many", marks=pytest.mark.scenario),
    ],
)
def store(request, spark, tmp_path_factory):
    """Every way of keeping views says the same; what a small cluster's answer is kept in is tried with every commit."""
    root = tmp_path_factory.mktemp("a store with spaces")
    ruled_out = Judgement(snapshot_id="cut", code="KA401", resource="broker/2", status=Status.PASS)
    put(root, "r1", WORLDS, [ruled_out])
    # An earlier version of the program did not have every table.
    (root / "snapshots" / "changed-previous" / "probe.parquet").unlink()
    run.answer(spark, str(root), "r1", rows=request.param)
    return root


pytestmark = pytest.mark.spark


def test_judgements_of_all_pairs_of_the_run(store):
    found = {(one.snapshot_id, one.code, one.resource): one for one in judgements(store, "r1")}
    assert {snapshot for snapshot, _, _ in found} == set(WORLDS)
    empty = found["cut", "KA105", "broker/2"]
    assert (empty.status, empty.severity, empty.confidence) == (Status.FAIL, Severity.CRITICAL, Confidence.MEASURED)
    assert found["whole", "KA105", "broker/2"].status is Status.PASS
    assert found["blind", "KA105", "cluster"].evidence["error"] == "ZooKeeper was not read: connection refused"


def test_what_python_found_is_weighed_in_spark(store):
    (cut,) = (one for one in judgements(store, "r1") if (one.snapshot_id, one.code, one.status) == ("cut", "KA302", Status.FAIL))
    assert (cut.resource, cut.confidence) == ("broker/2/listener/PLAINTEXT", Confidence.INFERRED)


def test_without_zookeeper_views_are_compared_with_the_newest(store):
    said = {(one.code, one.resource): one for one in judgements(store, "r1") if one.snapshot_id == "kraft"}
    failed = {key for key, one in said.items() if one.status is Status.FAIL and key[0] < "KA300"}
    assert failed == {("KA101", "broker/2"), ("KA105", "broker/2"), ("KA208", "broker/2")}
    assert said["KA101", "broker/2"].evidence["holders"] == "brokers 0 and 1"
    assert {said[code, f"broker/{one}"].status for code in ("KA101", "KA107", "KA113") for one in (0, 1)} == {Status.PASS}
    for code in ("KA106", "KA204", "KA205"):
        assert said[code, "cluster"].status is Status.NOT_APPLICABLE
    assert not [one for one in said.values() if "ZooKeeper" in str(one.evidence) and one.status is not Status.NOT_APPLICABLE]
    assert [change for snapshot, change in changes(store, "r1") if snapshot == "kraft"] == [
        Change(kind="broker_went", resource="broker/2", before="10.0.0.12:9092", after=None),
        Change(kind="leader_moved", resource="topic/orders/partition/2", before="2", after="0"),
    ]


@pytest.mark.scenario  # it answers once more
def test_another_try_replaces_the_answer(spark, store):
    before = len(judgements(store, "r1"))
    run.answer(spark, str(store), "r1")
    assert len(judgements(store, "r1")) == before


def test_changes(store):
    of = [change for snapshot, change in changes(store, "r1") if snapshot == "changed"]
    assert of == [
        Change(kind="broker_came", resource="broker/3", before=None, after="PLAINTEXT://10.0.0.13:9092"),
        Change(kind="broker_went", resource="broker/2", before="PLAINTEXT://10.0.0.12:9092", after=None),
        Change(kind="config", resource="broker/0/config/log.retention.hours", before="168", after="24"),
        Change(kind="config", resource="broker/0/config/ssl.keystore.password", before="hidden", after=None),
        Change(kind="controller", resource="cluster", before="0 (epoch 3)", after="1 (epoch 4)"),
        Change(
            kind="endpoint",
            resource="broker/1/listener/PLAINTEXT",
            before="PLAINTEXT://10.0.0.11:9092",
            after="PLAINTEXT://10.0.0.111:9092",
        ),
        Change(kind="leader_moved", resource="topic/orders/partition/2", before="2", after="0"),
        Change(kind="topic_created", resource="topic/new", before=None, after="new-id"),
        Change(kind="topic_deleted", resource="topic/old", before="77", after=None),
        Change(kind="topic_recreated", resource="topic/payments", before="payments-id", after="another-id"),
    ]


def test_without_listeners_names_after_a_migration_only_addresses_change(store):
    assert [change for snapshot, change in changes(store, "r1") if snapshot == "migrated" and change.kind == "endpoint"] == [
        Change(kind="endpoint", resource="broker/1", before=None, after="10.0.0.111:9092")
    ]


def test_nothing_changed(store):
    assert [change for snapshot, change in changes(store, "r1") if snapshot in {"whole", "cut"}] == []


def test_what_was_not_read_has_not_changed(store):
    assert [change for snapshot, change in changes(store, "r1") if snapshot == "blind"] == []


def test_many_moved_leaders_are_told_per_broker(store):
    assert [change for snapshot, change in changes(store, "r1") if snapshot == "moved"] == [
        Change(
            kind="leader_moved",
            resource="broker/0",
            before=f"led {MANY + 1} partitions that are led by others now",
            after=None,
        )
    ]


def test_disagreements_are_a_table(store):
    table = pq.read_table(store / "runs" / "r1" / "disagreements")
    rows = [row for row in table.to_pylist() if row["snapshot_id"] == "cut"]
    assert {(row["observer"], row["kind"], row["topic"], row["settled"]) for row in rows} == {
        ("broker:2", "controller", None, True),
        ("broker:2", "empty_view", None, True),
        ("broker:2", "topic_missing", "orders", True),
        ("broker:2", "topic_missing", "payments", True),
    }


def test_few_rows_are_told_by_the_manifests_and_leave_the_session_as_it_was(spark, tmp_path, monkeypatch):
    put(tmp_path, "r1", {"s": {}})
    manifest = tmp_path / "snapshots" / "s" / "manifest.json"
    asked = []
    key = "spark.sql.adaptive.enabled"
    monkeypatch.setattr(run, "_read", lambda _spark, _root, _request, rows: asked.append((rows, spark.conf.get(key))))
    monkeypatch.setattr(run, "_write", lambda *_: None)
    before = {name: spark.conf.get(name) for name in FOR_FEW_ROWS}
    for text in (None, '{"tables": {"a": {"rows": 5}, "b": {"rows": 6}}}', '{"tables": {"a": {"rows": 300001}}}'):
        if text is not None:
            manifest.write_text(text)
        run.answer(spark, str(tmp_path), "r1")
    assert asked == [(None, before[key]), (11, FOR_FEW_ROWS[key]), (300_001, before[key])]
    assert {name: spark.conf.get(name) for name in FOR_FEW_ROWS} == before


def test_a_driver_without_pyarrow_says_the_same(spark, tmp_path, monkeypatch):
    def without(_):
        raise ImportError

    monkeypatch.setattr(DataFrame, "toArrow", without)
    put(tmp_path, "r1", {"cut": WORLDS["cut"]})
    run.answer(spark, str(tmp_path), "r1", rows=VERY_FEW_ROWS)
    failed = {one.code for one in judgements(tmp_path, "r1") if one.status is Status.FAIL}
    assert failed >= {"KA105", "KA107"}


def test_a_snapshot_that_is_not_there(spark, tmp_path):
    put(tmp_path, "r1", {})
    text = '{"run_id": "r1", "pairs": [{"snapshot_id": "gone", "previous_snapshot_id": null}], "row_judgements": []}'
    (tmp_path / "runs" / "r1" / "request.json").write_text(text)
    with pytest.raises(EngineError, match="snapshots/gone: no tables"):
        run.answer(spark, str(tmp_path), "r1")


def test_a_request_that_is_not_there(spark, tmp_path):
    with pytest.raises(EngineError, match=r"request\.json: cannot be read"):
        run.answer(spark, str(tmp_path), "r9")


def test_a_damaged_table_is_named(spark, tmp_path):
    put(tmp_path, "r1", {"s": {}})
    (tmp_path / "snapshots" / "s" / "probe.parquet").write_bytes(b"no parquet")
    with pytest.raises(EngineError, match=r"probe\.parquet"):
        run.answer(spark, str(tmp_path), "r1")


def test_every_check_returns_the_same_columns(spark, store):
    del store  # registers the views
    judged = run.judge(spark, [check for check in run.catalogue().values() if check.kind == "sql"])
    assert [(field.name, field.dataType.simpleString()) for field in judged.schema] == [(c.name, c.sql_type) for c in RESULT]


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
    assert url(root) == expected
