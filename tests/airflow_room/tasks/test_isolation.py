"""One cluster never costs another one its report: two clusters in a run, one of which cannot be judged, or takes for ever."""

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from kafka_audit.airflow import xcom_keys
from kafka_audit.airflow.errors import GateFailed
from kafka_audit.airflow.tasks import audit_tasks
from kafka_audit.bounds import isolation
from kafka_audit.embedded.measure import EmbeddedMeasure
from kafka_audit.job.embedded_job import answer
from kafka_audit.model.errors import EngineError
from kafka_audit.model.tables import Snapshot, SnapshotInfo
from kafka_audit.store import Store
from made_rows import made
from outlet_events import Events

PROD, STAGE = "20260131T080000Z-prod-00aa", "20260131T080000Z-stage-00aa"
CLUSTERS = "clusters:\n  prod: {bootstrap: ['127.0.0.1:1']}\n  stage: {bootstrap: ['127.0.0.1:2']}\n"


@pytest.fixture
def store(monkeypatch, tmp_path):
    (tmp_path / "clusters.yaml").write_text(CLUSTERS)
    monkeypatch.setenv("KAFKA_AUDIT_CLUSTERS", str(tmp_path / "clusters.yaml"))
    monkeypatch.setenv("KAFKA_AUDIT_STORE", str(tmp_path / "store"))
    monkeypatch.setenv("KAFKA_AUDIT_MIN_COVERAGE", "0")
    store = Store(tmp_path / "store")
    for snapshot_id, cluster in ((PROD, "prod"), (STAGE, "stage")):
        info = made(SnapshotInfo, cluster=cluster, started_ms=8, finished_ms=8)
        store.write(Snapshot(snapshot_id=snapshot_id, cluster=cluster, cluster_id=f"id-of-{cluster}", rows=(info,)))
    return store


def poisoned(function, forever):
    """Return a function of the judgement that has a fault for the cluster prod: it runs forever, or raises an error."""

    def judge(view, *arguments, **more):
        if view.snapshot.cluster == "prod":
            if forever is not None:
                forever()
            message = f"a bug of check KA407 on {view.snapshot_id}"
            raise ZeroDivisionError(message)
        return function(view, *arguments, **more)

    return judge


WORDS = {"endless": "took longer than 300 s", "raises": "ZeroDivisionError: a bug of check KA407"}


@pytest.mark.parametrize("fault", WORDS)
@pytest.mark.parametrize("place", ["kafka_audit.checks.run.judge", "kafka_audit.incidents.findings.findings_with_lifecycle"])
def test_the_other_cluster_has_its_report_and_this_one_s_gate_says_why(store, monkeypatch, hanging, place, fault):
    module, _, name = place.rpartition(".")
    original = getattr(__import__(module, fromlist=[name]), name)
    monkeypatch.setattr(place, poisoned(original, hanging.forever if fault == "endless" else None))
    noted = {}
    run = audit_tasks.write_run_request([PROD, STAGE], "manual__1")
    answer(store, run)
    judged = audit_tasks.report_run(run, Events(), lambda cluster, why: noted.update({cluster: why}))
    assert judged == {"stage": STAGE}
    troubles = json.loads(store.read_troubles(run))
    assert (troubles["audited"], troubles["known"]) == (["stage"], ["prod", "stage"])
    assert json.loads((Path(store.root) / "clusters" / "stage" / "findings.json").read_text())["cluster"] == "stage"
    assert store.read_report(PROD) is None
    assert list(noted) == ["prod"]
    assert WORDS[fault] in noted["prod"]
    assert len(noted["prod"]) <= xcom_keys.WHY_CHARS

    class Instance:
        def xcom_pull(self, *, task_ids, key, **_more):
            return noted.get(key.removeprefix(f"{xcom_keys.WHY}_")) if task_ids == "report" else None

    why = audit_tasks.noted_reason(Instance(), 0, "prod")
    with pytest.raises(GateFailed, match=f"prod: not audited: .*{WORDS[fault]}"):
        audit_tasks.gate("prod", judged, why, Events())
    audit_tasks.gate("stage", judged, audit_tasks.noted_reason(Instance(), 1, "stage"), Events())


@pytest.mark.parametrize("place", ["kafka_audit.checks.run.judge", "kafka_audit.incidents.findings.findings_with_lifecycle"])
def test_a_run_of_that_cluster_alone_fails_as_it_is(store, monkeypatch, place):
    monkeypatch.setattr(place, poisoned(None, None))
    with pytest.raises(ZeroDivisionError, match="a bug of check KA407"):
        _both(store)


def _both(store):
    run = audit_tasks.write_run_request([PROD], "manual__1")
    answer(store, run)
    audit_tasks.report_run(run, Events())


def test_the_time_of_a_run_is_shared(monkeypatch, hanging):
    """The clock is held: those that are endless take all of their share."""
    clock, quarter = SimpleNamespace(now=0.0), isolation.ALL_SECONDS / 4
    monkeypatch.setattr(isolation, "time", SimpleNamespace(monotonic=lambda: clock.now))
    monkeypatch.setattr(isolation, "SNAPSHOT_SECONDS", isolation.ALL_SECONDS)
    turns = isolation.InTurn(4)
    endless = dict.fromkeys(("1", "2", "3"), hanging.forever)
    for name, outcome in turns({**endless, "fine": lambda: 4}):
        if name == "fine":
            assert outcome() == 4
            continue
        with pytest.raises(EngineError, match="its checks did not finish"):
            outcome()
        clock.now += quarter
    assert hanging.waits == [pytest.approx(quarter, abs=60)] * 4


@pytest.mark.parametrize("fault", ["endless", "raises"])
def test_a_cluster_that_cannot_be_measured_costs_no_other_one_its_report(store, monkeypatch, hanging, fault):
    """All clusters were measured together, before each was judged apart."""
    original = EmbeddedMeasure.differences

    def differences(self, given, *tables):
        if PROD in given:
            if fault == "endless":
                hanging.forever()
            message = "Out of Memory Error"
            raise EngineError(message)
        return original(self, given, *tables)

    monkeypatch.setattr(EmbeddedMeasure, "differences", differences)
    run = audit_tasks.write_run_request([PROD, STAGE], "manual__1")
    answer(store, run)
    found = store.read_answer(run)
    assert found.judged == (STAGE,)
    assert [snapshot_id for snapshot_id, _ in found.failed] == [PROD]
    assert {"endless": "took longer than 300 s", "raises": "Out of Memory"}[fault] in found.failed[0][1]


def test_a_damaged_table_costs_no_other_cluster_its_report(store):
    manifest = store.manifest(PROD)
    run = audit_tasks.write_run_request([PROD, STAGE], "manual__1")
    folder = Path(store.root) / "snapshots" / PROD
    (folder / "view_topic.parquet").write_bytes(b"no parquet")
    assert manifest.tables
    answer(store, run)
    found = store.read_answer(run)
    assert found.judged == (STAGE,)
    assert [snapshot_id for snapshot_id, _ in found.failed] == [PROD]
