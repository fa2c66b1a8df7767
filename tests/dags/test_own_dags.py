"""DAGs that others write, in a real Airflow: operator and decorator with a real Spark, the sensor in both of its modes."""

import contextlib
import json
import shutil
import sqlite3
import subprocess
import threading
import time
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace

import pytest

from audit_history import History
from collect.fakes import FakeBroker, refused, server
from kafka_audit.model.report import report_json
from kafka_audit.store import Store
from reported import report_of
from testbed.airflow_home import AirflowHome

HERE = SimpleNamespace(popen=lambda command, **options: subprocess.Popen(command, text=True, stdin=subprocess.DEVNULL, **options))

OWN = """
from airflow.sdk import dag, task
from kafka_audit.airflow import KafkaAuditOperator, KafkaCleanSensor

@dag(params={"cluster": "dead"})
def own():
    audit = KafkaAuditOperator(task_id="audit", cluster="prod")
    audit >> KafkaCleanSensor(task_id="clean", cluster="prod", deferrable=True)

    @task.kafka_audit
    def decorated(params):
        return {"cluster": params["cluster"], "fail_on": "medium"}

    decorated()

    poked = KafkaCleanSensor(task_id="poked", cluster="poked", poke_interval=1, timeout=3600)
    poked >> KafkaCleanSensor(task_id="deferred", cluster="deferred", poke_interval=1, deferrable=True)

own()
"""
"""Three users of the package in one DAG: its three parts do not wait for each other, and Airflow starts once."""

pytestmark = [pytest.mark.airflow, pytest.mark.spark]


@pytest.fixture(scope="module")
def healthy():
    """Serve a cluster on loopback in which nothing is critical; return its address."""
    with contextlib.ExitStack() as stack:
        brokers = [FakeBroker(number, cluster_id="id-of-prod".ljust(22, "x")) for number in range(2)]
        at = [stack.enter_context(server(broker)) for broker in brokers]
        for broker in brokers:
            broker.brokers, broker.controller_id = dict(enumerate(at)), 0
            broker.topics = {"orders": {0: (0, [0, 1]), 1: (1, [1, 0])}}
        yield "{}:{}".format(*at[0])


@pytest.fixture(scope="module")
def airflow(healthy, tmp_path_factory, airflow_database):
    folder = tmp_path_factory.mktemp("airflow")
    (folder / "dags").mkdir()
    (folder / "dags" / "own.py").write_text(OWN)
    clusters = folder / "clusters.yaml"
    dead = "{}:{}".format(*refused())
    limits = "limits: {read_s: 60, settle_s: 0}"
    places = {"prod": healthy, "dead": dead, "poked": dead, "deferred": dead}
    entries = [f"  {name}: {{bootstrap: ['{at}'], {limits}}}\n" for name, at in places.items()]
    clusters.write_text(f"clusters:\n{''.join(entries)}")
    variables = {
        "AIRFLOW__CORE__DAGS_FOLDER": str(folder / "dags"),
        "KAFKA_AUDIT_MIN_COVERAGE": "0.1",
        "AIRFLOW__KAFKA_AUDIT__FAIL_ON": "critical",
    }
    home = AirflowHome(HERE, folder / "home", clusters=clusters, store=folder / "store", variables=variables)
    shutil.copy(airflow_database, home.folder)
    return home


@pytest.fixture(scope="module")
def store(airflow):
    return Store(airflow.environment["KAFKA_AUDIT_STORE"])


@pytest.fixture(scope="module")
def ran(airflow, store):
    """One run, in which reports of two clusters appear when their sensors have found none."""
    log = airflow.folder / "log"

    def report():
        for cluster in ("poked", "deferred"):
            while not (log.exists() and f"{cluster}: there is no report" in log.read_text()):
                time.sleep(0.5)
            now = datetime.now(UTC)
            snapshot_id = f"{now:%Y%m%dT%H%M%SZ}-{cluster}-0001"
            own = {"cluster": cluster, "snapshot_id": snapshot_id, "finished_at": f"{now:%Y-%m-%dT%H:%M:%SZ}"}
            store.write_report(snapshot_id, report_of(report_json(History().audit()) | own))

    threading.Thread(target=report, daemon=True).start()
    run = airflow.run(log, dag="own")
    with contextlib.closing(sqlite3.connect(airflow.folder / "airflow.db")) as database:
        states = dict(database.execute("select task_id, state from task_instance"))
    return SimpleNamespace(tail=run.tail, said=log.read_text(), states=states)


def test_a_cluster_is_audited_and_waited_for(ran, store):
    assert (ran.states["audit"], ran.states["clean"]) == ("success", "success"), ran.tail()
    assert "clean: no failure of severity CRITICAL or above" in ran.said
    (name,) = [path.name for path in Path(store.root, "runs").iterdir() if "own-audit" in path.name]
    assert name.startswith("airflow-own-audit-manual-")
    document = json.loads(Path(store.root, "clusters", "prod", "findings.json").read_text())
    assert document["coverage"]["answered"] > 0
    assert f"prod: {document['snapshot_id']}: clean" in ran.said, "the sensor"


def test_a_decorated_function_names_the_cluster_and_the_task_fails_with_the_headline(ran, store):
    assert ran.states["decorated"] == "failed", ran.tail()
    failed = [line for line in ran.said.splitlines() if "GateFailed: dead: " in line]
    assert failed, ran.tail()
    document = json.loads(Path(store.root, "clusters", "dead", "findings.json").read_text())
    assert document["incidents"][0]["headline"] in failed[0]


def test_the_sensor_waits_in_both_modes_for_a_clean_report(ran):
    assert (ran.states["poked"], ran.states["deferred"]) == ("success", "success"), ran.tail()
    assert "[DAG TEST] Trigger completed" in ran.said
    waited = [
        line
        for line in ran.said.splitlines()
        if "clean: no failure of severity CRITICAL or above, 32 of 32 reads answered" in line
    ]
    assert {name for name in ("poked", "deferred") if any(f"{name}: " in line for line in waited)} == {"poked", "deferred"}, (
        waited
    )
