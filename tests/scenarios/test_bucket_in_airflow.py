"""A whole Airflow whose store is a bucket: scheduler, tasks, Spark, triggerer and page find its login in one Airflow connection.

The connection is in Airflow's database, as people make it, and no process has a variable of Amazon's. The bucket is moto's.
"""

import json
import time
from contextlib import ExitStack

import pytest

from hostile_parties.broker import honest_brokers
from scenarios import browser
from scenarios.loopback_cluster import HERE
from scenarios.scheduled import Scheduled
from testbed.airflow_home import DAG, AirflowHome
from testbed.jars import s3a_jars
from testbed.object_store import BUCKET, S3Server

pytestmark = [pytest.mark.airflow, pytest.mark.spark, pytest.mark.scenario]

CLUSTER = "prod"
RUNS = f"/api/v2/dags/{DAG}/dagRuns?limit=100"
MINUTE = 60
READINGS = 6  # in a row see a fault that goes on; two suspect a new one


@pytest.fixture
def s3(tmp_path):
    with S3Server(tmp_path) as server:
        yield server


@pytest.fixture
def home(tmp_path, brokers):
    entry = {"bootstrap": [brokers[0].address], "limits": {"read_s": 2, "settle_s": 0.2}}
    (tmp_path / "clusters.yaml").write_text(json.dumps({"clusters": {CLUSTER: entry}}))
    home = AirflowHome(
        HERE,
        tmp_path / "airflow",
        clusters=tmp_path / "clusters.yaml",
        store=f"s3://{BUCKET}/audit",
        variables={"KAFKA_AUDIT_WATCH": "on", "KAFKA_AUDIT_SPARK_MEMORY": "1g"},
    )
    for variable in [variable for variable in home.environment if variable.startswith("AWS_")]:
        del home.environment[variable]
    home.environment["AWS_EC2_METADATA_DISABLED"] = "true"
    home.ready(home.migrate())
    return home


@pytest.fixture
def brokers():
    with honest_brokers() as made:
        for broker in made:
            broker.topics = {"orders": {number: (number, [0, 1, 2]) for number in range(3)}}
        yield made


def started(home):
    server = Scheduled(home)
    # Airflow starts the watchers of a DAG that was unpaused when it parses its file the next time.
    server._environment["AIRFLOW__DAG_PROCESSOR__MIN_FILE_PROCESS_INTERVAL"] = "10"
    return server


def runs(airflow):
    return airflow.call("GET", RUNS)["dag_runs"]


def in_bucket(s3, name):
    return s3.client("s3").get_object(Bucket=BUCKET, Key=f"audit/{name}")["Body"].read().decode()


def await_readings(brokers, readings, seconds):
    """Wait until the triggerer has read every broker this many times; nothing else may connect to them meanwhile."""
    before, end = [broker.connections for broker in brokers], time.monotonic() + seconds
    while min(broker.connections - count for broker, count in zip(brokers, before, strict=True)) < readings:
        assert time.monotonic() < end, "the triggerer does not read the cluster"
        time.sleep(0.5)


def test_page_watch_and_runs_over_a_bucket(home, s3, brokers):
    connections = {
        "kafka_audit_store": s3.connection(),
        "kafka_audit_spark": {
            "conn_type": "spark",
            "host": "local[*]",
            "extra": {"conf": {"spark.driver.extraClassPath": f"{s3a_jars()}/*"}},
        },
    }
    with ExitStack() as stack:
        airflow = stack.enter_context(started(home))
        for conn_id, about in connections.items():
            body = {"connection_id": conn_id} | about | {"extra": json.dumps(about["extra"])}
            airflow.call("POST", "/api/v2/connections", body)
        airflow.unpause(DAG)
        first = airflow.trigger(DAG, cluster=CLUSTER)
        assert airflow.ended(DAG, first, 10 * MINUTE) == "success", airflow.states(DAG, first)
        await_readings(brokers, 2, 3 * MINUTE)

        broken = brokers[2]
        broken.brokers, broken.controller_id = {}, -1
        suspected = airflow.wait_for(lambda: [run for run in runs(airflow) if run["dag_run_id"] != first], 3 * MINUTE, "a run")[0]
        assert suspected["run_type"] == "asset_triggered"
        assert airflow.ended(DAG, suspected["dag_run_id"], 10 * MINUTE) == "failed"
        states = airflow.states(DAG, suspected["dag_run_id"])
        assert {task for task, state in states.items() if state != "success"} == {"gate"}, states
        remembered = json.loads(in_bucket(s3, f"watch/{CLUSTER}.json"))
        assert [symptom["observation"]["broker"] for symptom in remembered["symptoms"].values()] == [2]

        ids = sorted({name.split("/")[2] for name in s3.objects() if name.startswith("audit/snapshots/")})
        assert len(ids) == 2
        headline = json.loads(in_bucket(s3, f"snapshots/{ids[1]}/findings.json"))["incidents"][0]["headline"]
        with browser.chromium() as chromium:
            see_the_pages(browser.someone(chromium, airflow.url, "viewer"), airflow.url, ids, headline)
    texts = [(home.folder / "standalone.log").read_text(errors="replace")]
    texts += [log.read_text(errors="replace") for log in (home.folder / "logs").rglob("*.log")]

    # A triggerer that knew nothing would suspect the fault again, and request an audit.
    with started(home) as airflow:
        await_readings(brokers, READINGS, 5 * MINUTE)
        assert len(runs(airflow)) == 2
        # Without the file it does.
        s3.client("s3").delete_object(Bucket=BUCKET, Key=f"audit/watch/{CLUSTER}.json")
    with started(home) as airflow:
        airflow.wait_for(lambda: len(runs(airflow)) == 3, 4 * MINUTE, "the run of a triggerer that knows nothing")

    texts.append((home.folder / "standalone.log").read_text(errors="replace"))
    texts += [in_bucket(s3, name.removeprefix("audit/")) for name in s3.objects() if name.endswith(".json")]
    assert [text for text in texts if s3.secret in text] == []


def see_the_pages(page, url, ids, headline):
    """Overview, cluster, snapshot, timeline and what changed between the two."""
    pages = f"{url}/kafka-audit"
    page.goto(f"{pages}/")
    page.get_by_role("link", name=CLUSTER, exact=True).click()
    assert page.locator("#headline").inner_text() == headline
    assert "broker 2" in headline.lower()
    page.goto(f"{pages}/snapshots/{ids[0]}")
    assert page.locator("#headline").inner_text() != headline
    page.goto(f"{pages}/clusters/{CLUSTER}/timeline")
    assert [box.get_attribute("value") for box in page.locator("table.tl input[name=a]").all()] == ids
    page.goto(f"{pages}/clusters/{CLUSTER}/timeline?a={ids[0]}&b={ids[1]}")
    assert "KA105" in page.locator("main").inner_text()
