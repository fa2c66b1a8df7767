"""Files as people have them: what decides is the image, the command, or what stands around the settings."""

import io
import json
from pathlib import Path

import pytest
import yaml

from kafka_audit.cli import main
from kafka_audit.configuration.files import commands, images
from kafka_audit.configuration.files.java import Property

CASES = yaml.load((Path(__file__).parent / "field.yaml").read_text(), yaml.CSafeLoader)
GRAVE = {"HIGH", "CRITICAL"}


FILES = Path(__file__).parent / "field"
OF_FILES = {
    "G1.properties": ([True], []),
    "job.yaml": ([], []),
    "h1.yaml": ([None], []),
    "Jb.yaml": ([False], ["KA311 10", "KA717 7"]),
    "conf": ([True], []),
    "ef": ([True], ["KA717 4"]),
    "starts/cleaner_off.properties": ([True], []),
    "starts/cordoned_all.properties": ([True], []),
    "starts/jndi_module.properties": ([True], ["KA310 20"]),
    "starts/ldap_module.properties": ([True], ["KA310 20"]),
    "starts/local_retention_gt.properties": ([True], ["KA310 18"]),
    "starts/oauth_secured_class.properties": ([True], ["KA310 21"]),
    "starts/oauth_url_not_allowed.properties": ([True], ["KA310 22"]),
    "starts/share_rf1.properties": ([True], []),
    "starts/tiered_bad_listener.properties": ([True], ["KA310 19"]),
    "starts/tiered_no_rsm.properties": ([True], ["KA310 17"]),
}
"""By file or folder of `field/`: which of its brokers start, and what fails HIGH or above."""


@pytest.fixture
def lint(tmp_path, monkeypatch, capsys):
    """Return a function that lints texts by file name, and returns the exit code, the brokers and what could not be read."""
    monkeypatch.chdir(tmp_path)

    def run(texts, *arguments):
        for name, text in texts.items():
            (tmp_path / name).write_text(text)
        code = main(["lint", *(arguments or texts), "--format", "json"])
        printed = capsys.readouterr()
        return code, json.loads(printed.out or '{"files": []}')["files"], printed.err

    return run


def grave(files):
    """Return code and line of each finding that is HIGH or CRITICAL."""
    return [
        f"{finding['code']} {finding['evidence'].get('line', '')}".strip()
        for file in files
        for finding in file["findings"]
        if finding["status"] == "FAIL" and finding["severity"] in GRAVE
    ]


@pytest.mark.parametrize(("case", "expected"), [(case, case) for case in CASES.values()], ids=CASES.keys())
def test_a_file_has_the_outcome_of_the_table(lint, case, expected):
    code, files, _ = lint({case["file"]: case["text"]})
    assert [file["starts"] for file in files] == expected["starts"]
    assert grave(files) == expected.get("fails", [])
    assert code == (3 if expected.get("fails") else 0)
    for old, new, fails in case.get("near", ()):
        assert old in case["text"]
        _, files, _ = lint({case["file"]: case["text"].replace(old, new)})
        assert grave(files) == fails, (old, new)


@pytest.mark.parametrize(("name", "expected"), OF_FILES.items(), ids=OF_FILES.keys())
def test_a_given_file_has_its_outcome(lint, name, expected):
    code, files, said = lint({}, str(FILES / name))
    assert ([file["starts"] for file in files], grave(files)) == expected
    assert code == (3 if expected[1] else 0 if files else 2)
    assert files or said


def test_variables_of_an_env_file_are_those_of_its_service_and_no_second_broker(lint):
    env = "KAFKA_NODE_ID=1\nKAFKA_PROCESS_ROLES=broker,controller\nKAFKA_CONTROLLER_QUORUM_VOTERS=1@kafka:9093\n"
    env += "KAFKA_CONTROLLER_LISTENER_NAMES=CONTROLLER\nKAFKA_LISTENERS=PLAINTEXT://:9092,CONTROLLER://:9093\n"
    service = "services: {kafka: {image: 'apache/kafka:3.9.1', env_file: [kafka.env], environment: {KAFKA_LOG_DIRS: /data}}}\n"
    _, files, _ = lint({"compose.yaml": service, "kafka.env": env}, ".")
    assert [(file["path"], file["starts"]) for file in files] == [("compose.yaml", True)]
    _, (alone,), _ = lint({"compose.yaml": service.replace("kafka.env", "../kafka.env")}, "compose.yaml")
    assert (alone["starts"], alone["remarks"][0]["text"]) == (None, "not judged: settings of env_file")


