"""The DAG in a real Airflow with a real Spark, auditing what loopback has to offer: a port that refuses, and a wrong entry."""

import json
import shutil
import sqlite3
import subprocess
import sys
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

pytestmark = [pytest.mark.airflow, pytest.mark.spark, pytest.mark.smoke]


TWICE = """
import sys
from airflow.__main__ import main
for conf in sys.argv[1:]:
    sys.argv = ["airflow", "dags", "test", "kafka_audit", "--conf", conf]
    try:
        main()
    except SystemExit as end:
        print(f"END {conf} {end.code}", flush=True)
"""
"""Airflow starts once for all runs: that takes longer than a run."""


@pytest.fixture(scope="module")
def airflow(tmp_path_factory, airflow_database):
    folder = tmp_path_factory.mktemp("airflow")
    clusters = folder / "clusters.yaml"
    clusters.write_text(CLUSTERS)
    home = AirflowHome(HERE, folder / "home", clusters=clusters, store=folder / "store")
    shutil.copy(airflow_database, home.folder)
    return home


@pytest.fixture(scope="module")
def ran(airflow):
    """A run over both clusters, and one of a cluster that the file does not have."""
    command = [sys.executable, "-c", TWICE, "{}", json.dumps({"cluster": "ded"})]
    completed = subprocess.run(
        command,
        cwd=airflow.folder,
        env=airflow.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=True,
    )
    both, end, unknown = completed.stdout.partition("END {} ")
    assert end, completed.stdout[-5000:]
    return SimpleNamespace(both=both, unknown=unknown)


def rows(airflow, query, *arguments):
    with sqlite3.connect(airflow.folder / "airflow.db") as database:
        return database.execute(query, arguments).fetchall()


def runs(airflow):
    """Return id and state of each run, the first one first."""
    return rows(airflow, "select run_id, state from dag_run order by id")


def test_one_clusters_trouble_hides_no_other(airflow, ran):
    (run_id, state), _ = runs(airflow)
    assert state == "failed", ran.both[-5000:]
    states = {(task, name): (state, tries) for task, name, state, tries in rows(airflow, STATES, run_id)}
    assert states == {
        ("clusters", ""): ("success", 1),
        ("collect", "dead"): ("success", 1),
        ("collect", "wrong"): ("failed", 1),
        ("compare", ""): ("success", 1),
        ("report", ""): ("success", 1),
        ("gate", "dead"): ("failed", 1),
        ("gate", "wrong"): ("failed", 1),
    }, ran.both[-5000:]


def test_each_gate_says_why(ran):
    failed = [line.partition("GateFailed: ")[2] for line in ran.both.splitlines() if "GateFailed: " in line]
    errors = dict(line.split(": ", 1) for line in failed)
    why = "wrong: the Airflow connection 'no_such_connection' of kafka_conn_id does not exist"
    assert errors["wrong"] == f"not audited: task collect failed: {why}"
    assert "127.0.0.1:1" in errors["dead"]


def test_the_dead_cluster_has_a_report(airflow, ran):
    store = Path(airflow.environment["KAFKA_AUDIT_STORE"])
    document = json.loads((store / "clusters" / "dead" / "findings.json").read_text())
    assert {f["code"] for f in document["findings"] if f["status"] == "FAIL"} == {"KA001"}, ran.both[-5000:]
    assert not (store / "clusters" / "wrong").exists()


def test_xcoms_carry_names_and_ids_only(airflow, ran):
    values = [value for (value,) in rows(airflow, "select value from xcom where run_id = ?", runs(airflow)[0][0])]
    assert values, ran.both[-5000:]
    assert [value for value in values if len(value) > 200] == []


def test_an_unknown_cluster_fails_with_a_sentence(airflow, ran):
    assert "has no cluster 'ded'; it has dead, wrong" in ran.unknown
    assert "has no cluster 'ded'" not in ran.both
    _, (run_id, state) = runs(airflow)
    states = {task: state for task, _, state, _ in rows(airflow, STATES, run_id)}
    assert (state, states["clusters"], states["gate"]) == ("failed", "failed", "upstream_failed")
