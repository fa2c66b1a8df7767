"""The DAG in a real Airflow with a real Spark, auditing what loopback has to offer: a port that refuses, and a wrong entry."""

import json
import sqlite3
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest

from testbed.airflow_home import AirflowHome

CLUSTERS = """\
clusters:
  dead: {bootstrap: ["127.0.0.1:1"], limits: {read_s: 2, settle_s: 0}}
  wrong: {kafka_conn_id: no_such_connection}
"""
STATES = "select task_id, coalesce(rendered_map_index, ''), state, try_number from task_instance where run_id = ?"
HERE = SimpleNamespace(popen=lambda command, **options: subprocess.Popen(command, text=True, stdin=subprocess.DEVNULL, **options))

pytestmark = [pytest.mark.airflow, pytest.mark.spark]


@pytest.fixture(scope="module")
def airflow(tmp_path_factory):
    folder = tmp_path_factory.mktemp("airflow")
    clusters = folder / "clusters.yaml"
    clusters.write_text(CLUSTERS)
    home = AirflowHome(HERE, folder / "home", clusters=clusters, store=folder / "store")
    home.ready(home.migrate())
    return home


@pytest.fixture(scope="module")
def ran(airflow, tmp_path_factory):
    """One run over both clusters."""
    return airflow.run(tmp_path_factory.mktemp("logs") / "both.log")


def rows(airflow, query, *arguments):
    with sqlite3.connect(airflow.folder / "airflow.db") as database:
        return database.execute(query, arguments).fetchall()


def last_run(airflow):
    ((run_id,),) = rows(airflow, "select run_id from dag_run order by id desc limit 1")
    return run_id


def gates(run):
    failed = [line.partition("GateFailed: ")[2] for line in run.log.read_text().splitlines() if "GateFailed: " in line]
    return dict(line.split(": ", 1) for line in failed)


def test_one_clusters_trouble_hides_no_other(airflow, ran):
    states = {(task, name): (state, tries) for task, name, state, tries in rows(airflow, STATES, last_run(airflow))}
    assert states == {
        ("clusters", ""): ("success", 1),
        ("collect", "dead"): ("success", 1),
        ("collect", "wrong"): ("failed", 1),
        ("compare", ""): ("success", 1),
        ("report", ""): ("success", 1),
        ("gate", "dead"): ("failed", 1),
        ("gate", "wrong"): ("failed", 1),
    }, ran.tail()
    assert ran.returncode == 1


def test_each_gate_says_why(ran):
    said = gates(ran)
    why = "wrong: the Airflow connection 'no_such_connection' of kafka_conn_id does not exist"
    assert said["wrong"] == f"not audited: task collect failed: {why}"
    assert "127.0.0.1:1" in said["dead"]


def test_the_dead_cluster_has_a_report(airflow, ran):
    store = Path(airflow.environment["KAFKA_AUDIT_STORE"])
    document = json.loads((store / "clusters" / "dead" / "findings.json").read_text())
    assert {f["code"] for f in document["findings"] if f["status"] == "FAIL"} == {"KA001"}, ran.tail()
    assert not (store / "clusters" / "wrong").exists()


def test_xcoms_carry_names_and_ids_only(airflow, ran):
    values = [value for (value,) in rows(airflow, "select value from xcom where run_id = ?", last_run(airflow))]
    assert values, ran.tail()
    assert [value for value in values if len(value) > 200] == []


def test_an_unknown_cluster_fails_with_a_sentence(airflow, tmp_path):
    run = airflow.run(tmp_path / "unknown.log", conf='{"cluster": "ded"}')
    assert run.returncode == 1
    assert "has no cluster 'ded'; it has dead, wrong" in run.log.read_text()
    states = {task: state for task, _, state, _ in rows(airflow, STATES, last_run(airflow))}
    assert (states["clusters"], states["gate"]) == ("failed", "upstream_failed")