OTHERS = {
    "listeners=http://0.0.0.0:8081\nkafkastore.connection.url=zk:2181\n": "Schema Registry",
    "listeners=http://0.0.0.0:8088\nksql.service.id=a\n": "ksqlDB",
    "bootstrap.servers=b:9092\nlisteners=HTTP://:8083\noffset.storage.topic=o\n": "Kafka Connect",
    "id=rest\nlisteners=http://:8082\nbootstrap.servers=b:9092\nzookeeper.connect=zk:2181\n": "REST Proxy",
    "zookeeper.connect=zk:2181\nconfluent.controlcenter.id=1\n": "Control Center",
    "zookeeper.connect=zk:2181\nwebserver.http.port=9090\n": "Cruise Control",
    "clusters=A, B\nA->B.enabled=true\n": "MirrorMaker",
    "zookeeper.connect=zk:2181\ngroup.id=g\n": "a consumer",
    "bootstrap.servers=b:9092\nkey.serializer=x\n": "a producer",
}


@pytest.mark.parametrize(("text", "program"), OTHERS.items(), ids=OTHERS.values())
def test_files_of_other_programs_are_named_and_left_out_of_a_folder(lint, text, program):
    code, files, said = lint({"other.properties": text})
    assert (code, files) == (2, [])
    assert f"other.properties: is for {program}, not for a broker" in said
    broker = "broker.id=1\nzookeeper.connect=zk:2181\nlisteners=PLAINTEXT://b1:9092\n"
    _, files, _ = lint({"server.properties": broker}, ".")
    assert [file["path"] for file in files] == ["server.properties"]
    _, files, _ = lint({"other.properties": f"{text}broker.id=2\n"}, "other.properties")
    assert [file["path"] for file in files] == ["other.properties"], "a key that brokers alone have"


PARTS = {
    "a size that no INT holds": (
        "server.properties",
        "message.max.bytes=2147483648\nreplica.fetch.max.bytes=1\n",
        False,
        "KA310 1",
    ),
    "a size": ("server.properties", "message.max.bytes=2147483647\nreplica.fetch.max.bytes=1\n", None, ""),
    "of a service": ("msk.properties", "unclean.leader.election.enable=true\nnum.network.threads=5\n", None, "KA704 1"),
    "between marks of Terraform": (
        "msk.tf",
        'resource "aws_msk_configuration" "a" {\n  server_properties = <<-EOT\n    num.io.threads=x\n  EOT\n}\n',
        False,
        "KA310 3",
    ),
    "in a line of Terraform": (
        "msk.tf",
        'resource "aws_msk_configuration" "a" {\n  server_properties = "num.io.threads=${var.threads}"\n}\n',
        None,
        "",
    ),
}


@pytest.mark.parametrize(("file", "text", "starts", "fails"), PARTS.values(), ids=PARTS.keys())
def test_a_part_of_the_settings_of_a_broker_is_judged_by_what_it_says(lint, file, text, starts, fails):
    _, files, _ = lint({file: text})
    assert ([one["starts"] for one in files], grave(files)) == ([starts], [fails] if fails else [])
    assert not [finding for finding in files[0]["findings"] if finding["status"] == "FAIL" and "line" not in finding["evidence"]]
    broker = "broker.id=1\nzookeeper.connect=zk:2181\nlisteners=PLAINTEXT://b1:9092\n"
    _, files, _ = lint({"b.properties": broker}, ".")
    assert [one["path"] for one in files] == ["b.properties"], "a part of a folder is no broker"
    other = "bootstrap.servers=b:9092\n" + text
    assert file.endswith(".tf") or lint({file: other})[0] == 2, "it is a client's"


FORMATS = {
    ("template.yaml", "kind: ConfigMap\ndata:\n  a: {{ .Values.a }}\n"): "helm template RELEASE CHART | kafka-audit lint -",
    ("main.tf", 'resource "aws_msk_configuration" "a" {}\n'): "is Terraform",
    ("Dockerfile", "FROM apache/kafka\n"): "is a Dockerfile",
    (
        "cfk.yaml",
        "apiVersion: platform.confluent.io/v1beta1\nkind: Kafka\nspec: {replicas: 3}\n",
    ): "is of Confluent for Kubernetes",
    ("play.yaml", "- hosts: kafka\n  roles: [kafka]\n"): "is an Ansible playbook",
}


@pytest.mark.parametrize(("file", "what"), FORMATS.items(), ids=FORMATS.values())
def test_a_format_that_is_not_read_is_named_with_what_to_do(lint, file, what):
    code, files, said = lint(dict([file]))
    assert (code, files) == (2, [])
    assert what in said


def test_standard_input_is_read_as_what_it_is(lint, monkeypatch):
    for text, starts in (
        (CASES["one broker with factors of three"]["text"], True),
        ("broker.id=a\nzookeeper.connect=z:1\n", False),
    ):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
        _, (file,), _ = lint({}, "-")
        assert (file["path"], file["starts"]) == ("-", starts)


