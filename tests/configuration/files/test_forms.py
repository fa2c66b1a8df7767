"""Files in every form: which brokers they describe, at which lines, and what nobody can know of them."""

import textwrap

import pytest

from kafka_audit.configuration.files import environment, forms, images
from kafka_audit.configuration.files.java import PropertiesError

CONFIG_MAP = r"""apiVersion: v1
kind: ConfigMap
metadata: {name: kafka}
data:
  log4j.properties: |
    log4j.rootLogger=INFO
    a=b
  server.properties: |

    ##########
    # broker
    broker.id=1
    listeners=IN://:9092,\
      OUT://:9093
    zookeeper.connect=${env:ZK}
  second.properties: "broker.id=2\nlog.dirs=/d\n"
---
apiVersion: v1
kind: Service
"""
COMPOSE = r"""x-common: &common
  KAFKA_ZOOKEEPER_CONNECT: zk:2181
  KAFKA_SUPER_USERS: User:a;User:b
services:
  zk: {image: zookeeper, environment: {ZOO_MY_ID: 1}}
  one:
    image: confluentinc/cp-kafka:7.5.0
    environment:
      <<: *common
      KAFKA_BROKER_ID: 1
      KAFKA_ADVERTISED_LISTENERS: IN://one:9092,OUT://$HOST:9093
      KAFKA_HEAP_OPTS: -Xmx1g
      KAFKA_LOG4J_LOGGERS: kafka=INFO
  two:
    image: apache/kafka:3.9.1
    environment:
      - KAFKA_NODE_ID=2
      - KAFKA_LISTENER_NAME_IN_SSL_KEYSTORE_LOCATION=/k$$1
      - KAFKA_FROM_HOST
"""
STATEFUL_SET = r"""apiVersion: apps/v1
kind: StatefulSet
metadata: {name: kafka}
spec:
  template:
    spec:
      initContainers:
        - {name: wait, env: [{name: KAFKA_BROKER_ID, value: "9"}]}
      containers:
        - name: kafka
          image: registry/bitnami/kafka:3.9
          env:
            - {name: POD_IP, valueFrom: {fieldRef: {fieldPath: status.podIP}}}
            - name: KAFKA_CFG_NODE_ID
              valueFrom: {fieldRef: {fieldPath: metadata.name}}
            - name: KAFKA_CFG_ADVERTISED_LISTENERS
              value: CLIENT://$(POD_IP):9092
            - name: KAFKA_CFG_LISTENERS
              value: CLIENT://:9092
            - {name: KAFKA_CFG_SSL_CLIENT_AUTH, value: none}
"""


def _values(node):
    return {key: (setting.value, setting.line) for key, setting in node.properties.items()}


def test_each_text_of_a_config_map_is_a_broker_with_the_lines_of_the_file():
    first, second = forms.read_described(CONFIG_MAP.encode(), "cm.yaml")
    assert _values(first) == {
        "broker.id": ("1", 12),
        "listeners": ("IN://:9092,OUT://:9093", 13),
        "zookeeper.connect": ("${env:ZK}", 15),
    }
    assert (first.inside, first.unknown) == ("ConfigMap kafka, server.properties", {"zookeeper.connect"})
    assert _values(second) == {"broker.id": ("2", 16), "log.dirs": ("/d", 16)}


def test_a_key_that_is_set_again_to_another_value_is_said_with_both_lines():
    text = "broker.id=1\nlog.dirs=/a\nlog.dirs=/b\nlog.dir=/c\nlog.dir=/c\n"
    (node,) = forms.read_described(text.encode(), "server.properties")
    assert [(remark.line, remark.text) for remark in node.remarks] == [(2, "log.dirs has no effect here: line 3 sets it again")]
    nested = f"apiVersion: v1\nkind: ConfigMap\ndata:\n  server.properties: |\n{textwrap.indent(text, '    ')}"
    (node,) = forms.read_described(nested.encode(), "cm.yaml")
    assert [(remark.line, remark.text) for remark in node.remarks] == [(6, "log.dirs has no effect here: line 7 sets it again")]


def test_a_thousand_keys_that_are_set_again_are_counted():
    text = "broker.id=1\n" + "".join(f"k{number}=1\nk{number}=2\n" for number in range(1000))
    (node,) = forms.read_described(text.encode(), "server.properties")
    assert len(node.remarks) == 51
    assert node.remarks[-1].text == "950 more keys like these are not listed"


