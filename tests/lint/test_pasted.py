"""Texts as people paste them: the finding of the file, at its line of the text, whatever stands around it or was lost."""

import io
import json
import re
import sys
from pathlib import Path

import pytest
import yaml

from kafka_audit.cli import main
from seed import dice_of_seed

TABLE = yaml.load((Path(__file__).parent / "kinds.yaml").read_text(), yaml.CSafeLoader)
EACH = 4
"""Kinds for each way of pasting."""

BEFORE = "Hi all,\n\nI run Kafka with this file and the broker does not work. Can someone help me?\nHere is my {}:\n\n"
AFTER = """
When I start it, I get this:

[2026-01-02 10:00:00,123] ERROR Exiting Kafka due to fatal exception (kafka.Kafka$)
java.lang.IllegalArgumentException: requirement failed: x
\tat kafka.Kafka$.main(Kafka.scala:92)

Thanks in advance!
"""


def each_line(write):
    return lambda _, text: "".join(f"{write(number, line)}\n" for number, line in enumerate(text.splitlines(), 1))


def smart(_, text):
    quotes = iter("\u201c\u201d" * text.count('"'))
    return re.sub('"', lambda _: next(quotes), text).replace("'", "\u2019")


WAYS = {
    "prose around": (5, lambda file, text: BEFORE.format(file) + text + AFTER),
    "a fence": (6, lambda _, text: f"{BEFORE.format('file')}```yaml\n{text}```\n{AFTER}"),
    "a fence below a name": (4, lambda file, text: f"My broker does not start.\n\n**{file}**\n```\n{text}```\n{AFTER}"),
    "two files": (6, lambda file, text: f"### client.properties\n\nbootstrap.servers=kafka:9092\n\n### {file}\n\n{text}"),
    "lines with numbers": (0, each_line(lambda number, line: f"{number:3d}  {line}")),
    "lines with numbers and colons": (0, each_line(lambda number, line: f"{number}: {line}")),
    "cat -n": (0, each_line(lambda number, line: f"{number:6d}\t{line}")),
    "quotes of an editor": (0, smart),
    "blanks of an editor": (0, lambda _, text: text.replace("  ", "\u00a0\u00a0")),
    "tabs": (0, lambda _, text: re.sub(r"^(?:  )+", lambda match: "\t" * (len(match[0]) // 2), text, flags=re.MULTILINE)),
    "all of it further right": (
        4,
        lambda _, text: "Hello,\n\nmy file looks like this:\n\n" + re.sub(r"(?m)^(?=.)", "    ", text),
    ),
    "a diff": (2, lambda file, text: f"diff --git a/{file} b/{file}\n+++ b/{file}\n" + re.sub(r"(?m)^(?=.)", "+", text)),
    "a reply": (1, lambda _, text: "On Monday someone wrote a question to the list:\n" + re.sub(r"(?m)^", "> ", text)),
    "ends of lines": (0, lambda _, text: text.replace("\n", "\r\n")),
    "what is left out at the end": (0, lambda _, text: f"{text}...\n"),
    "a script": (3, lambda file, text: f"#!/bin/bash\nset -e\ncat > /etc/{file} <<'EOF'\n{text}EOF\necho done\n"),
    "escapes of Markdown": (0, lambda _, text: text.replace("_", "\\_")),
    "HTML": (1, lambda _, text: f"<pre>\n{text.replace('&', '&amp;').replace('>', '&gt;').replace(chr(34), '&quot;')}</pre>\n"),
}
"""By name: how many lines are before the file, and what becomes of it."""

OF_COMPOSE = {
    "indentation lost": (0, each_line(lambda _, line: line.strip())),
    "a service alone": (-1, lambda _, text: text.partition("services:\n")[2]),
}


@pytest.fixture
def said(tmp_path, monkeypatch, capsys):
    """Return a function that lints a text, and returns failures and remarks with their lines."""
    monkeypatch.chdir(tmp_path)

    def run(name, text):
        if name == "-":
            monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
        else:
            (tmp_path / name).write_text(text)
        main(["lint", name, "--format", "json"])
        files = json.loads(capsys.readouterr().out)["files"]
        failed = [one for file in files for one in file["findings"] if one["status"] == "FAIL"]
        return {(f"{one['code']} {one['severity']}", one["evidence"].get("line")) for one in failed} | {
            (remark["text"], remark["line"]) for file in files for remark in file.get("remarks", ())
        }

    return run


def changed(case):
    text = TABLE["healthy"][case["of"]]["text"]
    for old, new in case["change"]:
        text = text.replace(old, new)
    return TABLE["healthy"][case["of"]]["file"], text


def samples():
    dice = dice_of_seed()
    for way, (before, paste) in {**WAYS, **OF_COMPOSE}.items():
        kinds = {name: case for name, case in TABLE["kinds"].items() if way in WAYS or case["of"] == "compose of cp-kafka"}
        for name in dice.sample(sorted(kinds), EACH):
            yield pytest.param(before, paste, kinds[name], id=f"{way}: {name}")


@pytest.mark.parametrize(("before", "paste", "case"), samples())
def test_a_pasted_file_has_the_findings_of_the_file(said, before, paste, case):
    found = said("-", paste(*changed(case)))
    for words in case["says"]:
        remark = re.fullmatch(r"remark (\d+): (.*)", words, re.DOTALL)
        code, severity, line = ("", "", remark[1]) if remark else (*words.split(), "")[:3]
        assert (remark[2] if remark else f"{code} {severity}", int(line) + before if line else None) in found


VARIABLES = {
    "KAFKA_NODE_ID": "1",
    "KAFKA_PROCESS_ROLES": "broker,controller",
    "KAFKA_LISTENERS": "PLAINTEXT://:9092,CONTROLLER://:9093",
    "KAFKA_ADVERTISED_LISTENERS": "PLAINTEXT://kafka:9092",
    "KAFKA_CONTROLLER_LISTENER_NAMES": "CONTROLLER",
    "KAFKA_LISTENER_SECURITY_PROTOCOL_MAP": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT",
    "KAFKA_CONTROLLER_QUORUM_VOTERS": "2@kafka:9093",
}
IMAGE = "apache/kafka:4.1.0"
FORMS = {
    "-": ("Why?\n\n$ docker run -d --name kafka --network app -p 9092:9092 \\\n", "  -e {}='{}' \\\n", f"  {IMAGE}\n"),
    "run.sh": ("podman run --rm -ti", " --env={}={}", f" docker.io/{IMAGE}\n"),
    "Kafka.java": (f'new GenericContainer<>(DockerImageName.parse("{IMAGE}"))\n', '  .withEnv("{}", "{}")\n', ";\n"),
    "main.tf": (f'resource "docker_container" "k" {{\n  image = "{IMAGE}"\n  env = [\n', '    "{}={}",\n', "  ]\n}\n"),
    "ecs.tf": (f'image = "{IMAGE}"\nenvironment = [\n', '  {{ name = "{}", value = "{}" }},\n', "]\n"),
    "task.json": (
        f'{{"containerDefinitions": [{{"image": "{IMAGE}", "environment": [\n',
        '{{"name": "{}", "value": "{}"}},\n',
        "{}]}]}",
    ),
    "kafka.container": (f"[Container]\nImage=docker.io/{IMAGE}\n", "Environment={}={}\n", "[Install]\n"),
    "play.yml": (f"- hosts: all\n  tasks:\n  - docker_container:\n      image: {IMAGE}\n      env:\n", '        {}: "{}"\n', ""),
    "test.py": (f"client.containers.run('{IMAGE}', environment={{\n", "  '{}': '{}',\n", "})\n"),
    "kafka.nix": (f'oci-containers.containers.kafka = {{\n  image = "{IMAGE}";\n', '  environment.{} = "{}";\n', "};\n"),
    "kafka.pp": (f"docker::run {{ 'kafka':\n  image => '{IMAGE}',\n  env => [\n", "    '{}={}',\n", "  ]\n}\n"),
    "pod.txt": (f"- name: kafka\n  image: {IMAGE}\n  env:\n", "  - name: {}\n    value: '{}'\n", ""),
}


@pytest.mark.parametrize("name", FORMS)
def test_variables_of_any_form_are_those_of_a_container(said, name):
    begin, each, end = FORMS[name]
    found = {}
    for voter in ("1", "2"):
        variables = {**VARIABLES, "KAFKA_CONTROLLER_QUORUM_VOTERS": f"{voter}@kafka:9093"}
        text = begin + "".join(each.format(*variable) for variable in variables.items()) + end
        found[voter] = {line for what, line in said(name, text) if what == "KA310 CRITICAL"}
    at = next(number for number, line in enumerate(text.splitlines(), 1) if "KAFKA_NODE_ID" in line)
    assert found == {"1": set(), "2": {at}}


OLD = """kafka:
  replicaCount: 1
  logRetentionHours: _24
  offsetsTopicReplicationFactor: {}
  config: |
    log.retention.ms={}
"""


def test_values_of_an_older_chart_say_what_they_say_themselves(said):
    assert {what for what, _ in said("values.yaml", OLD.format(1, 5)) if "HIGH" in what or "CRITICAL" in what} == set()
    found = said("values.yaml", OLD.format(3, "soon"))
    assert {("KA717 HIGH", 4), ("KA310 CRITICAL", 6)} <= found


def test_a_cluster_before_and_after_a_change_is_two(said):
    text = changed({"of": "compose of apache/kafka", "change": []})[1]
    after = text.replace("PLAINTEXT://kafka:29092", "PLAINTEXT://broker:29092")
    found = said("-", f"Before:\n```yaml\n{text}```\nand after:\n```yaml\n{after}```\n")
    assert not any("KA715" in what for what, _ in found)
    assert {line for what, line in found if "read in a text" in what} == {3, 3 + text.count("\n") + 3}


@pytest.mark.parametrize(
    "text",
    [
        "Does anyone know how Kafka works?\n",
        "```yaml\nkind: Job\nspec:\n  containers:\n  - env:\n    - {name: KAFKA_LISTENERS, value: x}\n```\n",
        "I set KAFKA_BROKERS=kafka:9092 and `KAFKA_URL: x` in my client\n",
        'os.getenv("KAFKA_BOOTSTRAP_SERVERS", "localhost:9092")\n',
    ],
)
def test_a_text_without_a_broker_is_refused(tmp_path, capsys, text):
    (tmp_path / "text.md").write_text(text)
    assert main(["lint", str(tmp_path / "text.md")]) == 2
    assert "contains no broker settings" in capsys.readouterr().err


RUNS = """docker run --network n --name zk bitnami/zookeeper:3
docker run --network n -e KAFKA_CFG_ZOOKEEPER_CONNECT=zk:2181 -e ALLOW_PLAINTEXT_LISTENER=yes bitnami/kafka:3.4
"""
HELM = "Running `helm install cp --set cp-kafka.brokers=3 confluentinc/cp-helm-charts` fails. Why is that?\n"
TASK = """- docker_container:
    image: apache/kafka:4.1.0
    env:
      KAFKA_ADVERTISED_LISTENERS: 'PLAINTEXT://{{ host }}:9092'
      KAFKA_AUTO_CREATE_TOPICS_ENABLE: 'false'
"""
POD = """env:
- name: KAFKA_POD_IP
    valueFrom: {fieldRef: {fieldPath: status.podIP}}
- name: KAFKA_ADVERTISED_LISTENERS
  value: "PLAINTEXT://${KAFKA_POD_IP}:9092"
"""


@pytest.mark.parametrize(
    ("name", "text", "change", "finding"),
    [
        ("-", RUNS.partition("\n")[0], (), ()),
        ("-", RUNS, ("=zk:", "=zookeeper:"), ("no service of the file has the name zookeeper", 2)),
        ("question.md", HELM, ("=3", "=1"), ("KA717 HIGH", 1)),
        ("deploy.yml", TASK, ("'false'", "'true'"), ("KA705 LOW", 5)),
        (
            "pod.txt",
            POD,
            ("$(KAFKA_POD_IP)", "${KAFKA_POD_IP}"),
            ("Kubernetes leaves ${KAFKA_POD_IP} as it is: it replaces $(KAFKA_POD_IP)", 5),
        ),
    ],
)
def test_commands_and_parts_say_what_files_say(said, name, text, change, finding):
    if not change:
        assert said(name, text) == set()
        return
    right, wrong = (text.replace(*pair) for pair in ((change[1], change[0]), change))
    assert finding not in said(name, right)
    assert finding in said(name, wrong)


def test_what_helm_renders_is_one_file_whatever_its_comments_say(said):
    rendered = (Path(__file__).parent / "charts" / "bitnami-own-config.rendered.yaml").read_text()
    text = (
        rendered
        + "---\n# Source: a/templates/b.yaml\nkind: ConfigMap\ndata:\n  run.sh: |\n    if this is not so then we wait for it\n"
    )
    assert said("-", text) == said("all.yaml", text) != set()
