"""Why Kafka does not start, before it is Kafka: its own setup of a container, its Java; named from what they really print."""

import json
import os
import subprocess

import pytest

from kafka_audit.cli import main
from testbed.jars import java, kafka_jars

pytestmark = [pytest.mark.bed, pytest.mark.scenario]

NODE = {
    "KAFKA_NODE_ID": "1",
    "KAFKA_PROCESS_ROLES": "broker,controller",
    "KAFKA_LISTENERS": "PLAINTEXT://:9092,CONTROLLER://:9093",
    "KAFKA_CONTROLLER_LISTENER_NAMES": "CONTROLLER",
    "KAFKA_LISTENER_SECURITY_PROTOCOL_MAP": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT",
    "KAFKA_CONTROLLER_QUORUM_VOTERS": "1@node:9093",
    "CLUSTER_ID": "5L6g3nShT-eMCtK--X86sw",
}
CASES = {
    "without_voters": ({"KAFKA_CONTROLLER_QUORUM_VOTERS": ""}, "A node does not start: its controllers are not configured"),
    "voters_without_ids": (
        {"KAFKA_CONTROLLER_QUORUM_VOTERS": "node:9093"},
        "A node does not start: Kafka rejects its configuration",
    ),
    "a_listener_without_protocol": (
        {"KAFKA_LISTENERS": "OUTSIDE://:9092,CONTROLLER://:9093"},
        "A node does not start: Kafka rejects its configuration",
    ),
    "a_log_dir_below_a_file": (
        {"KAFKA_LOG_DIRS": "{folder}/file/data"},
        "A node does not start: `kafka-storage.sh format` failed",
    ),
    "nothing": ({}, None),
}


def named(tmp_path, capsys, text):
    log = tmp_path / "console.log"
    log.write_text(text)
    main(["logs", str(log), "--format", "json"])
    return json.loads(capsys.readouterr().out)["incidents"]


@pytest.mark.parametrize("version", ["3.9.1", "4.3.0"])
@pytest.mark.parametrize("name", CASES)
def test_a_container_that_its_own_setup_ends(tmp_path, capsys, name, version):
    changed, headline = CASES[name]
    for folder in ("default", "mounted", "final"):
        (tmp_path / folder).mkdir()
    for file in ("server.properties", "log4j.properties", "tools-log4j.properties"):
        (tmp_path / "default" / file).write_text("")
    for file in ("log4j2.yaml", "tools-log4j2.yaml"):
        (tmp_path / "default" / file).write_text(
            "Configuration: {Properties: {}, Appenders: {Console: {name: STDOUT}}, Loggers: {Root: {level: INFO}}}\n"
        )
    (tmp_path / "file").write_text("")
    settings = {
        key: value.format(folder=tmp_path) for key, value in {"KAFKA_LOG_DIRS": "{folder}/data", **NODE, **changed}.items()
    }
    folders = [f"--{kind}-configs-dir={tmp_path}/{kind}" for kind in ("default", "mounted", "final")]
    setup = [java(), "-cp", f"{kafka_jars(version)}/*", "kafka.docker.KafkaDockerWrapper", "setup", *folders]
    done = subprocess.run(setup, env={"PATH": os.environ["PATH"], **settings}, capture_output=True, text=True, check=False)
    assert (done.returncode == 0) == (headline is None), done.stderr
    joined = " ".join(f"{done.stdout} {done.stderr}".split())  # as the launch script writes it
    found = named(tmp_path, capsys, f"===> Configuring ...\n===> Launching ...\n{joined}\n")
    assert [incident["headline"] for incident in found] == ([headline] if headline else [])
    assert not any(" at org." in incident["why"] or " at kafka." in incident["why"] for incident in found)


def test_a_class_for_a_newer_java_than_this_one(tmp_path, capsys):
    jar = next(kafka_jars("4.3.0").glob("kafka_2.13-*.jar"))
    subprocess.run(["unzip", "-q", str(jar), "kafka/Kafka.class", "-d", str(tmp_path)], check=True)
    file = tmp_path / "kafka" / "Kafka.class"
    code = file.read_bytes()
    file.write_bytes(code[:6] + (300).to_bytes(2, "big") + code[8:])
    done = subprocess.run([java(), "-cp", str(tmp_path), "kafka.Kafka"], capture_output=True, text=True, check=False)
    assert [one["headline"] for one in named(tmp_path, capsys, done.stderr)] == ["A node does not start: its Java is too old"]