STARTS = {
    "/etc/confluent/docker/run": "image",
    "sh\n-c\nexport A=1; exec /etc/kafka/docker/run": "wrapped",
    "start-kafka.sh": "image",
    "start-kafka.sh --first": "wrapped",
    "bin/kafka-server-start.sh config/server.properties": "server",
    "sh\n-c\nkafka-topics --list; exec kafka-server-start /c": "server",
    "/opt/ours/begin": "other",
    "": "image",
    "kafka-topics --create --topic t": None,
    "bash\n-c\ncub kafka-ready -b b:9092 1 20": None,
    "sleep\ninfinity": None,
    "/create-topics.sh": None,
    "connect-distributed /etc/connect.properties": None,
}


@pytest.mark.parametrize(("text", "kind"), STARTS.items(), ids=str)
def test_what_a_command_starts(text, kind):
    start = commands.start_of(text, Property("command", "", 1))
    assert (start.kind if start else None) == kind


RELEASES = {
    "wurstmeister/kafka": "2.8.1",
    "wurstmeister/kafka:2.12-2.3.0": "2.3.0",
    "quay.io/debezium/kafka:1.9": "3.2.0",
    "debezium/kafka:2.7.0.Final": "3.7.0",
    "confluentinc/cp-kafka:7.4.1-1-ubi8": "3.4",
    "confluentinc/cp-kafka:7.9.0": "3.9.0",
    "confluentinc/cp-enterprise-kafka:5.5.0": "2.5.0",
    "confluentinc/cp-enterprise-kafka": None,
    "bitnami/kafka@sha256:0ac56ae8b5cf4bcd0ba4": None,
    "bitnami/kafka:3.6@sha256:0ac56ae8b5cf4bcd0ba4": "3.6",
    "confluentinc/cp-server:5.5.0": "2.5.0",
    "confluentinc/cp-kafka:3.3.1": "0.11.0",
    "confluentinc/confluent-local:7.5.0": "3.5.0",
    "bitnami/kafka:3.6": "3.6",
    "bitnami/kafka:2": "2.8.1",
    "quay.io/strimzi/kafka:0.45.0-kafka-3.9.0": "3.9.0",
    "apache/kafka-native:4.1.0": "4.1.0",
    "registry.example:5000/kafka:3.7.1": "3.7.1",
    "registry.example:5000/ours": None,
    "confluentinc/cp-kafka:ours": None,
}


@pytest.mark.parametrize(("image", "release"), RELEASES.items())
def test_the_release_that_a_tag_runs(image, release):
    assert images.release_of(image) == release


REMARKED = """services:
  web:
    image: ours/web
  kafka:
    image: bitnamilegacy/kafka:3.9.0
    mem_limit: 2g
    environment:
      KAFKA_CFG_NODE_ID: 1
      KAFKA_CFG_PROCESS_ROLES: broker,controller
      KAFKA_CFG_CONTROLLER_LISTENER_NAMES: CONTROLLER
      KAFKA_CFG_CONTROLLER_QUORUM_VOTERS: 1@kafka:9093
      KAFKA_CFG_LISTENERS: PLAINTEXT://:9092,CONTROLLER://:9093
      KAFKA_LOG_RETENTION_HOURS: 24
    healthcheck:
      test: kafka-topics.sh --bootstrap-server kafka:9092 --list
"""
REMARKS = {
    ("bitnamilegacy/kafka", "bitnami/kafka"): (5, "no longer published"),
    ("bitnamilegacy/kafka", "docker.io/bitnami/kafka"): (5, "no longer published"),
    ("bitnamilegacy/kafka", "registry.example/bitnami/kafka"): None,
    ("KAFKA_LOG_RETENTION_HOURS", "KAFKA_LOG_RETENTION_MINUTES"): (13, "sets nothing"),
    ("KAFKA_LOG_RETENTION_HOURS", "KAFKA_CFG_LOG_RETENTION_HOURS"): None,
    ("KAFKA_LOG_RETENTION_HOURS", "KAFKA_CLIENT_USERS"): None,
    ("mem_limit: 2g", "mem_limit: 1g"): (6, "the heap may grow to 1024m, and the container's limit is 1g"),
    ("mem_limit: 2g", "deploy: {resources: {limits: {memory: 512M}}}"): (6, "container's limit is 512M"),
    ("mem_limit: 2g", "mem_limit: $LIMIT"): None,
    ("KAFKA_LOG_RETENTION_HOURS: 24", "KAFKA_HEAP_OPTS: -Xms1g -Xmx2g"): (6, "the heap may grow to 2g"),
    ("KAFKA_LOG_RETENTION_HOURS: 24", 'KAFKA_HEAP_OPTS: "-XX:MaxRAMPercentage=75"'): None,
    ("server kafka:9092", "server web:9092"): (15, "asks web:9092, which is no broker"),
    ("server kafka:9092", "server localhost:9092"): None,
    ("KAFKA_LOG_RETENTION_HOURS: 24", "KAFKA_CFG_ADVERTISED_LISTENERS: PLAINTEXT://192.0.2.7:9092\n    ports: ['9092']"): (
        14,
        "Docker publishes 9092 at a port that it chooses",
    ),
    ("KAFKA_LOG_RETENTION_HOURS: 24", "KAFKA_CFG_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092\n    ports: ['9092']"): None,
    (
        "KAFKA_LOG_RETENTION_HOURS: 24",
        "KAFKA_CFG_ADVERTISED_LISTENERS: PLAINTEXT://192.0.2.7:9092\n    ports: ['9092:9092']",
    ): None,
}