def test_each_service_is_a_broker_by_the_rules_of_its_image():
    one, two = forms.read_described(COMPOSE.encode(), "compose.yaml")
    assert _values(one) == {
        "zookeeper.connect": ("zk:2181", 2),
        "super.users": ("User:a;User:b", 3),
        "log.dirs": ("/var/lib/kafka/data", 2),
        "broker.id": ("1", 10),
        "advertised.listeners": ("IN://one:9092,OUT://$HOST:9093", 11),
        "listeners": ("IN://0.0.0.0:9092,OUT://0.0.0.0:9093", 11),
    }
    assert one.unknown == {"advertised.listeners"}
    assert (one.image, one.inside) == ("confluentinc/cp-kafka:7.5.0", "service one")
    assert _values(two) == {
        "node.id": ("2", 17),
        "listener.name.in.ssl.keystore.location": ("/k$1", 18),
        "from.host": ("", 19),
    }
    assert two.unknown == {"from.host"}


def test_a_pod_is_a_broker_and_what_stands_elsewhere_is_not_known():
    (node,) = forms.read_described(STATEFUL_SET.encode(), "all.yaml")
    assert _values(node) == {
        "node.id": ("kafka-0", 14),
        "advertised.listeners": ("CLIENT://$(POD_IP):9092", 17),
        "listeners": ("CLIENT://:9092", 19),
        "ssl.client.auth": ("none", 20),
        "log.dirs": ("/bitnami/kafka/data", 14),
        "offsets.topic.replication.factor": ("1", 14),
        "transaction.state.log.replication.factor": ("1", 14),
        "transaction.state.log.min.isr": ("1", 14),
        "sasl.enabled.mechanisms": ("PLAIN,SCRAM-SHA-256,SCRAM-SHA-512", 14),
    }
    assert {"advertised.listeners", "inter.broker.listener.name"} <= node.unknown
    assert "listeners" not in node.unknown
    assert node.inside == "StatefulSet kafka, container kafka"


def test_an_env_file_is_a_broker():
    text = "# kafka\nexport KAFKA_BROKER_ID=1\r\nKAFKA_LOG_DIRS='/a b' # two\nKAFKA_LOG_RETENTION_MS=\"5\"\nPATH=$PATH\n"
    (node,) = forms.read_described(text.encode(), "kafka.env")
    assert _values(node) == {"broker.id": ("1", 2), "log.dirs": ("/a b", 3), "log.retention.ms": ("5", 4)}


def test_advertised_without_listeners_is_left_to_the_image_that_an_env_file_does_not_name():
    (node,) = forms.read_described(b"KAFKA_BROKER_ID=1\nKAFKA_ADVERTISED_LISTENERS=A://b:1\n", "kafka.env")
    assert {"listeners", "log.dirs", "process.roles", "offsets.topic.replication.factor"} <= node.unknown


@pytest.mark.parametrize(
    ("image", "variables", "folder", "unknown"),
    [
        ("confluentinc/cp-server:8.0.0", "", "/var/lib/kafka/data", set()),
        ("docker.io/bitnamilegacy/kafka:4.0.0", "", "/bitnami/kafka/data", set()),
        ("apache/kafka:4.3.0", "", None, set()),
        ("apache/kafka-native:4.3.0", "", None, set()),
        ("apache/kafka-of-ours:1", "", None, {"log.dirs", "log.dir"}),
        ("registry.example/kafka:4.3.0", "", None, {"log.dirs", "log.dir"}),
        ("${IMAGE}", "", None, {"log.dirs", "log.dir"}),
        ("registry.example/kafka:4.3.0", ", KAFKA_LOG_DIRS: /d", "/d", set()),
        ("confluentinc/cp-kafka:8.0.0", ", KAFKA_LOG_DIRS: /d", "/d", set()),
        ("apache/kafka:4.3.0", "}, volumes: ['./c:/mnt/shared/config'], labels: {a: b", None, {"log.dirs", "log.dir"}),
    ],
)
def test_the_image_decides_where_the_logs_are_if_no_variable_does(image, variables, folder, unknown):
    text = f"services: {{kafka: {{image: {image!r}, environment: {{KAFKA_NODE_ID: 1, KAFKA_PROCESS_ROLES: broker{variables}}}}}}}"
    (node,) = forms.read_described(text.encode(), "compose.yaml")
    found = node.properties.get("log.dirs")
    assert (found.value if found else None, node.unknown & {"log.dirs", "log.dir"}) == (folder, unknown)


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("KAFKA_LOG_DIRS", "log.dirs"),
        ("KAFKA_A__B___C", "a_b-c"),
        ("KAFKA_OPTS", None),
        ("KAFKA_JMX_PORT", None),
        ("KAFKA_", None),
        ("LOG_DIRS", None),
    ],
)
def test_names_become_keys_as_in_the_images(name, key):
    assert environment.key_of(name, images.image_of("apache/kafka:4.3.0", {})) == key


