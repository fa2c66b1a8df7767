"""What programs get of our environment: what they need, and no password of any cluster."""

import os
import subprocess

import pytest

from kafka_audit.bounds import child_environment

OTHERS = {
    "PROD_KAFKA_PASSWORD": "hunter2",
    "ANOTHER": "hunter2",
    "SPARK_OF_KAFKA_PASSWORD": "hunter2",
    "HADOOP_SECRET": "hunter2",
    "PYTHON_TOKEN": "hunter2",
    "LC_SECRET": "hunter2",
    "KAFKA_AUDIT_PASSWORD": "hunter2",
    "AIRFLOW_CONN_KAFKA_PROD": "kafka://auditor:hunter2@b1",
    "AIRFLOW__CORE__FERNET_KEY": "hunter2",
    "AIRFLOW__DATABASE__SQL_ALCHEMY_CONN": "postgresql://airflow:hunter2@db/airflow",
}
NEEDED = {"PATH": "/bin", "HOME": "/root", "LANG": "C.UTF-8", "LC_ALL": "C", "TZ": "UTC", "https_proxy": "http://p:1"}
OF_COMMANDS = {"KUBECONFIG": "/k", "SSH_AUTH_SOCK": "/s", "DOCKER_HOST": "unix:///d"}
OF_CLOUDS = {"AWS_SECRET_ACCESS_KEY": "key", "GOOGLE_APPLICATION_CREDENTIALS": "/g", "AZURE_CLIENT_SECRET": "s"}
OF_SPARK = {"JAVA_HOME": "/j", "SPARK_LOCAL_DIRS": "/d", "PYSPARK_PYTHON": "python3", "HADOOP_CONF_DIR": "/h", "PYTHONPATH": "/p",
            "AIRFLOW_HOME": "/a"}  # fmt: skip
EVERYTHING = OTHERS | NEEDED | OF_COMMANDS | OF_CLOUDS | OF_SPARK


def test_a_command_gets_what_it_needs():
    assert child_environment.of_command(EVERYTHING) == NEEDED | OF_COMMANDS | OF_CLOUDS
    assert child_environment.of_command(EVERYTHING, ["ANOTHER"]) == NEEDED | OF_COMMANDS | OF_CLOUDS | {"ANOTHER": "hunter2"}


def test_spark_gets_what_it_needs():
    assert child_environment.of_spark(EVERYTHING) == NEEDED | OF_CLOUDS | OF_SPARK | {"KUBECONFIG": "/k"}


def test_a_program_that_copies_our_environment_gets_no_more(monkeypatch):
    for name, value in EVERYTHING.items():
        monkeypatch.setenv(name, value)
    before = dict(os.environ)
    with child_environment.only_of_spark():
        assert not OTHERS.keys() & os.environ.keys()
        assert OF_SPARK.items() <= os.environ.items()
    assert dict(os.environ) == before


def test_it_is_there_again_where_the_program_fails(monkeypatch):
    monkeypatch.setenv("ANOTHER", "hunter2")
    with pytest.raises(ZeroDivisionError), child_environment.only_of_spark():
        raise ZeroDivisionError
    assert os.environ["ANOTHER"] == "hunter2"


def test_a_shell_starts_with_it():
    completed = subprocess.run(
        ["sh", "-c", "echo $HOME"], env=child_environment.of_command(os.environ), capture_output=True, check=True
    )
    assert completed.stdout.strip()
