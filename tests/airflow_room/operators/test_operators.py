"""The operator, its decorator and the sensor without Airflow's server; tests/dags runs them in a real one, with a real Spark."""

import asyncio
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from airflow.providers.apache.spark.operators.spark_submit import SparkSubmitOperator
from airflow.sdk import Asset
from airflow.sdk.exceptions import TaskDeferred
from airflow.triggers.base import TriggerEvent

import kafka_audit
from audit_history import History, cut_off
from collect.fakes import FakeBroker, server
from kafka_audit.airflow import KafkaAuditOperator, KafkaCleanSensor
from kafka_audit.airflow.errors import GateFailed
from kafka_audit.airflow.operators.clean_report import CleanReport
from kafka_audit.airflow.operators.clean_sensor import CleanReportTrigger
from kafka_audit.airflow.operators.decorator import DecoratedAuditOperator
from kafka_audit.airflow.page.links import AuditReport
from kafka_audit.airflow.schedule import assets
from kafka_audit.job.embedded_job import answer
from kafka_audit.model.errors import EngineError, UsageError
from kafka_audit.model.report import report_json
from kafka_audit.spark import submission
from kafka_audit.store import Store
from reported import report_of

NOW = datetime(2026, 9, 14, 6, 10, tzinfo=UTC)


@pytest.fixture(autouse=True)
def store(monkeypatch, tmp_path):
    clusters = tmp_path / "clusters.yaml"
    with server(broker := FakeBroker(0, cluster_id="id-of-prod".ljust(22, "x"))) as (host, port):
        broker.brokers, broker.topics = {0: (host, port)}, {"orders": {0: (0, [0])}}
        clusters.write_text(f"clusters:\n  prod: {{bootstrap: ['{host}:{port}'], limits: {{settle_s: 0}}}}\n")
        monkeypatch.setenv("KAFKA_AUDIT_CLUSTERS", str(clusters))
        monkeypatch.setenv("KAFKA_AUDIT_STORE", str(tmp_path / "store"))
        monkeypatch.setenv("KAFKA_AUDIT_MIN_COVERAGE", "0.1")
        monkeypatch.setenv("KAFKA_AUDIT_FAIL_ON", "critical")
        yield Store(tmp_path / "store")


class Instance:
    dag_id, task_id, map_index = "deployment", "audit", -1

    def __init__(self):
        self.pushed = []

    def xcom_push(self, *, key, value):
        self.pushed.append((key, value))


class Events(dict):
    """What a task leaves: asset by alias."""

    def __missing__(self, alias):
        self[alias] = event = Event()
        return event


class Event:
    def __init__(self):
        self.added = []

    def add(self, asset, *, extra):
        assert extra["cluster"] == "prod"
        self.added.append(asset)


@pytest.fixture
def executed(monkeypatch, store):
    """Return a function that executes a task, whose Spark is replaced by the same judgement without Java."""

    def spark(operator, _context):
        answer(store, operator.application_args[-1])

    monkeypatch.setattr(SparkSubmitOperator, "execute", spark)
    monkeypatch.setattr(submission, "spark_job", lambda _dags: Path("job.py"))
    monkeypatch.setattr("airflow.sdk.BaseOperator.dag", property(lambda _: Dag()), raising=False)

    def run(task):
        context = {"ti": Instance(), "run_id": "manual__1", "outlet_events": Events()}
        try:
            return context, task.execute(context)
        except GateFailed as error:
            return context, error

    return run


class Dag:
    fileloc = "/dags/deployment.py"


def test_one_task_audits_and_leaves_what_the_dag_leaves(store, executed):
    task = KafkaAuditOperator(task_id="audit", cluster="prod", outlets=[Asset("mine")])
    context, summary = executed(task)
    snapshot_id = summary["snapshot_id"]
    assert report_json(store.read_report(snapshot_id))["cluster"] == "prod"
    assert context["ti"].pushed == [
        ("kafka_audit", {"cluster": "prod"}),
        ("kafka_audit", {"cluster": "prod", "snapshot_id": snapshot_id}),
    ]
    assert [outlet.name for outlet in task.outlets] == ["mine", assets.AUDITED.name, assets.CLEAN.name]
    events = context["outlet_events"]
    assert events[assets.AUDITED].added == [assets.audited_asset("prod")]
    assert events[assets.CLEAN].added == [assets.clean_asset("prod")]
    assert task.operator_extra_links[0].get_link(task, ti_key=None).endswith(f"/kafka-audit/snapshots/{snapshot_id}")