@pytest.mark.parametrize(("change", "remark"), REMARKS.items(), ids=map(str, REMARKS))
def test_what_a_container_cannot_do_is_a_remark(lint, change, remark):
    assert change[0] in REMARKED
    _, (file,), _ = lint({"compose.yaml": REMARKED.replace(*change)})
    said = [(one["line"], one["text"]) for one in file.get("remarks", ())]
    assert said == [] if remark is None else any(line == remark[0] and remark[1] in text for line, text in said)


ASKS = """services:
  kafka:
    image: confluentinc/cp-kafka:7.3.0
    environment:
      KAFKA_BROKER_ID: 1
      KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092
      KAFKA_ZOOKEEPER_CONNECT: zk:2181
      kafka_mode: a
  zk:
    image: zookeeper
    ports: ["2183:2181"]
    environment: {ZOO_ID: 1}
"""
SAID = {
    "as it should be": ("", "", []),
    "small letters": (
        "kafka_mode",
        "kafka_log_dirs",
        [(8, "kafka_log_dirs sets nothing: Confluent's image reads KAFKA_LOG_DIRS")],
    ),
    "a port of the host": ("zk:2181", "zk:2183", [(7, "zk:2183 is a port of the host: containers reach zk at 2181")]),
    "a port that the container may have": ("zk:2181", "zk:2184", []),
    "a host of others": ("zk:2181", "zoo.example.com:2183", []),
}


@pytest.mark.parametrize(("old", "new", "remarks"), SAID.values(), ids=SAID.keys())
def test_names_and_ports_that_are_not_those_of_a_container_are_remarks(lint, old, new, remarks):
    _, (file,), _ = lint({"compose.yaml": ASKS.replace(old, new)})
    assert [(one["line"], one["text"]) for one in file.get("remarks", ())] == remarks
    own = ASKS.replace("zk:2181", "zk:2183").replace("ZOO_ID: 1", "ZOOKEEPER_CLIENT_PORT: 2183")
    assert "remarks" not in lint({"compose.yaml": own})[1][0]


BASE = """services:
  kafka:
    image: apache/kafka:3.9.1
    environment:
      KAFKA_NODE_ID: 1
      KAFKA_PROCESS_ROLES: broker,controller
      KAFKA_CONTROLLER_QUORUM_VOTERS: 1@kafka:9093
      KAFKA_CONTROLLER_LISTENER_NAMES: CONTROLLER
      KAFKA_LISTENERS: PLAINTEXT://:9092,CONTROLLER://:9093
      KAFKA_ADVERTISED_LISTENERS: PLAINTEXT://kafka:9092
      KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT
"""
FACTORS = """services:
  kafka:
    environment:
      - KAFKA_OFFSETS_TOPIC_REPLICATION_FACTOR=1
      - KAFKA_TRANSACTION_STATE_LOG_REPLICATION_FACTOR=1
      - KAFKA_TRANSACTION_STATE_LOG_MIN_ISR=1
"""
OTHER = FACTORS.replace("  kafka:\n", "  other:\n    image: apache/kafka:3.9.1\n")
ADDS = "judged with the override file beside this one, which Compose adds"


@pytest.mark.parametrize(
    ("override", "name", "lines"),
    [
        (FACTORS, "docker-compose.override.yml", {}),
        (FACTORS, "compose.override.yaml", {}),
        (FACTORS, "docker-compose.prod.yml", {1: ["KA717 5"]}),
        ("services: [", "compose.override.yaml", {1: ["KA717 5"]}),
        (OTHER, "compose.override.yaml", {2: ["KA717 5", "KA310 2"]}),
    ],
)
def test_compose_adds_the_override_file_beside(lint, override, name, lines):
    _, files, _ = lint({"docker-compose.yml": BASE, name: override}, ".")
    ((count, expected),) = lines.items() or {1: []}.items()
    assert (len(files), grave(files)) == (count, expected)
    said = [(one["line"], one["text"]) for one in files[0].get("remarks", ())]
    assert ((3, ADDS) in said) == (not lines)


def test_a_file_that_compose_does_not_know_has_no_override(lint):
    _, files, _ = lint({"stack.yml": BASE, "docker-compose.override.yml": FACTORS}, "stack.yml")
    assert grave(files) == ["KA717 5"]


