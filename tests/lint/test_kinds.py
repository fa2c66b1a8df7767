"""Small configurations with one mistake each: what lint says of it, beside what it says of the healthy twin."""

import json
from collections import Counter
from pathlib import Path

import pytest
import yaml

from kafka_audit.cli import main

TABLE = yaml.load((Path(__file__).parent / "kinds.yaml").read_text(), yaml.CSafeLoader)
GRAVE = {"HIGH", "CRITICAL"}


@pytest.fixture
def said(tmp_path, monkeypatch, capsys):
    """Return a function that lints a text, and returns the kind of each failure and remark, with its words."""
    monkeypatch.chdir(tmp_path)

    def run(file, text):
        (tmp_path / file).write_text(text)
        main(["lint", file, "--format", "json"])
        found = []
        for one in json.loads(capsys.readouterr().out)["files"]:
            for finding in one["findings"]:
                kind = f"{finding['code']} {finding['severity']}"
                if finding["status"] == "FAIL":
                    found.append((kind, f"{kind} {finding['evidence'].get('line', '')}".strip()))
            found += [(remark["text"], f"remark {remark['line']}: {remark['text']}") for remark in one.get("remarks", ())]
        return found

    return run


@pytest.fixture(scope="module")
def twins():
    return {}


@pytest.mark.parametrize("case", TABLE["kinds"].values(), ids=TABLE["kinds"].keys())
def test_a_mistake_is_named(said, twins, case):
    healthy = TABLE["healthy"][case["of"]]
    if case["of"] not in twins:
        twins[case["of"]] = said(**healthy)
        assert not [words for _, words in twins[case["of"]] if words.split()[1] in GRAVE]
    text = healthy["text"]
    for old, new in case["change"]:
        assert old in text
        text = text.replace(old, new)
    found = said(healthy["file"], text)
    more = Counter(kind for kind, _ in found) - Counter(kind for kind, _ in twins[case["of"]])
    assert sorted({words for kind, words in found if kind in more}) == case["says"]


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


BASE = "services:\n  kafka:\n    image: apache/kafka:4.1.0\n"
OWN = """services:
  kafka:
    WHAT
    environment:
      KAFKA_NODE_ID: 1
      KAFKA_PROCESS_ROLES: broker,controller
      KAFKA_CONTROLLER_QUORUM_VOTERS: 1@kafka:9093
      KAFKA_CONTROLLER_LISTENER_NAMES: CONTROLLER
      KAFKA_LISTENERS: PLAINTEXT://:9092,CONTROLLER://:9093
      KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092
      KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT
      KAFKA_OFFSETS_TOPIC_REPLICATION_FACTOR: 1
      KAFKA_TRANSACTION_STATE_LOG_REPLICATION_FACTOR: 1
      KAFKA_TRANSACTION_STATE_LOG_MIN_ISR: 1
    volumes: ["data:/var/lib/kafka"]
"""
DOCKERFILE = "ARG TAG=4.1.0\nFROM apache/kafka:${TAG} AS one\nENV KAFKA_LOG_DIRS=/var/lib/kafka/data\nFROM one\nENV A=b\n"
BUILT = "build: {context: ./k, dockerfile: D, args: {TAG: 4.0.0}}"
LOST = "KA720 HIGH 15"


@pytest.mark.parametrize(
    ("what", "files", "said"),
    [
        ("extends: {file: b.yml, service: kafka}", {"b.yml": BASE}, ("4.1", LOST)),
        ("extends: {file: b.yml, service: other}", {"b.yml": BASE}, ("4.4", "")),
        ("extends: {file: c.yml, service: kafka}", {"b.yml": BASE}, ("4.4", "")),
        (BUILT, {"k/D": DOCKERFILE}, ("4.0", LOST)),
        ("build: ./k", {"k/Dockerfile": DOCKERFILE}, ("4.1", LOST)),
        (
            "build: ./k",
            {"k/Dockerfile": DOCKERFILE.replace("ENV A=b", "COPY server.properties /opt/kafka/config/")},
            ("4.1", LOST),
        ),
        ("build: ./k", {"k/Dockerfile": "FROM debian\nCMD [/begin.sh]\n"}, ("4.4", "")),
        ("build: ./other", {"k/Dockerfile": DOCKERFILE}, ("4.4", "")),
    ],
)
def test_a_service_is_that_of_another_file_or_of_its_dockerfile(project, capsys, what, files, said):
    for name, text in {"compose.yaml": OWN.replace("WHAT", what), **files}.items():
        (project / name).parent.mkdir(exist_ok=True)
        (project / name).write_text(text)
    main(["lint", "compose.yaml", "--format", "json"])
    (file,) = json.loads(capsys.readouterr().out)["files"]
    found = [one for one in file["findings"] if one["status"] == "FAIL" and one["code"] == "KA720"]
    lost = " ".join(f"{one['code']} {one['severity']} {one['evidence']['line']}" for one in found)
    assert (file["kafka_version"][:3], lost) == said
    copied = any("COPY" in text for text in files.values())
    assert not copied or any("not judged: settings of build" in one["text"] for one in file["remarks"])


def test_a_service_that_says_nothing_is_no_fault(said):
    text = TABLE["healthy"]["compose of apache/kafka"]["text"]
    assert said("compose.yaml", text.replace("services:\n", "services:\n  empty: {}\n")) != []