def test_escapes_are_read_by_java_in_the_file_that_the_image_writes():
    (node,) = forms.read_described(rb"KAFKA_BROKER_ID=1" + b"\n" + rb"KAFKA_SSL_PRINCIPAL_MAPPING_RULES=RULE:a\\.b/c/", "x.env")
    assert node.properties["ssl.principal.mapping.rules"].value == r"RULE:a\.b/c/"
    with pytest.raises(PropertiesError, match=r"line 2: a \\u without"):
        forms.read_described(b"KAFKA_BROKER_ID=1\nKAFKA_LOG_DIRS=C:\\users\n", "x.env")


@pytest.mark.parametrize("value", ["${HOST}", "a${env:B:-c}d", "$(POD_IP)", "{{ host }}", "x-{{host}}-y"])
def test_placeholders_make_a_key_unknown(value):
    (node,) = forms.read_described(f"broker.id=1\nadvertised.listeners={value}\n".encode(), "server.properties")
    assert node.unknown == {"advertised.listeners"}


@pytest.mark.parametrize("value", ["$1", "RULE:^CN=(.*?)$/$1/L", "a$b", "{a}", "$"])
def test_dollars_of_rules_are_no_placeholders(value):
    (node,) = forms.read_described(f"broker.id=1\nssl.principal.mapping.rules={value}\n".encode(), "server.properties")
    assert not node.unknown


OTHERS = {
    "a client's": ("client.properties", "bootstrap.servers=a:1\nsecurity.protocol=SASL_SSL\n"),
    "a Connect worker's": ("connect.properties", "bootstrap.servers=a:1\ngroup.id=x\n"),
    "log4j's": ("log4j.properties", "log4j.rootLogger=INFO\n"),
    "a manifest without Kafka": ("x.yaml", "kind: Deployment\nspec: {template: {spec: {containers: [{name: a}]}}}\n"),
    "a list of nothing": ("x.yaml", "- 1\n- [a]\n"),
    "empty": ("x.yaml", ""),
    "odd shapes": ("x.yaml", "kind: ConfigMap\ndata: [1]\n---\nservices: 5\n---\nkind: List\nitems: {a: b}\n---\n? [a]\n: b\n"),
}


@pytest.mark.parametrize(("name", "text"), OTHERS.values(), ids=OTHERS.keys())
def test_what_is_about_something_else_is_no_broker(name, text):
    assert forms.read_described(text.encode(), name) == ()


BROKEN = {
    "binary": ("a.properties", b"broker.id=1\n\0", "line 2: is binary"),
    "UTF-16": ("a.properties", "broker.id=1".encode("utf-16"), "line 1: is UTF-16 text"),
    "not YAML": ("a.yaml", b"a: [b\nc: 'password", "not YAML: "),
    "not UTF-8": ("a.yaml", b"a: b\nc: \xff", "line 2: is not UTF-8 text"),
    "control character": ("a.yaml", b"a: \x01", "not YAML: "),
    "brackets without end": ("a.yaml", b"[" * 100_000, "line 1: is nested too deeply"),
    "a template": ("a.properties", b"broker.id=1\n{% if x %}\nlog.dirs=a\n", "line 2: is an unrendered template"),
    "a bad escape": ("a.properties", b"broker.id=\\u12", "line 1: a "),
}


@pytest.mark.parametrize(("name", "data", "message"), BROKEN.values(), ids=BROKEN.keys())
def test_what_cannot_be_read_is_told_with_its_line_and_without_its_text(name, data, message):
    with pytest.raises(PropertiesError, match=message) as caught:
        forms.read_described(data, name)
    assert "password" not in str(caught.value)


def test_merges_of_merges_cost_what_they_hold():
    names = "".join(f"x{i}: &x{i} {{<<: [{', '.join([f'*x{i - 1}'] * 9)}]}}\n" for i in range(1, 50))
    text = f"x0: &x0 {{KAFKA_BROKER_ID: 1}}\n{names}services: {{k: {{environment: *x49}}}}\n"
    (node,) = forms.read_described(text.encode(), "compose.yaml")
    assert _values(node) == {"broker.id": ("1", 1)}


def test_a_mapping_that_merges_itself_ends():
    (node,) = forms.read_described(
        b"a: &a\n  <<: [*a, *a]\n  KAFKA_BROKER_ID: 1\nservices: {k: {environment: *a}}\n", "compose.yaml"
    )
    assert _values(node) == {"broker.id": ("1", 3)}