def test_a_service_has_the_ports_and_variables_of_the_one_that_it_extends(lint):
    extended = BASE.replace("kafka:9092", "${HOST:-kafka}:9092").replace("  kafka:\n", "  kafka:\n    extends: common\n")
    _, files, _ = lint({"compose.yaml": extended + FACTORS.replace("services:\n  kafka", "  common")})
    assert [(file["starts"], grave([file])) for file in files] == [(True, [])]


def test_node_pools_of_other_files_are_those_of_their_cluster(lint):
    pool, cluster = CASES["a pool of controllers in a cluster with ZooKeeper"]["text"].split("---\n")
    other = pool.replace("cluster: c", "cluster: other").replace("replicas: 3", "replicas: 1")
    texts = {"kafka.yaml": cluster, "pool.yaml": pool, "other.yaml": other}
    for arguments in ((".",), tuple(texts), ("kafka.yaml",)):
        code, files, said = lint(texts, *arguments)
        assert (code, [file["path"] for file in files], said) == (3, ["kafka.yaml"] * 3, "")
        assert grave(files) == ["KA310"] * 3
        assert {one["line"] for one in files[0]["remarks"]} == {1}
    code, files, said = lint(texts, "pool.yaml")
    assert (code, files) == (2, [])
    assert "without its Kafka resource" in said


BUILT = """FROM eclipse-temurin:17 AS build
ENV KAFKA_LISTENERS=PLAINTEXT://9999
FROM apache/kafka:3.9.1
# the broker
ENV KAFKA_NODE_ID=1 \\
    KAFKA_PROCESS_ROLES="broker,controller" \\
    # and its quorum
    KAFKA_CONTROLLER_QUORUM_VOTERS=1@localhost:9093
ENV KAFKA_LISTENERS PLAINTEXT://9092,CONTROLLER://:9093
ENV KAFKA_CONTROLLER_LISTENER_NAMES=CONTROLLER KAFKA_LISTENER_SECURITY_PROTOCOL_MAP=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT
CMD ["/etc/kafka/docker/run"]
"""


@pytest.mark.parametrize(
    ("old", "new", "starts", "fails"),
    [
        ("", "", [False], ["KA310 9"]),
        ("PLAINTEXT://9092", "PLAINTEXT://:9092", [True], []),
        ("FROM apache/kafka:3.9.1", "FROM build", [False], ["KA310 9"]),
        ("/etc/kafka/docker/run", "kafka-topics.sh", [], []),
        ('"broker,controller"', '"broker,controller', [False], ["KA310 9"]),
        ("KAFKA_", "OTHER_", [], []),
    ],
)
def test_a_dockerfile_has_the_variables_of_its_last_stage(lint, old, new, starts, fails):
    _, files, said = lint({"Dockerfile": BUILT.replace(old, new)})
    assert ([file["starts"] for file in files], grave(files)) == (starts, fails)
    assert files or "Dockerfile" in said


CREATES = """services:
  zk: {image: zookeeper}
  kafka:
    image: wurstmeister/kafka:2.13-2.8.1
    restart: always
    environment:
      KAFKA_ZOOKEEPER_CONNECT: zk:2181
      KAFKA_ADVERTISED_HOST_NAME: kafka
      KAFKA_CREATE_TOPICS: "a:1:1,b:1:3:compact"
"""


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("", "", [(9, "topic b is to have 3 replicas, and is not created: brokers of the file are 1")]),
        ("b:1:3", "b:3:1", []),
        ("zk:2181", "zk:2181,zk.example.com:2181", []),
        ("a:1:1,b:1:3:compact", "${TOPICS}", []),
    ],
)
def test_a_topic_with_more_replicas_than_brokers_is_a_remark(lint, old, new, said):
    _, (file,), _ = lint({"compose.yaml": CREATES.replace(old, new)})
    assert [(one["line"], one["text"]) for one in file.get("remarks", ())] == said


PODS = """apiVersion: apps/v1
kind: StatefulSet
metadata: {name: kafka}
spec:
  serviceName: brokers
  template:
    spec:
      containers:
        - name: kafka
          image: confluentinc/cp-kafka:7.6.1
          resources: {limits: {memory: 2Gi}}
          env:
            - {name: POD_IP, valueFrom: {fieldRef: {fieldPath: status.podIP}}}
            - {name: POD_NAME, valueFrom: {fieldRef: {fieldPath: metadata.name}}}
            - {name: KAFKA_BROKER_ID, value: "0"}
            - {name: KAFKA_ZOOKEEPER_CONNECT, value: "zk:2181"}
            - {name: KAFKA_OFFSETS_TOPIC_REPLICATION_FACTOR, value: "1"}
            - {name: KAFKA_ADVERTISED_LISTENERS, value: "PLAINTEXT://$(POD_NAME).brokers.ns.svc:9092"}
"""


