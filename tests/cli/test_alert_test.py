"""`kafka-audit alert-test` against a mail server and a webhook on loopback."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from socket import socket

import pytest

import airflow_environment

SINK = Path(__file__).parents[1] / "scenarios" / "alert_sink.py"
SMTP = {
    "from_email": "airflow@example.com",
    "to": "oncall@example.com",
    "disable_ssl": True,
    "disable_tls": True,
    "retry_limit": 0,
}


airflow_environment.apply()


def alert_test(env=None):
    """Run it in a process of its own, as users do: what Airflow logs on its way belongs to the test."""
    command = [sys.executable, "-W", "ignore", "-m", "kafka_audit.cli", "alert-test"]
    return subprocess.run(command, env=env, capture_output=True, text=True, check=False)


@pytest.fixture
def ports():
    with socket() as one, socket() as other:
        one.bind(("127.0.0.1", 0))
        other.bind(("127.0.0.1", 0))
        return one.getsockname()[1], other.getsockname()[1]


@pytest.fixture
def connect(monkeypatch, ports):
    def run(*, mail=SMTP, slack=True):
        smtp, http = ports
        if mail is not None:
            connection = {"conn_type": "smtp", "host": "127.0.0.1", "port": smtp, "password": "hush", "extra": mail}
            monkeypatch.setenv("AIRFLOW_CONN_KAFKA_AUDIT_SMTP", json.dumps(connection))
        if slack:
            connection = {"conn_type": "slackwebhook", "host": f"http://127.0.0.1:{http}", "password": "/services/T/B/hush"}
            monkeypatch.setenv("AIRFLOW_CONN_KAFKA_AUDIT_SLACK", json.dumps(connection))

    return run


@pytest.fixture
def arrived(ports, tmp_path):
    file = tmp_path / "arrived.jsonl"
    with subprocess.Popen(
        [sys.executable, str(SINK), *map(str, ports), str(file)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as sink:
        assert sink.stdout.readline() == "ready\n"
        yield lambda: [json.loads(line) for line in file.read_text().splitlines()]
        sink.stdin.close()


@pytest.mark.airflow
def test_each_channel_says_that_its_message_was_taken(connect, ports, arrived):
    connect()
    completed = alert_test()
    assert completed.returncode == 0, completed.stderr
    mail, post = arrived()
    lines = completed.stdout.splitlines()
    number = dict(mail["headers"])["Subject"].rpartition(" ")[2]
    assert dict(mail["headers"])["Subject"].startswith("[TEST] kafka-audit on ")
    assert lines[0] == f"mail: test alert {number} was accepted for oncall@example.com over 127.0.0.1:{ports[0]}"
    assert lines[1].startswith("slack: test alert ")
    assert lines[1].rpartition("test alert ")[2].split()[0] in post["text"]
    assert len(lines) == 2
    assert "hush" not in completed.stdout + completed.stderr


@pytest.mark.airflow
def test_a_channel_that_takes_nothing_is_told_and_fails(connect):
    connect()
    completed = alert_test()
    assert completed.returncode == 3
    assert [line.partition(" to ")[0] for line in completed.stdout.splitlines()] == [
        "mail: not delivered",
        "slack: not delivered",
    ]
    assert completed.stdout.count("refused") == 2
    assert "hush" not in completed.stdout + completed.stderr


@pytest.mark.airflow
def test_without_any_connection_nobody_would_be_told():
    completed = alert_test()
    assert completed.returncode == 2
    assert "mail: not configured, Airflow connection kafka_audit_smtp does not exist" in completed.stdout
    assert "create an Airflow connection kafka_audit_smtp or kafka_audit_slack" in completed.stderr


@pytest.mark.airflow
def test_a_connection_that_lacks_something_is_wrong_configuration(connect):
    connect(mail={"from_email": "airflow@example.com"}, slack=False)
    completed = alert_test()
    assert completed.returncode == 2
    assert "mail: connection kafka_audit_smtp: its extra must contain to" in completed.stdout


@pytest.mark.airflow
def test_a_connection_in_airflows_database_is_found(airflow_database, tmp_path):
    """As a team makes it, in the UI or by `airflow connections add`."""
    shutil.copy(airflow_database, tmp_path)
    home = {"AIRFLOW_HOME": str(tmp_path), "AIRFLOW__CORE__LOAD_EXAMPLES": "False", "PATH": str(Path(sys.executable).parent)}
    home |= {"AIRFLOW__DATABASE__SQL_ALCHEMY_CONN": f"sqlite:///{tmp_path}/airflow.db"}
    add = ["connections", "add", "kafka_audit_smtp", "--conn-type", "smtp", "--conn-host", "127.0.0.1", "--conn-port", "1"]
    command = [sys.executable, "-m", "airflow", *add, "--conn-extra", json.dumps(SMTP)]
    subprocess.run(command, env=home, check=True, capture_output=True)
    completed = alert_test(home)
    assert "mail: not delivered to oncall@example.com over 127.0.0.1:1" in completed.stdout, completed.stderr
    assert completed.returncode == 3
