"""Strimzi's resources before they are applied: what lint finds, at which line, and the nearest that is no fault."""

import json

import pytest

from kafka_audit.cli import main

RESOURCES = """apiVersion: kafka.strimzi.io/v1
kind: KafkaNodePool
metadata: {name: dual-role, labels: {strimzi.io/cluster: my-cluster}}
status: {nodeIds: [0, 1, 2]}
spec:
  replicas: 3
  roles: [controller, broker]
  storage: {type: persistent-claim, size: 100Gi}
---
apiVersion: kafka.strimzi.io/v1
kind: Kafka
metadata: {name: my-cluster, namespace: kafka}
spec:
  kafka:
    version: 4.3.0
    listeners:
      - name: external
        port: 9094
        type: nodeport
        tls: true
        configuration:
          brokers:
            - {broker: 0, advertisedHost: k0.example.com, nodePort: 32000}
            - {broker: 1, advertisedHost: k1.example.com, nodePort: 32001}
            - {broker: 2, advertisedHost: k2.example.com, nodePort: 32002}
    config:
      auto.create.topics.enable: false
      default.replication.factor: 3
      min.insync.replicas: 2
      offsets.topic.replication.factor: 3
      transaction.state.log.replication.factor: 3
"""


@pytest.fixture
def lint(tmp_path, monkeypatch, capsys):
    """Return a function that lints resources and returns exit code and stdout."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "150")

    def run(text, *arguments):
        (tmp_path / "kafka.yaml").write_text(text)
        code = main(["lint", "kafka.yaml", *arguments])
        return code, capsys.readouterr().out

    return run


def _failed(output):
    return {
        (finding["code"], finding["severity"], finding["evidence"].get("line"))
        for file in json.loads(output)["files"]
        for finding in file["findings"]
        if finding["status"] == "FAIL"
    }


FAULTS = {
    "two brokers with one address": (
        ("advertisedHost: k1.example.com, nodePort: 32001", "advertisedHost: k0.example.com, nodePort: 32000"),
        ("KA304", "CRITICAL", 17),
    ),
    "an address of each host": (("k1.example.com", "localhost"), ("KA303", "MEDIUM", 17)),
    "a value that Kafka refuses": (("min.insync.replicas: 2", "min.insync.replicas: two"), ("KA310", "CRITICAL", 29)),
    "too few replicas": (("default.replication.factor: 3", "default.replication.factor: 1"), ("KA707", "MEDIUM", 28)),
}


@pytest.mark.parametrize(("change", "fault"), FAULTS.values(), ids=FAULTS.keys())
def test_a_fault_has_its_line_and_goes_with_its_repair(lint, change, fault):
    code, output = lint(RESOURCES.replace(*change), "--format", "json")
    assert fault in _failed(output)
    assert code == (3 if fault[1] == "CRITICAL" else 0)
    code, output = lint(RESOURCES, "--format", "json")
    assert (code, {(name, severity) for name, severity, _ in _failed(output)}) == (0, {("KA215", "LOW")})


def test_ports_of_nodes_that_differ_share_a_host(lint):
    code, output = lint(RESOURCES.replace("k1.example.com", "k0.example.com"), "--format", "json")
    assert (code, {name for name, _, _ in _failed(output)}) == (0, {"KA215"})


def test_an_assigned_address_is_not_known(lint):
    text = RESOURCES.replace("type: nodeport", "type: loadbalancer").replace("advertisedHost", "other")
    code, output = lint(text, "--format", "json", "--all")
    files = json.loads(output)["files"]
    assert (code, [file["starts"] for file in files]) == (0, [True] * 3)
    unknown = {finding["code"] for file in files for finding in file["findings"] if finding["status"] == "UNKNOWN"}
    assert {"KA303", "KA304", "KA316"} <= unknown


def test_without_its_pools_a_cluster_is_judged_as_far_as_roles_do_not_decide(lint):
    alone = RESOURCES.partition("---\n")[2]
    (file,) = json.loads(lint(alone, "--format", "json")[1])["files"]
    assert (file["starts"], file["remarks"][0]["line"]) == (True, 1)
    code, output = lint(alone.replace("min.insync.replicas: 2", "min.insync.replicas: two"), "--format", "json")
    assert (code, json.loads(output)["files"][0]["starts"]) == (3, False)  # whatever the roles


def test_names_that_resolve_only_inside_and_combined_roles_are_mentioned(lint):
    text = RESOURCES.replace("type: nodeport", "type: internal").replace("advertisedHost", "other").replace("nodePort", "another")
    code, output = lint(text)
    flat = " ".join(output.split())
    assert code == 0
    assert (
        "LOW KA316 Clients outside Kubernetes cannot resolve any advertised name of broker 0 (EXTERNAL-9094, REPLICATION-9091)"
        in flat
    )
    assert "LOW KA215 Broker and controller run in one process (combined mode) on broker 2" in flat
    assert "as Kafka 4.3.0 (spec.kafka.version is 4.3.0)" in output


IGNORED = RESOURCES + "      super.users: User:admin\n"
REMARK = "Strimzi ignores super.users in spec.kafka.config"


def test_an_ignored_key_is_said_with_its_line_in_every_format(lint):
    assert f"  line 32: {REMARK}\n" in lint(IGNORED)[1]
    first, *others = json.loads(lint(IGNORED, "--format", "json")[1])["files"]
    assert first["remarks"] == [{"line": 32, "text": REMARK}]
    assert not any("remarks" in file for file in others)
    assert f"::notice file=kafka.yaml,line=32,title=lint::{REMARK}\n" in lint(IGNORED, "--format", "github")[1]
    (run,) = json.loads(lint(IGNORED, "--format", "sarif")[1])["runs"]
    (remark,) = run["invocations"][0]["toolExecutionNotifications"]
    assert remark["message"]["text"] == REMARK
    assert remark["locations"][0]["physicalLocation"]["region"] == {"startLine": 32}


def test_what_strimzi_takes_is_not_mentioned(lint):
    text = RESOURCES + "      ssl.cipher.suites: TLS_AES_128_GCM_SHA256\n"
    assert "remarks" not in json.loads(lint(text, "--format", "json")[1])["files"][0]
    assert "invocations" not in json.loads(lint(text, "--format", "sarif")[1])["runs"][0]


def test_a_version_without_rules_is_named_with_its_neighbour(lint):
    output = lint(RESOURCES.replace("version: 4.3.0", "version: 4.2.1"), "--format", "json")[1]
    (file, *_) = json.loads(output)["files"]
    assert (file["kafka_version"], file["neighbour_of"]) == ("4.2.2", "4.2.1")
    output = lint(RESOURCES.replace("version: 4.3.0", "version: 4.2.1"), "--format", "json", "--kafka-version", "4.4.0")[1]
    assert json.loads(output)["files"][0]["kafka_version"] == "4.4.0"


def test_what_is_not_judged_is_one_line_and_exit_code_2(tmp_path, capsys):
    old = RESOURCES.replace("kafka.strimzi.io/v1\nkind: Kafka\n", "kafka.strimzi.io/v1alpha1\nkind: Kafka\n")
    (tmp_path / "old.yaml").write_text(old)
    (tmp_path / "kafka.yaml").write_text(RESOURCES)
    assert main(["lint", str(tmp_path)]) == 2
    captured = capsys.readouterr()
    problem = "not judged: Kafka of kafka.strimzi.io/v1alpha1; lint reads v1beta1, v1beta2 and v1"
    assert captured.err == f"kafka-audit: {tmp_path}/old.yaml:10: {problem}\n"
    assert "kafka.yaml (Kafka my-cluster, pool dual-role, node 0): starts" in captured.out


def test_hostile_names_are_escaped(lint):
    text = RESOURCES.replace("name: external", 'name: "x\\e[31m\\u202e::error::"')
    for arguments in ((), ("--format", "github"), ("--format", "sarif")):
        output = lint(text, *arguments)[1]
        assert "\x1b" not in output
        assert "\u202e" not in output
        assert not any(line.startswith("::error::") for line in output.splitlines())


def test_clusters_of_one_name_in_two_namespaces_are_two(lint):
    other = RESOURCES.replace("namespace: kafka", "namespace: other").replace("nodeIds: [0, 1, 2]", "nodeIds: [10, 11, 12]")
    other = other.replace("broker: 0", "broker: 10").replace("broker: 1,", "broker: 11,").replace("broker: 2,", "broker: 12,")
    differs = "      transaction.state.log.replication.factor: 3\n"
    text = f"{RESOURCES.replace('labels:', 'namespace: kafka, labels:')}---\n"
    text += other.replace("labels:", "namespace: other, labels:").replace(differs, f"{differs}      log.retention.hours: 24\n")
    alone, _ = lint(RESOURCES, "--format", "json")
    code, output = lint(text, "--format", "json")
    assert code == alone
    assert not {failed for failed in _failed(output) if failed[0] == "KA701"}


@pytest.mark.parametrize("kind", ["KafkaNodePool", "KafkaNodePool # prod"])
def test_node_pools_without_their_cluster_are_not_passed_over_in_a_folder(tmp_path, monkeypatch, capsys, kind):
    monkeypatch.chdir(tmp_path)
    pool = RESOURCES.partition("---")[0].replace("kind: KafkaNodePool", f"kind: {kind}")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "pools.yaml").write_text(pool)
    (tmp_path / "folder" / "server.properties").write_text("broker.id=0\nzookeeper.connect=zk:2181\n")
    assert main(["lint", "folder"]) == 2
    assert "KafkaNodePool without its Kafka resource" in capsys.readouterr().err