def test_the_runs_of_two_dags_with_one_run_id_have_different_names(store, executed):
    executed(KafkaAuditOperator(task_id="audit", cluster="prod"))
    (run,) = [path.name for path in Path(store.root, "runs").iterdir()]
    assert run.startswith("airflow-deployment-audit-manual-1-")


def test_it_fails_from_its_own_severity_and_the_asset_keeps_its_meaning(executed, monkeypatch):
    context, error = executed(KafkaAuditOperator(task_id="audit", cluster="prod", fail_on="low", min_coverage=0.2))
    assert isinstance(error, GateFailed)
    assert context["outlet_events"][assets.CLEAN].added == []
    monkeypatch.setenv("KAFKA_AUDIT_FAIL_ON", "low")
    context, summary = executed(KafkaAuditOperator(task_id="audit", cluster="prod", fail_on="critical"))
    assert summary["cluster"] == "prod"
    assert context["outlet_events"][assets.CLEAN].added == []
    assert context["outlet_events"][assets.AUDITED].added == [assets.audited_asset("prod")]


def test_a_wrong_severity_or_cluster_is_an_error_before_anything_is_asked(executed, store):
    with pytest.raises(UsageError, match="'hihg' is not a severity"):
        executed(KafkaAuditOperator(task_id="audit", cluster="prod", fail_on="hihg"))
    with pytest.raises(UsageError, match="has no cluster 'prd'; it has prod"):
        executed(KafkaAuditOperator(task_id="audit", cluster="prd"))
    assert not Path(store.root).exists()


def test_without_an_audit_there_is_no_link():
    task = KafkaAuditOperator(task_id="audit", cluster="prod")
    assert AuditReport().get_link(task, ti_key=None) == ""


def test_the_pool_of_the_deployment_is_the_default(monkeypatch):
    monkeypatch.setenv("KAFKA_AUDIT_POOL", "kafka")
    assert KafkaAuditOperator(task_id="audit", cluster="prod").pool == "kafka"
    assert KafkaAuditOperator(task_id="audit", cluster="prod", pool="mine").pool == "mine"


def test_a_function_returns_the_cluster_or_options(executed):
    def named(run_id):
        assert run_id == "manual__1"
        return "prod"

    _, summary = executed(DecoratedAuditOperator(task_id="audit", python_callable=named))
    assert summary["cluster"] == "prod"
    strict = {"cluster": "prod", "fail_on": "low"}
    _, error = executed(DecoratedAuditOperator(task_id="audit", python_callable=lambda: strict))
    assert isinstance(error, GateFailed)


@pytest.mark.parametrize("returned", [None, "", 7, {}, {"fail_on": "low"}, {"cluster": "prod", "application": "x.py"}])
def test_a_function_that_returns_something_else_is_a_type_error(executed, returned):
    with pytest.raises(
        TypeError, match="returns the name of a cluster, or a mapping of cluster, fail_on, min_coverage, baseline"
    ):
        executed(DecoratedAuditOperator(task_id="audit", python_callable=lambda: returned))


def test_the_spark_job_is_next_to_the_dags_where_the_package_lies_elsewhere(monkeypatch, tmp_path):
    job = tmp_path / "kafka-audit" / "spark_jobs" / "diff_snapshots.py"
    job.parent.mkdir(parents=True)
    job.write_text("")
    dags = tmp_path / "kafka-audit" / "dags"
    monkeypatch.setattr(kafka_audit, "__file__", str(tmp_path / "site" / "kafka_audit" / "__init__.py"))
    monkeypatch.setattr(submission, "JOBS", "kafka_audit.no_such_package")
    assert submission.spark_job(dags) == job
    job.unlink()
    with pytest.raises(EngineError, match=r"diff_snapshots\.py is in none of"):
        submission.spark_job(dags)


def report(store, *failures, finished=NOW, **more):
    document = report_json(History().audit(*failures)) | {"finished_at": f"{finished:%Y-%m-%dT%H:%M:%SZ}", **more}
    store.write_report(document["snapshot_id"], report_of(document))
    return document["snapshot_id"]


