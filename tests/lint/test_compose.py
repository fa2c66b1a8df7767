"""Compose files and containers: names of their own network, and variables that are elsewhere."""

import json
from pathlib import Path

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
    return {finding["code"]: finding for finding in file["findings"] if finding["status"] == "FAIL"}


def test_names_of_services_resolve_only_in_the_network_of_the_file(lint):
    found = _failed(lint(ALONE))["KA316"]
    assert (found["severity"], found["evidence"]["line"]) == ("LOW", 9)
    assert found["message"] == (
        "Clients outside the network of the compose file cannot resolve any advertised name of broker 1 (BROKERS, CLIENTS)"
    )
    assert "In `KAFKA_ADVERTISED_LISTENERS`, give it a name or address that these clients resolve" in found["remediation"]


@pytest.mark.parametrize("host", ["kafka.example.com", "192.0.2.7", "localhost", "another"])
def test_one_name_that_is_no_service_may_resolve_outside(lint, host):
    assert "KA316" not in _failed(lint(ALONE.replace("CLIENTS://broker1:9092", f"CLIENTS://{host}:9092")))


def test_a_required_setting_that_nothing_fills_in_is_missing(lint):
    file = lint(ALONE.replace(ROLES, "      KAFKA_NUM_PARTITIONS: $PARTITIONS\n"), "--kafka-version", "4.3.0")
    assert (file["starts"], _failed(file)["KA310"]["evidence"]["key"]) == (False, "KAFKA_PROCESS_ROLES")


@pytest.mark.parametrize("more", ["    env_file: kafka.env\n", "    extends: {file: base.yaml, service: kafka}\n"])
def test_variables_of_other_files_may_set_it(lint, more):
    text = ALONE.replace(ROLES, "").replace("    environment:\n", f"{more}    environment:\n")
    file = lint(text, "--kafka-version", "4.3.0")
    assert (file["starts"], "KA310" in _failed(file)) == (None, False)
    assert file["remarks"] == [{"line": 5, "text": f"not judged: settings of {more.split(':')[0].strip()}"}]
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
    assert (file["starts"], file["remarks"]) == (None, [{"line": 6, "text": "not judged: settings of envFrom"}])
    assert lint(POD.replace("      envFrom: [{configMapRef: {name: more}}]\n", ""))["starts"] is False


MOUNTED = ALONE.replace(ROLES, "").replace("    environment:\n", "    volumes: ['{}']\n    environment:\n")


@pytest.mark.parametrize("volume", ["./conf:/mnt/shared/config", "./server.properties:/opt/kafka/config/server.properties:ro"])
def test_a_mounted_file_may_have_what_the_variables_lack(lint, volume):
    assert lint(MOUNTED.format(volume), "--kafka-version", "4.3.0")["starts"] is None
    for other in ("data:/var/lib/kafka/data", "./log4j:/opt/kafka/config-of-mine"):
        assert lint(MOUNTED.format(other), "--kafka-version", "4.3.0")["starts"] is False


def test_a_service_in_the_network_of_the_host_has_no_names(lint):
    assert "KA316" not in _failed(lint(ALONE.replace("    environment:", "    network_mode: host\n    environment:")))


def test_a_refusal_that_no_placeholder_decides_is_a_refusal(lint):
    change = ("BROKER_LISTENER_NAME: BROKERS", "BROKER_LISTENER_NAME: OTHERS\n      KAFKA_LOG_DIRS: $DATA")
    file = lint(
        ALONE.replace(*change).replace(
            "KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: ", "KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: OTHERS:PLAINTEXT,"
        )
    )
    assert "KA311" in _failed(file)
    assert file["starts"] is False
    assert file["kafka_says"] == _failed(file)["KA311"]["evidence"]["kafka_says"]


def test_a_controller_alone_is_not_asked_what_brokers_are(lint):
    text = ALONE.replace("broker,controller", "controller").replace("CLIENTS://:9092,BROKERS://:9094,", "")
    text = "".join(line for line in text.splitlines(keepends=True) if "ADVERTISED" not in line and "INTER_BROKER" not in line)
    file = lint(text)
    assert (file["starts"], set(_failed(file))) == (True, {"KA217", "KA720"})
    assert not [finding for finding in file["findings"] if finding["resource"]["name"].startswith("broker/")]


def test_a_misspelt_variable_is_named_at_its_line(lint):
    text = ALONE + "      KAFKA_LOG_RETENTION_HOUR: '2'\n      KAFKA_HEAP_OPT: -Xmx1g\n"
    found = [finding for finding in lint(text)["findings"] if (finding["code"], finding["status"]) == ("KA719", "FAIL")]
    assert [(finding["evidence"]["meant"], finding["evidence"]["line"]) for finding in found] == [
        ("log.retention.hours", len(ALONE.splitlines()) + 1)
    ]


CONFLUENT = ALONE.replace("apache/kafka:4.3.0", "confluentinc/cp-kafka:8.0.0")
COMPLETE = CONFLUENT + "      CLUSTER_ID: MkU3OEVBNTcwNTJENDM2Qk\n"
ENDS = "Confluent's image ends before Kafka starts: "
LACKING = {
    "CLUSTER_ID": (CONFLUENT, "it requires CLUSTER_ID"),
    "a login": (COMPLETE.replace("CLIENTS://broker1", "SASL_C://broker1"), "it requires KAFKA_OPTS"),
    "a key store": (COMPLETE.replace("CLIENTS://broker1", "SSL://broker1"), "it requires KAFKA_SSL_KEYSTORE_FILENAME"),
    "an old name": (COMPLETE + "      KAFKA_ADVERTISED_PORT: 9092\n", "it refuses KAFKA_ADVERTISED_PORT"),
    "a controller": (
        COMPLETE.replace("broker,controller", "controller"),
        "it refuses KAFKA_ADVERTISED_LISTENERS of a controller",
    ),
}


@pytest.mark.parametrize(("text", "why"), LACKING.values(), ids=LACKING.keys())
def test_what_an_image_requires_is_a_refusal(lint, text, why):
    refused = _failed(lint(text))["KA310"]
    assert refused["evidence"]["kafka_says"].startswith(ENDS)
    assert why in refused["evidence"]["kafka_says"]
    assert refused["evidence"]["line"]
    assert "KA310" not in _failed(lint(COMPLETE))
    others = _failed(lint(text.replace("confluentinc/cp-kafka:8.0.0", "apache/kafka:4.3.0")))
    assert ("KA310" in others) is (why not in {"it requires CLUSTER_ID", "it refuses KAFKA_ADVERTISED_PORT"})


TWO = ALONE.replace("    hostname: broker1\n", "").replace("CLIENTS://broker1:9092", "CLIENTS://localhost:9092")


def test_two_services_with_one_id_are_two_nodes(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    second = (
        TWO.partition("services:\n")[2].replace("  kafka1:", "  kafka2:", 1).replace("BROKERS://kafka1", "BROKERS://localhost")
    )
    found = {}
    for number in (1, 2):
        Path("compose.yaml").write_text(TWO + second.replace("NODE_ID: 1", f"NODE_ID: {number}"))
        main(["lint", "compose.yaml", "--format", "json"])
        files = json.loads(capsys.readouterr().out)["files"]
        found[number] = {finding["code"]: finding["message"] for file in files for finding in _failed(file).values()}
    assert "service kafka2" in found[1]["KA715"]
    assert "another service has that name" in found[1]["KA213"]
    assert "KA715" not in found[2]
