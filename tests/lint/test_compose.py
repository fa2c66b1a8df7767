"""Compose files and containers: names of their own network, and variables that are elsewhere."""

import json

import pytest

from kafka_audit.cli import main

ALONE = """services:
  kafka1:
    image: apache/kafka:4.3.0
    hostname: broker1
    environment:
      KAFKA_NODE_ID: 1
      KAFKA_PROCESS_ROLES: broker,controller
      KAFKA_LISTENERS: CLIENTS://:9092,BROKERS://:9094,CONTROLLER://:9093
      KAFKA_ADVERTISED_LISTENERS: CLIENTS://broker1:9092,BROKERS://kafka1:9094
      KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: CLIENTS:PLAINTEXT,BROKERS:PLAINTEXT,CONTROLLER:PLAINTEXT
      KAFKA_INTER_BROKER_LISTENER_NAME: BROKERS
      KAFKA_CONTROLLER_LISTENER_NAMES: CONTROLLER
      KAFKA_CONTROLLER_QUORUM_VOTERS: 1@kafka1:9093
"""
ROLES = "      KAFKA_PROCESS_ROLES: broker,controller\n"


@pytest.fixture
def lint(tmp_path, capsys):
    """Return a function that lints a compose file and returns its only broker."""

    def run(text, *arguments):
        (tmp_path / "compose.yaml").write_text(text)
        main(["lint", str(tmp_path / "compose.yaml"), "--format", "json", *arguments])
        (file,) = json.loads(capsys.readouterr().out)["files"]
        return file

    return run


def _failed(file):
    return {one["code"]: one for one in file["findings"] if one["status"] == "FAIL"}


def test_names_of_services_resolve_only_in_the_network_of_the_file(lint):
    found = _failed(lint(ALONE))["KA316"]
    assert (found["severity"], found["evidence"]["line"]) == ("LOW", 9)
    assert found["message"] == (
        "Clients outside the network of the compose file cannot resolve any advertised name of broker 1 (BROKERS, CLIENTS)"
    )
    assert "in `KAFKA_ADVERTISED_LISTENERS` with a name or address that they resolve" in found["remediation"]


@pytest.mark.parametrize("host", ["kafka.example.com", "192.0.2.7", "localhost", "another"])
def test_one_name_that_is_no_service_may_resolve_outside(lint, host):
    assert "KA316" not in _failed(lint(ALONE.replace("CLIENTS://broker1:9092", f"CLIENTS://{host}:9092")))


def test_a_required_setting_that_nothing_fills_in_is_missing(lint):
    file = lint(ALONE.replace(ROLES, "      KAFKA_NUM_PARTITIONS: $PARTITIONS\n"), "--kafka-version", "4.3.0")
    assert (file["starts"], file["kafka_says"]) == (
        False,
        'Missing required configuration "process.roles" which has no default value.',
    )


@pytest.mark.parametrize("more", ["    env_file: kafka.env\n", "    extends: {file: base.yaml, service: kafka}\n"])
def test_variables_of_other_files_may_set_it(lint, more):
    text = ALONE.replace(ROLES, "").replace("    environment:\n", f"{more}    environment:\n")
    file = lint(text, "--kafka-version", "4.3.0")
    assert (file["starts"], "KA310" in _failed(file)) == (None, False)
    assert file["remarks"] == [{"line": 5, "text": f"not judged: variables of {more.split(':')[0].strip()}"}]
    assert lint(ALONE.replace("    environment:\n", f"{more}    environment:\n"))["starts"] is True


def test_what_the_host_sets_may_be_the_roles(lint):
    file = lint(ALONE.replace("ROLES: broker,controller", "ROLES: $ROLES"), "--kafka-version", "4.3.0")
    assert file["starts"] is not False


POD = """kind: Pod
metadata: {name: kafka}
spec:
  containers:
    - image: apache/kafka:4.3.0
      envFrom: [{configMapRef: {name: more}}]
      env:
        - {name: KAFKA_ADVERTISED_LISTENERS, value: "PLAINTEXT://kafka.example.com:9092"}
"""


def test_variables_of_a_config_map_are_elsewhere(lint):
    file = lint(POD)
    assert (file["starts"], file["remarks"]) == (None, [{"line": 6, "text": "not judged: variables of envFrom"}])
    assert lint(POD.replace("      envFrom: [{configMapRef: {name: more}}]\n", ""))["starts"] is False
