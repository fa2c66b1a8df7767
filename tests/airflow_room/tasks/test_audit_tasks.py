"""What the tasks do where no cluster is needed; the whole way runs in tests/dags and tests/scenarios."""

import errno
import json
import logging
import os
import re
from pathlib import Path

import pytest

from audit_history import History, cut_off
from collect.fakes import server
from collect.secured_fakes import SecuredBroker
from kafka_audit.airflow.errors import GateFailed
from kafka_audit.airflow.tasks import audit_tasks
from kafka_audit.model.errors import StoreBusyError, StoreError, UsageError
from kafka_audit.model.tables import BrokerView, Snapshot, SnapshotInfo
from kafka_audit.report.remedies import command_to_see
from kafka_audit.store import Store
from made_rows import made

CLUSTERS = "clusters:\n  prod: {bootstrap: ['127.0.0.1:1']}\n  stage: {bootstrap: ['127.0.0.1:2']}\n"


@pytest.fixture(autouse=True)
def clusters(monkeypatch, tmp_path):
    path = tmp_path / "clusters.yaml"
    path.write_text(CLUSTERS)
    monkeypatch.setenv("KAFKA_AUDIT_CLUSTERS", str(path))
    monkeypatch.setenv("KAFKA_AUDIT_STORE", str(tmp_path / "store"))
    return path


def test_a_run_takes_all_clusters_or_the_one_asked_for():
    assert audit_tasks.cluster_names(None) == ["prod", "stage"]
    assert audit_tasks.cluster_names("stage") == ["stage"]


def test_a_run_takes_the_clusters_with_a_label(clusters):
    clusters.write_text(
        "defaults: {bootstrap: ['h:1'], labels: {env: prod}}\n"
        "clusters: {pay: {labels: {team: pay}}, search: {keep: {snapshots: 9}}, stage: {labels: {env: stage}}}\n"
    )
    assert audit_tasks.cluster_names(None, {"env": "prod"}) == ["pay", "search"]
    assert audit_tasks.cluster_names("pay", {"env": "prod"}) == ["pay"]
    assert audit_tasks.cluster_names(None, {}) == ["pay", "search", "stage"]
    with pytest.raises(UsageError, match=r"no cluster has the label env=prd; did you mean env=prod\?"):
        audit_tasks.cluster_names(None, {"env": "prd"})
    with pytest.raises(UsageError, match="cluster stage does not have the labels of this run"):
        audit_tasks.cluster_names("stage", {"env": "prod"})


def test_a_run_begins_with_new_and_slow_clusters():
    store = Store(os.environ["KAFKA_AUDIT_STORE"])
    for cluster, times in {"quick": [(1, 90), (2, 3)], "slow": [(1, 2), (2, 60)], "usual": [(1, 5)]}.items():
        for started, finished in times:
            info = made(SnapshotInfo, cluster=cluster, started_ms=started * 1000, finished_ms=finished * 1000)
            snapshot_id = f"2026013{started}T080000Z-{cluster}-00aa"
            store.write(Snapshot(snapshot_id=snapshot_id, cluster=cluster, cluster_id=f"id-of-{cluster}", rows=(info,)))
    assert audit_tasks.slowest_first(["quick", "usual", "new", "slow", "newer"]) == ["new", "newer", "slow", "usual", "quick"]
    (Path(store.root) / "snapshots" / "20260132T080000Z-slow-00aa" / "manifest.json").write_text("{")
    assert audit_tasks.slowest_first(["quick", "slow"]) == ["slow", "quick"]


def test_an_empty_store_keeps_the_order_of_the_file():
    assert audit_tasks.slowest_first(["b", "a"]) == ["b", "a"]


def test_a_folder_of_cluster_files_is_a_cluster_file(clusters, monkeypatch, tmp_path):
    (tmp_path / "clusters.d").mkdir()
    clusters.rename(tmp_path / "clusters.d" / "all.yaml")
    monkeypatch.setenv("KAFKA_AUDIT_CLUSTERS", str(tmp_path / "clusters.d"))
    assert audit_tasks.cluster_names(None) == ["prod", "stage"]


