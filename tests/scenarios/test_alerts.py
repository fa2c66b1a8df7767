"""A real incident reaches a mailbox and a Slack channel once, and so does its end."""

import html
import json
import subprocess
import sys
from pathlib import Path

import pytest

from scenarios import beds
from testbed.airflow_home import AirflowHome

SINK = Path(__file__).with_name("alert_sink.py")
SMTP_PORT, HTTP_PORT = 18025, 18026  # on the worker host's own loopback, so no other test can be there
SMTP_EXTRA = {"disable_ssl": True, "disable_tls": True, "from_email": "airflow@example.com", "to": "oncall@example.com"}
CONNECTIONS = {
    "AIRFLOW_CONN_KAFKA_AUDIT_SMTP": {"conn_type": "smtp", "host": "127.0.0.1", "port": SMTP_PORT, "extra": SMTP_EXTRA},
    "AIRFLOW_CONN_KAFKA_AUDIT_SLACK": {
        "conn_type": "slackwebhook",
        "host": f"http://127.0.0.1:{HTTP_PORT}",
        "password": "/services/T0/B0/XX",
    },
}

pytestmark = [pytest.mark.bed, pytest.mark.airflow, pytest.mark.spark, pytest.mark.scenario]
bed = beds.of_one_test


@pytest.fixture
def airflow(bed, tmp_path):
    """An Airflow with both connections."""
    variables = {name: json.dumps(connection) for name, connection in CONNECTIONS.items()}
    return AirflowHome(
        bed.worker, tmp_path / "airflow", clusters=tmp_path / "clusters.yaml", store=tmp_path / "store", variables=variables
    )


@pytest.fixture
def arrived(bed, tmp_path):
    """What the mail server and the webhook on the worker host got, when it is called."""
    file = tmp_path / "arrived.jsonl"
    sink = bed.worker.popen(
        [sys.executable, str(SINK), str(SMTP_PORT), str(HTTP_PORT), str(file)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert sink.stdout.readline() == "ready\n"
    return lambda: [json.loads(line) for line in file.read_text().splitlines()]


@pytest.fixture
def cluster(bed, airflow, tmp_path):
    """Incident 000 on broker 2."""
    migration = airflow.migrate()
    cluster = bed.cluster()
    cluster.create_topic("orders", {0: [0, 1, 2], 1: [1, 2, 0], 2: [2, 0, 1]})
    cluster.make_controller(0)
    cluster.advertise_through_forward([2])
    (tmp_path / "clusters.yaml").write_text(cluster.clusters_yaml("prod"))
    airflow.ready(migration)
    return cluster


def test_an_incident_is_told_once_and_so_is_its_end(airflow, cluster, arrived, tmp_path):
    broken = airflow.run(tmp_path / "broken.log")
    assert broken.returncode == 1, broken.tail()
    document = json.loads((tmp_path / "store" / "clusters" / "prod" / "findings.json").read_text())
    headline = document["incidents"][0]["headline"]
    mail, post = arrived()
    assert (mail["kind"], mail["to"]) == ("mail", ["oncall@example.com"])
    assert dict(mail["headers"])["Subject"] == f"[NEW] prod: {headline}"
    text = html.unescape(mail["body"])
    assert "KA302" in text
    assert f"Stored: {tmp_path / 'store' / 'snapshots' / document['snapshot_id']}<" in text
    assert "/dags/kafka_audit/runs/" in text
    assert (post["kind"], post["path"]) == ("slack", "/services/T0/B0/XX")
    assert html.unescape(post["text"]).splitlines()[0] == f"*[NEW] prod: {headline}*"

    cluster.advertise_directly([2])
    repaired = airflow.run(tmp_path / "repaired.log")
    assert repaired.returncode == 0, repaired.tail()
    ended, post = arrived()[2:]
    subject = dict(ended["headers"])["Subject"]
    assert subject.startswith("[RESOLVED] prod: resolved after ")
    assert subject.endswith(headline)
    assert html.unescape(post["text"]).splitlines()[0] == f"*{subject}*"
    for log in (broken.log, repaired.log):
        assert "Failed to run task callback" not in log.read_text()