def wanted(store, **more):
    usual = {"cluster": "prod", "fail_on": "high", "min_coverage": 1.0, "max_age_s": 600.0}
    return CleanReport(store=store.root, **(usual | more))


def test_a_clean_report_is_one_that_passes_the_gate(store):
    assert wanted(store).find(NOW) is None, "no report is not clean"
    snapshot_id = report(store)
    assert wanted(store).find(NOW)["snapshot_id"] == snapshot_id
    report(store, *cut_off(1))
    assert wanted(store).find(NOW) is None
    report(store, ("KA607", "cluster", "MEDIUM", {}))
    assert wanted(store).find(NOW) is not None
    assert wanted(store, fail_on="medium").find(NOW) is None


def test_an_old_report_or_one_with_few_answers_is_not_clean(store):
    report(store, finished=NOW - timedelta(seconds=601))
    assert wanted(store).find(NOW) is None
    report(store, coverage={"asked": 4, "answered": 3, "unknown": []})
    assert wanted(store).find(NOW) is None
    assert wanted(store, min_coverage=0.5).find(NOW) is not None


def test_a_report_that_cannot_be_read_is_not_clean_and_no_end_of_waiting(store, caplog):
    snapshot_id = report(store)
    Path(store.root, "snapshots", snapshot_id, "findings.json").write_text("{")
    assert wanted(store).find(NOW) is None
    assert "prod: the last report cannot be read" in caplog.text


def test_a_snapshot_that_is_being_judged_hides_no_report(store):
    snapshot_id = report(store)
    Path(store.root, "snapshots", "20260914T070000Z-prod-0001").mkdir()
    assert wanted(store).find(NOW)["snapshot_id"] == snapshot_id


def test_a_report_of_the_future_is_not_clean(store, caplog):
    """Whoever can put one into a store would open the sensor for ever."""
    report(store, finished=NOW + timedelta(minutes=4))
    assert wanted(store).find(NOW) is not None, "a clock may be a little ahead"
    report(store, finished=NOW + timedelta(minutes=6))
    assert wanted(store).find(NOW) is None
    assert "has a time in the future" in caplog.text


def test_a_snapshot_of_the_future_hides_no_report(store, caplog):
    later = "29990101T000000Z-prod-0001"
    document = report_json(History().audit()) | {"snapshot_id": later, "finished_at": f"{NOW:%Y-%m-%dT%H:%M:%SZ}"}
    store.write_report(later, report_of(document))
    assert wanted(store).find(NOW) is None
    assert f"snapshot {later} has a time in the future and does not count" in caplog.text
    snapshot_id = report(store)
    assert wanted(store).find(NOW)["snapshot_id"] == snapshot_id


def sensor(**more):
    return KafkaCleanSensor(task_id="clean", cluster="prod", poke_interval=0, max_age=timedelta(days=36_500), **more)


def test_the_sensor_defers_what_it_waits_for_to_its_trigger(store):
    with pytest.raises(TaskDeferred) as deferred:
        sensor(deferrable=True, timeout=60).execute({})
    assert deferred.value.timeout == timedelta(seconds=60)
    path, arguments = deferred.value.trigger.serialize()
    assert path == "kafka_audit.airflow.operators.clean_sensor.CleanReportTrigger"
    assert json.loads(json.dumps(arguments)) == arguments
    assert arguments["report"]["fail_on"] == "CRITICAL"
    snapshot_id = report(store)

    async def first():
        return await anext(CleanReportTrigger(**arguments).run())

    event = asyncio.run(first())
    assert isinstance(event, TriggerEvent)
    assert sensor().execute_complete({}, event.payload)["snapshot_id"] == snapshot_id


@pytest.mark.parametrize("deferrable", [True, False])
def test_the_sensor_ends_at_once_where_the_report_is_clean(store, deferrable):
    snapshot_id = report(store)
    assert sensor(deferrable=deferrable).execute({})["snapshot_id"] == snapshot_id


def test_a_sensor_does_not_wait_for_what_cannot_come(monkeypatch):
    with pytest.raises(UsageError, match="has no cluster 'prd'"):
        KafkaCleanSensor(task_id="clean", cluster="prd").execute({})
    monkeypatch.setenv("KAFKA_AUDIT_FAIL_ON", "hihg")
    with pytest.raises(UsageError, match="'hihg' is not a severity"):
        sensor(deferrable=True).execute({})