def test_an_unknown_cluster_is_told_with_those_that_there_are(clusters):
    with pytest.raises(UsageError, match=rf"{clusters} has no cluster 'prd'; it has prod, stage"):
        audit_tasks.cluster_names("prd")


def test_a_file_without_clusters_is_no_quiet_success(clusters):
    clusters.write_text("clusters: {}\n")
    with pytest.raises(UsageError, match="cluster"):
        audit_tasks.cluster_names(None)


@pytest.mark.parametrize("dag_run_id", ["manual__2026-11-21T11:43:05.884971+00:00", "../../etc", "_hidden", ".x", "Ж" * 250])
def test_a_run_is_a_folder_that_hadoop_and_spark_read(dag_run_id):
    """Hadoop takes `a:b` for a URL, and Spark's readers skip what starts with a dot or an underscore."""
    name = audit_tasks.run_name(dag_run_id)
    assert re.fullmatch(r"[a-z][A-Za-z0-9-]{0,120}", name)


def test_each_try_has_a_name_of_its_own():
    assert audit_tasks.run_name("same") != audit_tasks.run_name("same")


@pytest.mark.parametrize(
    ("judged", "why"),
    [
        (None, "prod: not audited: this run has no report"),
        ({"stage": "s1"}, "prod: not audited: no snapshot was taken"),
        ({"prod": "20260101T000000Z-prod-abcd"}, "prod: not audited: the store has no report on snapshot 20260101T"),
    ],
)
def test_a_gate_without_a_report_does_not_open(judged, why):
    with pytest.raises(GateFailed, match=re.escape(why)):
        audit_tasks.gate("prod", judged, "", {})


def test_a_gate_without_a_report_quotes_what_failed_before_it():
    with pytest.raises(GateFailed, match="prod: not audited: task collect failed: no such connection"):
        audit_tasks.gate("prod", None, "task collect failed: no such connection", {})


def test_the_log_of_a_gate_has_what_to_do_before_the_exception(caplog, monkeypatch):
    """Airflow logs its own frames with the exception, which says one sentence."""
    document = History().audit(*cut_off(1))
    Store(os.environ["KAFKA_AUDIT_STORE"]).write_report(document.snapshot_id, document)
    monkeypatch.setattr(audit_tasks.links, "base_url", lambda: "http://airflow")
    with pytest.raises(GateFailed), caplog.at_level(logging.ERROR):
        audit_tasks.gate("prod", {"prod": document.snapshot_id}, "", {})
    first, *rest, last = caplog.messages[0].splitlines()
    assert first.startswith("prod does not pass: ")
    assert document.incidents[0].headline.split()[0] in rest[0]
    assert command_to_see(document.incidents[0]) in "\n".join(rest)
    assert last == f"http://airflow/kafka-audit/snapshots/{document.snapshot_id}"


def test_a_gate_looks_for_the_reason_at_its_own_snapshot_first():
    class Instance:
        def __init__(self, **left):
            self.left = left

        def xcom_pull(self, *, task_ids, key, map_indexes=None):
            return None if key == "why_prod" else self.left.get(task_ids if map_indexes is None else f"{task_ids}_{map_indexes}")

    assert audit_tasks.noted_reason(Instance(collect_1="no connection", compare="Spark failed"), 1, "prod") == "no connection"
    assert audit_tasks.noted_reason(Instance(collect_0="no connection", compare="Spark failed"), 1, "prod") == "Spark failed"
    assert audit_tasks.noted_reason(Instance(), 0, "prod") == ""