def test_what_pods_cannot_do_is_a_remark(lint):
    def remarks(*change):
        _, (file,), _ = lint({"pods.yaml": PODS.replace(*change)})
        return [(one["line"], one["text"][:40]) for one in file.get("remarks", ())]

    assert remarks("", "") == []
    assert remarks(".ns.svc", "") == [(18, "names below brokers resolve in its names")]
    assert remarks("$(POD_NAME).brokers.ns.svc", "$(POD_IP)") == [(18, "advertises the address of the pod, which")]
    assert remarks("memory: 2Gi", "memory: 512Mi") == [(11, "the heap may grow to 1G, and the contain")]
    assert remarks("memory: 2Gi", "memory: 536870912000m") == []
    assert remarks('value: "0"', "value: '${POD_NAME##*-}'") == [(15, "KAFKA_BROKER_ID has ${POD_NAME##*-}, whi")]
    assert remarks('value: "0"', "value: '$(POD_NAME)'") == []


def test_a_container_without_variables_ends_where_its_image_needs_them(lint):
    for image, ends in (("bitnami/kafka:3.9", True), ("confluentinc/cp-kafka:7.6.1", True), ("apache/kafka:4.3.0", False)):
        code, files, _ = lint({"compose.yaml": f"services:\n  kafka:\n    image: {image}\n    ports: ['9092:9092']\n"})
        assert (code, [file["starts"] for file in files]) == ((3, [False]) if ends else (0, [True]))
        assert grave(files) == (["KA310 3"] if ends else [])


def test_each_image_names_its_source():
    assert all(image.source and image.names and image.label for image in images.known_images())


PORTS = """services:
  kafka:
    image: apache/kafka:3.9.1
    ports: ["9092:9092", "29092:29092"]
    environment:
      KAFKA_NODE_ID: 1
      KAFKA_PROCESS_ROLES: broker,controller
      KAFKA_CONTROLLER_QUORUM_VOTERS: 1@kafka:9093
      KAFKA_CONTROLLER_LISTENER_NAMES: CONTROLLER
      KAFKA_LISTENERS: IN://:9092,OUT://:29092,CONTROLLER://:9093
      KAFKA_ADVERTISED_LISTENERS: IN://kafka:9092,OUT://localhost:29092
      KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: IN:PLAINTEXT,OUT:PLAINTEXT,CONTROLLER:PLAINTEXT
      KAFKA_INTER_BROKER_LISTENER_NAME: IN
      KAFKA_OFFSETS_TOPIC_REPLICATION_FACTOR: 1
      KAFKA_LOG_DIRS: /data
"""
VOTERS = "1@kafka:9093,2@other:9093"
SECOND = PORTS.partition("services:\n")[2].replace("  kafka:", "  other:").replace("NODE_ID: 1", "NODE_ID: 2")
SECOND = SECOND.replace('"9092:9092", "29092:29092"', '"39092:29092"')
SECOND = SECOND.replace("IN://kafka:9092,OUT://localhost:29092", "IN://other:9092,OUT://localhost:39092")
PAIR = (PORTS + SECOND).replace("1@kafka:9093", VOTERS)
AROUND = {
    "as it should be": (PORTS, []),
    "an own port outside": (PORTS.replace('"29092:29092"', '"19092:29092"').replace("localhost:29092", "localhost:19092"), []),
    "a port that is not published": (PORTS.replace(', "29092:29092"', ""), ["KA303 11"]),
    "no port at all": (PORTS.replace('    ports: ["9092:9092", "29092:29092"]\n', ""), []),
    "a port of the host that is not known": (PORTS.replace('"29092:29092"', '"$PORT:29092"'), []),
    "ports that are crossed": (PORTS.replace('"29092:29092"', '"29092:9092"'), ["KA303 11"]),
    "a port on which no listener is": (PORTS.replace("IN://kafka:9092", "IN://kafka:9095"), ["KA303 11"]),
    "two nodes": (PAIR, []),
    "two voters at one address": (PAIR.replace("2@other:9093", "2@kafka:9093"), ["KA213 8", "KA213 22"]),
    "voters on localhost": (PAIR.replace("1@kafka:9093,2@other", "1@localhost:9093,2@localhost"), ["KA213 8", "KA213 22"]),
    "one id of the cluster": (PAIR.replace("      KAFKA_NODE_ID", "      CLUSTER_ID: a\n      KAFKA_NODE_ID"), []),
    "two ids of the cluster": (
        PAIR.replace("KAFKA_NODE_ID: 1", "CLUSTER_ID: a\n      KAFKA_NODE_ID: 1").replace(
            "KAFKA_NODE_ID: 2", "CLUSTER_ID: b\n      KAFKA_NODE_ID: 2"
        ),
        ["KA213 24"],
    ),
}


@pytest.mark.parametrize(("text", "fails"), AROUND.values(), ids=AROUND.keys())
def test_what_stands_around_the_settings(lint, text, fails):
    _, files, _ = lint({"compose.yaml": text})
    assert [fail for fail in grave(files) if not fail.startswith("KA717")] == fails


