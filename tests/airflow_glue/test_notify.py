"""Alerts over the wire: a mail server and a webhook on loopback, and the providers' own notifiers."""

import json
import subprocess
import sys
from pathlib import Path
from socket import socket
from types import SimpleNamespace

import pytest

from kafka_audit.airflow_glue import notify
from kafka_audit.airflow_glue.errors import GateFailed
from kafka_audit.model.errors import UsageError

SINK = Path(__file__).parents[1] / "scenarios" / "alert_sink.py"
INSTANCE = SimpleNamespace(task_id="gate", log_url="http://airflow/log")


def free_port():
    with socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.fixture
def connected(monkeypatch, tmp_path):
    """Both connections, and a function that returns what arrived."""
    smtp, http, arrived = free_port(), free_port(), tmp_path / "arrived.jsonl"
    extra = {"disable_ssl": True, "disable_tls": True, "from_email": "airflow@example.com", "to": "a@example.com,b@example.com"}
    mail = {"conn_type": "smtp", "host": "127.0.0.1", "port": smtp, "extra": extra}
    slack = {"conn_type": "slackwebhook", "host": f"http://127.0.0.1:{http}", "password": "/services/T/B/X"}
    monkeypatch.setenv("AIRFLOW_CONN_KAFKA_AUDIT_SMTP", json.dumps(mail))
    monkeypatch.setenv("AIRFLOW_CONN_KAFKA_AUDIT_SLACK", json.dumps(slack))
    with subprocess.Popen(
        [sys.executable, str(SINK), str(smtp), str(http), str(arrived)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as sink:
        assert sink.stdout.readline() == "ready\n"
        yield lambda: [json.loads(line) for line in arrived.read_text().splitlines()] if arrived.exists() else []
        sink.stdin.close()


def failed(cluster, **more):
    return {"ti": INSTANCE, "exception": GateFailed(cluster=cluster, lifecycle="new", **more)}


def test_without_connections_nothing_is_sent_and_nothing_fails():
    notify.by_mail(failed("prod", headline="h"))
    notify.by_slack(failed("prod", headline="h"))


def test_each_failure_is_told_in_its_own_words(connected):
    """One shared notifier would send the first failure's text twice: rendering overwrites its fields for good."""
    for cluster in ("prod", "stage"):
        notify.by_mail(failed(cluster, headline=f"trouble in {cluster}"))
        notify.by_slack(failed(cluster, headline=f"trouble in {cluster}"))
    mails = [message for message in connected() if message["kind"] == "mail"]
    posts = [message["text"].splitlines()[0] for message in connected() if message["kind"] == "slack"]
    assert [dict(mail["headers"])["Subject"] for mail in mails] == [
        "[NEW] prod: trouble in prod",
        "[NEW] stage: trouble in stage",
    ]
    assert [mail["to"] for mail in mails] == [["a@example.com", "b@example.com"]] * 2
    assert posts == ["*[NEW] prod: trouble in prod*", "*[NEW] stage: trouble in stage*"]


def test_what_a_cluster_says_is_no_header_and_no_template(connected):
    hostile = "topic ü\r\nBcc: everyone@example.com\r\n\r\n{{ 7 * 7 }} {% raw %}"
    notify.by_mail(failed("prod", headline=hostile, text="{{ 7 * 7 }}"))
    notify.by_slack(failed("prod", headline=hostile, text="{{ 7 * 7 }}"))
    mail, post = connected()
    assert [name for name, _ in mail["headers"]] == ["Content-Type", "MIME-Version", "Subject", "From", "To", "Date"]
    assert "topic ü" in dict(mail["headers"])["Subject"]
    assert mail["to"] == ["a@example.com", "b@example.com"]
    for text in (mail["body"], post["text"]):
        assert "{{ 7 * 7 }}" in text
        assert "49" not in text


def test_a_mail_connection_without_recipients_says_what_it_lacks(monkeypatch):
    monkeypatch.setenv("AIRFLOW_CONN_KAFKA_AUDIT_SMTP", '{"conn_type": "smtp", "host": "127.0.0.1", "extra": {"to": "a@b"}}')
    with pytest.raises(UsageError, match="lacks from_email"):
        notify.by_mail(failed("prod", headline="h"))
