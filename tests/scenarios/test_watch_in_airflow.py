"""Airflow's own scheduler and triggerer: a fault in one cluster of two starts one audit of that cluster, beside others."""

import json
import subprocess
import sys
import time
from contextlib import ExitStack
from types import SimpleNamespace
from urllib.parse import quote

import pytest

from hostile_parties.broker import HostileBroker
from scenarios.scheduled import Scheduled
from testbed.airflow_home import AirflowHome

pytestmark = [pytest.mark.airflow, pytest.mark.scenario]

HERE = SimpleNamespace(popen=lambda command, **options: subprocess.Popen(command, text=True, stdin=subprocess.DEVNULL, **options))
MINUTE = 60
SUSPECTED = "kafka_audit_suspected"
RUNS = f"/api/v2/dags/{SUSPECTED}/dagRuns?limit=100"


def healthy(stack):
    made = [stack.enter_context(HostileBroker(number)) for number in range(3)]
    for broker in made:
        broker.brokers = {other.id: (other.host, other.port) for other in made}
        broker.controller_id = 0
    return made


@pytest.fixture
def clusters():
    with ExitStack() as stack:
        yield {name: healthy(stack) for name in ("prod", "test")}


def await_reading(brokers, seconds):
    """Wait until the triggerer reads a cluster."""
    end = time.monotonic() + seconds
    while not all(broker.connections for broker in brokers):
        assert time.monotonic() < end, "the triggerer does not read the cluster"
        time.sleep(0.2)


def runs(airflow):
    return airflow.call("GET", RUNS)["dag_runs"]


def test_a_fault_starts_an_audit_of_its_cluster_within_a_minute_beside_a_scheduled_one(tmp_path, clusters):
    described = {name: {"bootstrap": [made[0].address], "limits": {"read_s": 2}} for name, made in clusters.items()}
    (tmp_path / "clusters.yaml").write_text(json.dumps({"clusters": described}))
    home = AirflowHome(
        HERE,
        tmp_path / "home",
        clusters=tmp_path / "clusters.yaml",
        store=tmp_path / "store",
        variables={"KAFKA_AUDIT_WATCH": "on"},
    )
    home.ready(home.migrate())
    server = Scheduled(home)
    # Airflow starts the watchers of a DAG that was unpaused when it parses its file the next time.
    server._environment["AIRFLOW__DAG_PROCESSOR__MIN_FILE_PROCESS_INTERVAL"] = "10"
    with server as airflow:
        airflow.unpause("kafka_audit")
        for made in clusters.values():
            await_reading(made, 3 * MINUTE)
        assert runs(airflow) == []
        scheduled = [airflow.trigger("kafka_audit", cluster="test") for _ in range(4)]  # one at a time: minutes

        broken = clusters["prod"][2]
        broken.brokers, broken.controller_id = {}, -1
        began = time.monotonic()
        (run,) = airflow.wait_for(lambda: runs(airflow), 2 * MINUTE, "a run of the DAG")
        took = time.monotonic() - began
        sys.stdout.write(f"the DAG run exists {took:.1f} s after the fault\n")
        assert took <= MINUTE + 10  # the scheduler takes events every few seconds
        assert run["run_type"] == "asset_triggered"

        of_run = f"/api/v2/dags/{SUSPECTED}/dagRuns/{run['dag_run_id']}"
        (event,) = airflow.call("GET", f"{of_run}/upstreamAssetEvents")["asset_events"]
        assert event["name"] == "kafka_audit/prod/suspect"
        (suspicion,) = event["extra"]["payload"]["suspicions"]
        assert (suspicion["what"], suspicion["broker"]) == ("view_empty", 2)

        def chosen():
            found = airflow.call("GET", f"{of_run}/taskInstances?limit=100")["task_instances"]
            return [task for task in found if task["task_id"] == "clusters" and task["state"] == "success"]

        airflow.wait_for(chosen, 2 * MINUTE, "the end of the task clusters")
        assert airflow.call("GET", f"{of_run}/taskInstances/clusters/xcomEntries/return_value")["value"] == ["prod"]
        assert airflow.ended(SUSPECTED, run["dag_run_id"]) == "failed"  # by its gate
        assert len(runs(airflow)) == 1
        report = json.loads((tmp_path / "store" / "clusters" / "prod" / "findings.json").read_text())
        assert "KA105" in {finding["code"] for finding in report["findings"] if finding["status"] == "FAIL"}
        states = [airflow.call("GET", f"/api/v2/dags/kafka_audit/dagRuns/{quote(run_id)}")["state"] for run_id in scheduled]
        assert {"running", "queued"} & set(states), "no scheduled run was left that it could have waited for"