def test_thousands_of_merges_are_refused():
    names = "".join(f"a{i}: &a{i} {{<<: *a{i - 1}}}\n" for i in range(1, 20_000))
    text = f"a0: &a0 {{KAFKA_BROKER_ID: 1}}\n{names}services: {{k: {{environment: *a19999}}}}\n"
    with pytest.raises(PropertiesError, match=r"nested too deep|has aliases that expand to more than 500000 values"):
        forms.read_described(text.encode(), "compose.yaml")


CONFLUENTS_CHART = """apiVersion: apps/v1
kind: StatefulSet
metadata: {name: cp-kafka}
spec:
  template:
    spec:
      containers:
        - name: broker
          image: confluentinc/cp-server:6.1.0
          env:
            - {name: KAFKA_ZOOKEEPER_CONNECT, value: "zk:2181"}
          command:
            - sh
            - -exc
            - |
              export KAFKA_BROKER_ID=${HOSTNAME##*-} && \\
              export KAFKA_ADVERTISED_LISTENERS=IN://${POD_NAME}.cp:9092,OUT://${HOST_IP}:$((31090 + ${KAFKA_BROKER_ID})) && \\
              exec /etc/confluent/docker/run
"""


def test_variables_that_a_command_exports_are_known_by_name_alone():
    """The shape of `statefulset.yaml` of confluentinc/cp-helm-charts (Apache License 2.0), rendered."""
    (broker,) = forms.read_described(CONFLUENTS_CHART.encode(), "kafka.yaml")
    assert _values(broker) == {
        "zookeeper.connect": ("zk:2181", 11),
        "broker.id": ("${HOSTNAME##*-}", 16),
        "advertised.listeners": ("IN://${POD_NAME}.cp:9092,OUT://${HOST_IP}:${sum}", 17),
        "listeners": ("IN://0.0.0.0:9092,OUT://${HOST_IP}:${sum}", 17),
        "log.dirs": ("/var/lib/kafka/data", 11),
    }
    assert broker.unknown == {"broker.id", "advertised.listeners", "listeners"}
    (broker,) = forms.read_described(CONFLUENTS_CHART.replace("export ", "echo ").encode(), "kafka.yaml")
    assert set(broker.properties) == {"zookeeper.connect", "log.dirs"}


STORES = """services:
  k:
    image: {image}
    environment:
      KAFKA_BROKER_ID: 1
      KAFKA_ADVERTISED_LISTENERS: {advertised}://k:9092
      KAFKA_SSL_KEYSTORE_FILENAME: k.jks
      KAFKA_SSL_KEYSTORE_CREDENTIALS: keystore_creds
      KAFKA_SSL_TRUSTSTORE_FILENAME: t.jks
{more}"""
KEYSTORE, TRUSTSTORE = "ssl.keystore.location", "ssl.truststore.location"
CLIENTS = "      KAFKA_SSL_CLIENT_AUTH: required\n"


@pytest.mark.parametrize(
    ("image", "advertised", "more", "stores"),
    [
        ("confluentinc/cp-kafka:7.5.0", "SSL", "", {KEYSTORE: ("/etc/kafka/secrets/k.jks", 7)}),
        (
            "confluentinc/cp-kafka:7.5.0",
            "SASL_SSL",
            CLIENTS,
            {KEYSTORE: ("/etc/kafka/secrets/k.jks", 7), TRUSTSTORE: ("/etc/kafka/secrets/t.jks", 9)},
        ),
        ("confluentinc/cp-kafka:7.5.0", "PLAINTEXT", CLIENTS, {}),
        ("apache/kafka:3.9.1", "SSL", "", {KEYSTORE: ("/etc/kafka/secrets/k.jks", 7)}),
        ("registry.example/kafka:3.9.1", "SSL", CLIENTS, {}),
    ],
)
def test_images_know_where_stores_are(image, advertised, more, stores):
    text = STORES.format(image=image, advertised=advertised, more=more)
    (broker,) = forms.read_described(text.encode(), "compose.yaml")
    assert {key: node for key, node in _values(broker).items() if key.endswith(".location")} == stores
    assert ("ssl.keystore.password" in broker.unknown) is bool(stores)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("image: {tag: 3.9.0}\ncontroller: {replicaCount: 3}\nlisteners:\n  client: {protocol: PLAINTEXT}\n", "image.tag 3.9.0"),
    ],
)
def test_values_of_older_charts_are_not_judged(text, problem):
    with pytest.raises(PropertiesError, match=f"not judged: {problem} of Bitnami's chart before 32"):
        forms.read_described(text.encode(), "values.yaml")


@pytest.mark.parametrize("text", ["controller: {kind: x}\nlisteners: [a]\n", "cp-kafka: {enabled: false}\n", "a: 1\n"])
def test_values_of_others_are_no_brokers(text):
    assert forms.read_described(text.encode(), "values.yaml") == ()