def test_a_value_that_kubernetes_does_not_replace_is_taken_as_it_is(lint):
    text = (
        CASES["three pods with one id"]["text"].replace("replicas: 3", "replicas: 1").replace("kafka-0.kh:9092", "${POD_IP}:9092")
    )
    field = "- {name: POD_IP, valueFrom: {fieldRef: {fieldPath: status.podIP}}}\n            - {name: KAFKA_BROKER_ID"
    named = text.replace("- {name: KAFKA_BROKER_ID", field)
    assert "KA310 18" in grave(lint({"pods.yaml": named})[1])
    assert "KA310" not in str(grave(lint({"pods.yaml": named.replace("${POD_IP}", "$(POD_IP)")})[1]))
    assert "KA310" not in str(grave(lint({"pods.yaml": text})[1])), "envsubst may replace it"


def test_a_controller_on_all_addresses_is_refused_by_3_9_0_alone(lint):
    text = PORTS.replace("CONTROLLER://:9093", "CONTROLLER://0.0.0.0:9093")
    for version, starts in (("3.9.0", False), ("3.9.1", True), ("4.0.0", True)):
        _, (file,), _ = lint({"compose.yaml": text}, "compose.yaml", "--kafka-version", version)
        assert file["starts"] is starts, version


def test_services_of_jobs_and_values_inside_other_resources_are_read(lint):
    job = "jobs:\n  test:\n    services:\n      kafka:\n        image: bitnami/kafka:3.9\n        env:\n"
    job += "          KAFKA_CFG_LISTENERS: A://9\n"
    code, (file,), _ = lint({"ci.yaml": job})
    assert (code, file["starts"], grave([file])) == (3, False, ["KA310 7"])
    values = "kind: Application\nspec:\n  source:\n    helm:\n      values: |\n        controller: {replicaCount: 1}\n"
    values += (
        "        listeners: {client: {protocol: PLAINTEXT}}\n        overrideConfiguration:\n          min.insync.replicas: two\n"
    )
    _, (file,), _ = lint({"app.yaml": values})
    assert ("KA310 9" in grave([file]), file["starts"]) == (True, False)


def test_a_container_with_a_file_from_elsewhere_is_no_second_broker(lint):
    text = "kind: ConfigMap\nmetadata: {name: a}\ndata:\n  server.properties: |\n    broker.id=1\n    zookeeper.connect=zk:2181\n"
    text += "---\nkind: Pod\nspec:\n  containers:\n    - {image: ours, command: [kafka-server-start.sh, /c/server.properties]}\n"
    _, files, _ = lint({"pods.yaml": text})
    assert [file.get("inside", "") for file in files] == [""]


def test_an_override_is_no_second_broker(lint):
    override = "services: {kafka: {environment: {KAFKA_LISTENERS: 'IN://:1,OUT://:2,CONTROLLER://:3'}}}\n"
    _, files, _ = lint({"compose.yaml": PORTS, "compose.override.yaml": override}, ".")
    assert [file["path"] for file in files] == ["compose.yaml"]
    _, (file,), _ = lint({}, "compose.override.yaml")
    assert file["starts"] is None


def test_the_top_of_a_new_file_system_is_no_directory_of_logs(lint):
    text = CASES["data beside the claim that keeps it"]["text"]
    text = text.replace("mountPath: /var/lib/kafka}", "mountPath: /var/lib/kafka/data}")
    folder = text.replace("mountPath: /var/lib/kafka/data}", "mountPath: /var/lib/kafka/data, subPath: data}")
    cleaned = text.replace("      containers:", "      initContainers: [{name: clean}]\n      containers:")
    for manifests, lines in ((text, [("MEDIUM", 22)]), (folder, []), (cleaned, [])):
        (file,) = lint({"pods.yaml": manifests})[1]
        found = [one for one in file["findings"] if one["code"] == "KA720" and one["status"] == "FAIL"]
        assert [(one["severity"], one["evidence"]["line"]) for one in found] == lines


def test_what_an_image_may_add_is_no_key_without_effect(lint):
    text = "services: {b: {image: 'bitnami/kafka:3.6', environment: {KAFKA_CFG_PROCESS_ROLES: broker, KAFKA_CFG_LITENERS: 'A://:1'}}}\n"
    (file,) = lint({"compose.yaml": text})[1]
    assert [one["evidence"]["key"] for one in file["findings"] if one["code"] == "KA719"] == ["liteners"]


