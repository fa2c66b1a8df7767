"""DAGs that others write, in a real Airflow: operator and decorator with a real Spark, the sensor in both of its modes."""

import contextlib
import json
import subprocess
import threading
import time
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace

import pytest

from audit_history import History
from collect.fakes import FakeBroker, refused, server
from kafka_audit.store import Store
from testbed.airflow_home import AirflowHome

HERE = SimpleNamespace(popen=lambda command, **options: subprocess.Popen(command, text=True, stdin=subprocess.DEVNULL, **options))

DAGS = {
    "deployment": """
from airflow.sdk import dag
from kafka_audit.airflow import KafkaAuditOperator, KafkaCleanSensor

@dag
def deployment():
    audit = KafkaAuditOperator(task_id="audit", cluster="prod")
    audit >> KafkaCleanSensor(task_id="clean", cluster="prod", deferrable=True)

deployment()
""",
    "decorated": """
from airflow.sdk import dag, task

@dag(params={"cluster": "dead"})
def decorated():
    @task.kafka_audit
    def audit(params):
        return {"cluster": params["cluster"], "fail_on": "medium"}

    audit()

decorated()
""",
    "waiting": """
from airflow.sdk import dag
from kafka_audit.airflow import KafkaCleanSensor

@dag
def waiting():
    poked = KafkaCleanSensor(task_id="poked", cluster="poked", poke_interval=1, timeout=120)
    poked >> KafkaCleanSensor(task_id="deferred", cluster="deferred", poke_interval=1, deferrable=True)

waiting()
""",
}

pytestmark = pytest.mark.airflow


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
def airflow(healthy, tmp_path_factory):
    folder = tmp_path_factory.mktemp("airflow")
    (folder / "dags").mkdir()
    for name, source in DAGS.items():
        (folder / "dags" / f"{name}.py").write_text(source)
    clusters = folder / "clusters.yaml"
    dead = "{}:{}".format(*refused())
    limits = "limits: {read_s: 2, settle_s: 0}"
    places = {"prod": healthy, "dead": dead, "poked": dead, "deferred": dead}
    entries = [f"  {name}: {{bootstrap: ['{at}'], {limits}}}\n" for name, at in places.items()]
    clusters.write_text(f"clusters:\n{''.join(entries)}")
    variables = {
        "AIRFLOW__CORE__DAGS_FOLDER": str(folder / "dags"),
        "KAFKA_AUDIT_MIN_COVERAGE": "0.1",
        "AIRFLOW__KAFKA_AUDIT__FAIL_ON": "critical",
    }
    home = AirflowHome(HERE, folder / "home", clusters=clusters, store=folder / "store", variables=variables)
    home.ready(home.migrate())
    return home


@pytest.fixture(scope="module")
def store(airflow):
    return Store(airflow.environment["KAFKA_AUDIT_STORE"])


@pytest.mark.spark
def test_a_cluster_is_audited_and_waited_for_in_ten_lines(airflow, store, tmp_path):
    run = airflow.run(tmp_path / "log", dag="deployment")
    assert run.returncode == 0, run.tail()
    said = run.log.read_text()
    assert "clean: no failure of severity CRITICAL or above" in said
    (name,) = [path.name for path in Path(store.root, "runs").iterdir() if "deployment-audit" in path.name]
    assert name.startswith("airflow-deployment-audit-manual-")
    document = json.loads(Path(store.root, "clusters", "prod", "findings.json").read_text())
    assert document["coverage"]["answered"] > 0
    assert f"prod: {document['snapshot_id']}: clean" in said, "the sensor"


@pytest.mark.spark
def test_a_decorated_function_names_the_cluster_and_the_task_fails_with_the_headline(airflow, store, tmp_path):
    run = airflow.run(tmp_path / "log", dag="decorated")
    assert run.returncode == 1, run.tail()
    failed = [line for line in run.log.read_text().splitlines() if "GateFailed: dead: " in line]
    assert failed, run.tail()
    document = json.loads(Path(store.root, "clusters", "dead", "findings.json").read_text())
    assert document["incidents"][0]["headline"] in failed[0]


def test_the_sensor_waits_in_both_modes_for_a_clean_report(airflow, store, tmp_path):
    log = tmp_path / "log"

    def report():
        for cluster in ("poked", "deferred"):
            while not (log.exists() and f"{cluster}: there is no report" in log.read_text()):
                time.sleep(0.5)
            now = datetime.now(UTC)
            snapshot_id = f"{now:%Y%m%dT%H%M%SZ}-{cluster}-0001"
            own = {"cluster": cluster, "snapshot_id": snapshot_id, "finished_at": f"{now:%Y-%m-%dT%H:%M:%SZ}"}
            store.write_report(snapshot_id, History().audit() | own)

    threading.Thread(target=report, daemon=True).start()
    run = airflow.run(log, dag="waiting")
    assert run.returncode == 0, run.tail()
    said = log.read_text()
    assert "[DAG TEST] Trigger completed" in said
    assert said.count("clean: no failure of severity CRITICAL or above, 4 of 4 reads answered") == 2
