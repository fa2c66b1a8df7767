"""A vantage that is an Airflow queue: its worker runs on a host of another network, and sees that network.

Airflow runs on the worker host with LocalExecutor and EdgeExecutor beside each other; an edge worker of queue `dmz` runs on a
host that the rest of this bed's cuts are made for. It asks Airflow's API alone and knows no password.
"""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from scenarios import beds
from scenarios.audits import Audits, evidence_of, failing
from testbed import presets
from testbed.airflow_home import AirflowHome

pytest.importorskip("airflow.providers.edge3", reason="needs apache-airflow-providers-edge3, an executor with queues")

pytestmark = [pytest.mark.bed, pytest.mark.airflow, pytest.mark.spark, pytest.mark.scenario]
bed = beds.of_one_test

API = "http://10.99.0.1:8080"
SETTINGS = {
    "AIRFLOW__CORE__EXECUTOR": "LocalExecutor,airflow.providers.edge3.executors.EdgeExecutor",
    "AIRFLOW__CORE__EXECUTION_API_SERVER_URL": f"{API}/execution/",
    "AIRFLOW__CORE__DAGS_ARE_PAUSED_AT_CREATION": "False",
    "AIRFLOW__CORE__PARALLELISM": "4",
    "AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_ALL_ADMINS": "True",
    "AIRFLOW__API__BASE_URL": API,
    "AIRFLOW__API_AUTH__JWT_SECRET": "of-this-bed-alone-and-long-enough-for-a-signature-of-sha512-to-be-content",
    "AIRFLOW__EDGE__API_ENABLED": "True",
    "AIRFLOW__EDGE__API_RETRIES": "200",  # the worker is up long before the API
    "AIRFLOW__EDGE__API_RETRY_WAIT_MAX": "2",
    "AIRFLOW__EDGE__API_URL": f"{API}/edge_worker/v1/rpcapi",
    "AIRFLOW__EDGE__JOB_POLL_INTERVAL": "1",
    "AIRFLOW__EDGE__HEARTBEAT_INTERVAL": "5",
    "KAFKA_AUDIT_SCHEDULE": "none",
    "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),  # `standalone` starts its parts from there
}
QUICK = {"read_s": 3, "settle_s": 2}
START_SECONDS, RUN_SECONDS = 400, 600


@pytest.fixture
def cluster(bed):
    cluster = bed.cluster("3.9.1", **presets.split())
    cluster.create_topic("orders", {0: [0, 1, 2], 1: [1, 2, 0], 2: [2, 0, 1]})
    cluster.await_settled()
    return cluster


@pytest.fixture
def dmz(bed):
    return bed.hosts.add("dmz", "10.99.0.100")


class Airflow:
    """Scheduler, API and DAG processor on the worker host, one edge worker on another."""

    def __init__(self, bed, dmz, folder, clusters, store):
        self._host = bed.worker
        self._folder = folder
        self._home = AirflowHome(bed.worker, folder, clusters=clusters, store=store, variables=SETTINGS)
        self._home.ready(self._home.migrate())
        self._started = [
            self._start(bed.worker, "standalone"),
            self._start(dmz, "edge", "worker", "--queues", "dmz", "--edge-hostname", "dmz-1", "--concurrency", "1"),
        ]

    def _start(self, host, *arguments):
        with (self._folder / f"{arguments[0]}.log").open("w") as log:
            return host.popen(
                [sys.executable, "-m", "airflow", *arguments],
                cwd=self._folder,
                env=self._home.environment,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def stop(self):
        for process in reversed(self._started):
            os.killpg(process.pid, signal.SIGTERM)
        for process in self._started:
            try:
                process.wait()
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()

    def rows(self, query):
        with sqlite3.connect(self._folder / "airflow.db", timeout=300) as database:
            return database.execute(query).fetchall()

    def wait_for(self, query, seconds, what):
        deadline = time.monotonic() + seconds
        while not (found := self.rows(query)):
            if time.monotonic() > deadline:
                logs = [path.read_text(errors="replace")[-3000:] for path in self._folder.glob("*.log")]
                raise AssertionError("\n".join([f"{what} did not come in {seconds} s", *logs]))
            time.sleep(1)
        return found

    def run(self, number):
        """Run the DAG once; return its state, and by task where it ran and how it ended."""
        self.wait_for("select 1 from serialized_dag where dag_id = 'kafka_audit'", START_SECONDS, "the DAG")
        self.wait_for("select 1 from edge_worker where state = 'idle'", START_SECONDS, "the worker of the queue")
        trigger = ["dags", "trigger", "kafka_audit", "--run-id", f"run-{number}"]
        self._host.run([sys.executable, "-m", "airflow", *trigger], cwd=self._folder, env=self._home.environment, check=True)
        ended = f"select state from dag_run where run_id = 'run-{number}' and state in ('success', 'failed')"  # noqa: S608
        ((state,),) = self.wait_for(ended, RUN_SECONDS, "the end of the run")
        tasks = self.rows(f"select task_id, state, queue, hostname from task_instance where run_id = 'run-{number}'")  # noqa: S608
        return state, {task: (how, queue, where) for task, how, queue, where in tasks}


@pytest.fixture
def airflow(bed, cluster, dmz, tmp_path):
    audits = Audits(bed, cluster, tmp_path / "audits")
    audits.describe("prod", listeners={"INTERNAL": "skip"}, limits=QUICK, vantages={"dmz": {"queue": "dmz"}})
    airflow = Airflow(bed, dmz, tmp_path / "airflow", tmp_path / "audits" / "prod" / "clusters.yaml", tmp_path / "store")
    yield airflow
    airflow.stop()


def report(tmp_path):
    return json.loads((tmp_path / "store" / "clusters" / "prod" / "findings.json").read_text())


def test_a_worker_of_the_queue_sees_its_own_network(airflow, bed, cluster, dmz, tmp_path):
    for broker in (1, 2):
        bed.cut(dmz, cluster.brokers[broker].host)
    state, tasks = airflow.run(1)
    assert tasks["probe_dmz"][:2] == ("success", "dmz"), tasks
    assert state == "failed"
    broken = report(tmp_path)
    (incident,) = broken["incidents"]
    assert incident["headline"] == "Clients at dmz cannot reach brokers 1 and 2: 2 of 3 advertised endpoints fail at tcp"
    assert "vantage dmz: layer by layer: dns 3 of 3, tcp 1 of 3, api 1 of 1, packets 1 of 1" in evidence_of(incident)
    assert failing(broken, at_least="HIGH") == {("KA301", f"broker/{broker}/listener/CLIENT") for broker in (1, 2)}
    assert broken["coverage"]["answered"] == broken["coverage"]["asked"]

    for broker in (1, 2):
        bed.heal(dmz, cluster.brokers[broker].host)
    state, tasks = airflow.run(2)
    assert state == "success", tasks
    healed = report(tmp_path)
    assert healed["incidents"] == []
    assert [incident["cause"] for incident in healed["resolved_incidents"]] == ["KA301"]
