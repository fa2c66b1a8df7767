"""Seven audits and what a mailbox and a Slack channel get of them: by `airflow dags test`, and under the scheduler.

The cluster is three brokers on loopback, one of which refuses, then two, then all; Spark answers at once that it found nothing.
"""

import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from scenarios import beds
from scenarios.audits import dag_tests
from scenarios.loopback_cluster import airflow_over
from scenarios.scheduled import Scheduled, free_port

FOLDER = Path(__file__).parent
STORY = {
    "clean": (0, 1, 2),
    "broken": (0, 2),
    "broken still": (0, 2),
    "worse": (0,),
    "repaired": (0, 1, 2),
    "snapshot failed": (),
    "clean again": (0, 1, 2),
}
FAILS = {"broken", "broken still", "worse", "snapshot failed"}
EXPECTED = [
    "[NEW] prod: Clients at this worker cannot reach broker 1: 1 of 3 advertised endpoints fails at tcp",
    "[WORSE] prod: Clients at this worker cannot reach brokers 1 and 2: 2 of 3 endpoints fail at tcp",
    "[RESOLVED] prod: resolved after ",
    "[NOT AUDITED] prod: Brokers 0, 1 and 2 give no view: the auditor gets no answer (connection refused)",
    "[AUDITED AGAIN] prod: no incident, after 1 failed audit",
]
AFTER = {"after_audited": 6, "after_clean": 3}
"""Runs of the other team's DAGs: one after each audit that judged something, one after each that was clean."""

pytestmark = [pytest.mark.airflow, pytest.mark.scenario]
cluster = beds.on_loopback


@pytest.fixture
def arrived(tmp_path):
    """What a mail server and a webhook on loopback got, and the connections that lead there."""
    smtp, http, file = free_port(), free_port(), tmp_path / "arrived.jsonl"
    extra = {"disable_ssl": True, "disable_tls": True, "from_email": "airflow@example.com", "to": "oncall@example.com"}
    connections = {
        "SMTP": {"conn_type": "smtp", "host": "127.0.0.1", "port": smtp, "extra": extra},
        "SLACK": {"conn_type": "slackwebhook", "host": f"http://127.0.0.1:{http}", "password": "/services/T0/B0/XX"},
    }
    with subprocess.Popen(
        [sys.executable, str(FOLDER / "alert_sink.py"), str(smtp), str(http), str(file)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as sink:
        assert sink.stdout.readline() == "ready\n"
        variables = {f"AIRFLOW_CONN_KAFKA_AUDIT_{name}": json.dumps(connection) for name, connection in connections.items()}
        yield SimpleNamespace(
            variables=variables,
            messages=lambda: [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else [],
        )
        sink.stdin.close()


@pytest.fixture
def airflow(cluster, arrived, tmp_path):
    """An Airflow that audits the cluster, with both connections, and with two DAGs of another team."""
    others = {"AFTER_AUDITS": str(tmp_path / "after.jsonl")}
    return airflow_over(cluster, tmp_path, arrived.variables | others, *(FOLDER / "dags_after_audits").glob("*.py"))


def check(messages):
    """Hold what arrived against what the story must give."""
    mails = [dict(message["headers"])["Subject"] for message in messages if message["kind"] == "mail"]
    posts = [message["text"].splitlines()[0].strip("*") for message in messages if message["kind"] == "slack"]
    assert [mail[: len(wanted)] for mail, wanted in zip(mails, EXPECTED, strict=True)] == EXPECTED
    assert posts == mails
    for message in messages:
        text = message.get("plain") or message["text"]
        assert "/dags/kafka_audit/runs/" in text
        assert text.splitlines()[0].strip("*") in mails


@pytest.fixture
def dags_test(airflow):
    """Run `airflow dags test` once more; returns its exit code."""
    with dag_tests(airflow) as run:
        yield run


def test_seven_audits_give_five_messages_by_dags_test(dags_test, cluster, arrived, tmp_path):
    for number, (name, up) in enumerate(STORY.items()):
        cluster.only(*up)
        log = tmp_path / f"{number}.log"
        code = dags_test(log)
        text = log.read_text()
        assert code == (1 if name in FAILS else 0), text[-5000:]
        assert "Failed to run task callback" not in text
    check(arrived.messages())


def ended(server, dag, number):
    """Return the states of a DAG's runs once there are that many, and none goes on."""
    states = [run["state"] for run in server.call("GET", f"/api/v2/dags/{dag}/dagRuns")["dag_runs"]]
    return states if len(states) >= number and not {"queued", "running"} & {*states} else None


def test_seven_audits_give_five_messages_under_the_scheduler(airflow, cluster, arrived):
    with Scheduled(airflow) as server:
        server.unpause("kafka_audit", "after_audited", "after_clean")
        for name, up in STORY.items():
            cluster.only(*up)
            assert server.run("kafka_audit") == ("failed" if name in FAILS else "success"), name
        # A run has ended when its last task has; what that task sends comes behind.
        server.wait_for(lambda: len(arrived.messages()) >= 2 * len(EXPECTED), 120, "the last message")
        others = {dag: server.wait_for(lambda dag=dag, n=n: ended(server, dag, n), 120, dag) for dag, n in AFTER.items()}
        check(arrived.messages())
    assert others == {dag: ["success"] * n for dag, n in AFTER.items()}
    events = [json.loads(line) for line in Path(airflow.environment["AFTER_AUDITS"]).read_text().splitlines()]
    after = {dag: [extra for name, extra in events if name == dag] for dag in AFTER}
    assert {dag: len(extra) for dag, extra in after.items()} == AFTER
    assert [extra["reads_answered"] == extra["reads_asked"] for extra in after["after_clean"]] == [True] * 3
    assert {extra["incidents"][0].split(":")[0] for extra in after["after_audited"] if extra["incidents"]} == {
        "Clients at this worker cannot reach broker 1",
        "Clients at this worker cannot reach brokers 1 and 2",
    }