def test_jinja_and_helm_are_read_and_named(lint):
    compose = "services:\n  b:\n    image: apache/kafka:4.1.1\n    environment:\n      KAFKA_PROCESS_ROLES: broker\n"
    compose += "      KAFKA_NODE_ID: {{ id }}\n      KAFKA_NUM_PARTITIONS: many\n"
    code, (file,), _ = lint({"compose.yaml": compose})
    assert (code, file["starts"], grave([file])) == (3, False, ["KA310 7"])
    said = "judged by what the template itself says: it is an unrendered template; lint the rendered files"
    assert file["remarks"][0]["text"] == said
    code, _, said = lint({"values.yaml": "a: {{ b }}\n"}, "values.yaml")
    assert (code, "values.yaml:1: is an unrendered template" in said) == (2, True)


PROBES = (
    ("apache/kafka:4.1.1", "kafka-topics.sh --bootstrap-server localhost:9092 --list", "kafka-topics.sh"),
    ("apache/kafka:4.1.1", "/opt/kafka/bin/kafka-topics.sh --bootstrap-server kafka-1:9092 --list", None),
    ("apache/kafka-native:4.1.1", "/opt/kafka/bin/kafka-topics.sh --list", "kafka-topics.sh"),
    ("confluentinc/cp-kafka:7.5.0", "kafka-broker-api-versions.sh --bootstrap-server b:9092", "kafka-broker-api-versions.sh"),
    ("confluentinc/cp-kafka:7.5.0", "kafka-broker-api-versions --bootstrap-server kafka-broker:9092", None),
    ("bitnami/kafka:3.6", "kafka-topics --list", "kafka-topics"),
    ("bitnami/kafka:3.6", "kafka-topics.sh --list", None),
    ("apache/kafka:4.1.1", "nc -z kafka-server 9092", None),
    ("wurstmeister/kafka:2.12-2.3.0", "", None),
    ("example/kafka", "kafka-topics.sh --list", None),
)


@pytest.mark.parametrize(("image", "probe", "missing"), PROBES)
def test_a_probe_that_calls_what_the_image_lacks_is_named(lint, image, probe, missing):
    prefix = "KAFKA_CFG_" if "bitnami" in image else "KAFKA_"
    compose = f"services:\n  b:\n    image: {image}\n    healthcheck:\n      test: [CMD-SHELL, '{probe}']\n"
    compose += f"    environment: {{{prefix}NODE_ID: 1, {prefix}PROCESS_ROLES: broker}}\n"
    pod = f"kind: Pod\nspec:\n  containers:\n    - image: {image}\n"
    pod += f"      livenessProbe: {{exec: {{command: [sh, -c, '{probe}']}}}}\n"
    pod += f"      env: [{{name: {prefix}NODE_ID, value: '1'}}, {{name: {prefix}PROCESS_ROLES, value: broker}}]\n"
    for name, text in (("compose.yaml", compose), ("pod.yaml", pod)):
        (file,) = lint({name: text}, name)[1]
        said = [remark for remark in file.get("remarks", ()) if "calls" in remark["text"]]
        assert [remark["line"] for remark in said] == ([5] if missing else [])
        assert all(f"calls {missing}, which" in remark["text"] for remark in said)


def test_what_to_do_is_said_once_per_check(capsys, tmp_path):
    for node in (1, 2, 3):
        text = f"broker.id={node}\nzookeeper.connect=zk:2181\nlisteners=PLAINTEXT://b{node}:9092\n"
        text += "num.partitons=2\n" if node == 2 else ""
        (tmp_path / f"b{node}.properties").write_text(text)
    main(["lint", str(tmp_path)])
    printed = capsys.readouterr().out
    assert printed.count("Add a listener with SSL") == 1
    assert printed.count("What to do: as for KA411 above.") == 1
    assert "1 more broker is like this one" in printed


def test_what_is_the_same_of_many_brokers_is_said_once(capsys, tmp_path):
    service = "  b{0}:\n    image: apache/kafka:4.1.1\n    environment: {{KAFKA_PROCESS_ROLES: broker, KAFKA_NODE_ID: {0}, "
    service += "KAFKA_CONTROLLER_QUORUM_VOTERS: '1000@c:9093', KAFKA_CONTROLLER_LISTENER_NAMES: C, "
    service += "KAFKA_LISTENERS: 'PLAINTEXT://:9092', "
    service += "KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: 'PLAINTEXT:PLAINTEXT,C:PLAINTEXT', KAFKA_ADVERTISED_LISTENERS: "
    services = [f"{service.format(node)}'PLAINTEXT://b{node}:{9095 if node < 50 else 9092}'}}\n" for node in range(120)]
    (tmp_path / "compose.yaml").write_text("services:\n" + "".join(services))
    main(["lint", str(tmp_path / "compose.yaml")])
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) < 200
    named = " ".join(line.strip() for line in lines)
    assert all(f"b{node} (line {node * 3 + 4})" in named for node in range(2, 50)), "each fault has its line"
    assert "120 brokers" in lines[-1]
    assert "50 HIGH" in lines[-1]
    main(["lint", str(tmp_path / "compose.yaml"), "--all"])
    assert "like this one" not in capsys.readouterr().out