@pytest.mark.parametrize(("number", "worth_a_retry"), [(errno.ENOSPC, True), (errno.EIO, True), (errno.EACCES, False)])
def test_a_store_that_refuses_is_worth_a_retry_where_that_can_heal(monkeypatch, tmp_path, number, worth_a_retry):
    def refuse(*_):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr("kafka_audit.store.local_disk._write_by_rename", refuse)
    with pytest.raises(StoreError, match=rf"{tmp_path}/store/\.staging/.*: {os.strerror(number)}; ") as error:
        audit_tasks.collect_cluster("prod", {})
    assert isinstance(error.value, StoreBusyError) is worth_a_retry


def test_a_connections_password_logs_in_and_stays_out_of_store_log_and_vantages(clusters, monkeypatch, tmp_path, caplog, capfd):
    """The vantage writes down its environment; Airflow itself hands the connection over in a variable of this process."""
    seen = tmp_path / "seen"
    clusters.write_text(
        f"clusters:\n  prod:\n    kafka_conn_id: kafka_prod\n    vantages: {{v: {{command: [sh, -c, 'env >{seen}; exit 3']}}}}\n"
    )
    broker = SecuredBroker(0, ("PLAIN",), {"auditor": "open-sesame-73"})
    with server(broker) as (host, port):
        broker.brokers = {0: (host, port)}
        extra = {
            "bootstrap.servers": f"{host}:{port}",
            "security.protocol": "SASL_PLAINTEXT",
            "sasl.mechanism": "PLAIN",
            "sasl.username": "auditor",
            "sasl.password": "open-sesame-73",
        }
        monkeypatch.setenv("AIRFLOW_CONN_KAFKA_PROD", json.dumps({"conn_type": "kafka", "extra": extra}))
        with caplog.at_level(logging.DEBUG):
            snapshot_id = audit_tasks.collect_cluster("prod", {})
    assert [row.brokers_listed for row in Store(tmp_path / "store").read(snapshot_id).of(BrokerView)] == [1]
    stored = b"".join(path.read_bytes() for path in (tmp_path / "store").rglob("*") if path.is_file())
    assert "PATH=" in seen.read_text()
    for text in (stored.decode(errors="replace"), caplog.text, *capfd.readouterr(), seen.read_text(), snapshot_id):
        assert "open-sesame-73" not in text


def _snapshot(snapshot_id, cluster):
    started = int(snapshot_id[9:13])
    info = made(SnapshotInfo, cluster=cluster, started_ms=started, finished_ms=started)
    return Snapshot(snapshot_id=snapshot_id, cluster=cluster, cluster_id=f"id-of-{cluster}", rows=(info,))


def test_a_damaged_snapshot_of_one_cluster_holds_up_no_other_and_the_log_says_so(tmp_path, caplog):
    store = Store(tmp_path / "store")
    ids = {}
    for cluster in ("prod", "stage"):
        ids[cluster] = f"20260131T080000Z-{cluster}-00aa", f"20260131T090000Z-{cluster}-00bb"
        for snapshot_id in ids[cluster]:
            store.write(_snapshot(snapshot_id, cluster))
    (
        tmp_path / "store" / "snapshots" / ids["prod"][0] / f"{SnapshotInfo.table()}.parquet"
    ).unlink()  # shared with no other snapshot
    with caplog.at_level(logging.INFO):
        run = audit_tasks.write_run_request([ids["prod"][1], ids["stage"][1]], "manual__1")
    assert {pair.snapshot_id: pair.previous_snapshot_id for pair in store.read_request(run).pairs} == {
        ids["prod"][1]: None,
        ids["stage"][1]: ids["stage"][0],
    }
    audit_tasks.write_package(run)
    assert (tmp_path / "store" / "runs" / run / "kafka_audit.zip").stat().st_size > 0
    warned = [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]
    assert len(warned) == 1
    assert f"{ids['prod'][0]}/snapshot_info.parquet: is missing" in warned[0]
    assert f"{ids['prod'][1]} is compared with nothing, because earlier snapshots are damaged" in caplog.text
