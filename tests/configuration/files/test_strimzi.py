"""Strimzi's resources: the settings of each node, at the lines of the file, and what is said of what lint does not judge.

The resources have the shape of Strimzi's `packaging/examples` (Apache License 2.0).
"""

import pytest

from counted_work import counted_calls, exponent
from kafka_audit.configuration.files import forms
from kafka_audit.configuration.files.java import PropertiesError

POOLS = """apiVersion: kafka.strimzi.io/v1
kind: KafkaNodePool
metadata: {name: controller, labels: {strimzi.io/cluster: my-cluster}, namespace: kafka}
spec:
  replicas: 1
  roles: [controller]
  storage: {type: persistent-claim, size: 1Gi}
---
apiVersion: kafka.strimzi.io/v1
kind: KafkaNodePool
metadata: {name: broker, labels: {strimzi.io/cluster: my-cluster}, namespace: kafka}
spec:
  replicas: 2
  roles: [broker]
  storage:
    type: jbod
    volumes: [{id: 0, type: persistent-claim, size: 1Gi}, {id: 1, type: persistent-claim, size: 1Gi}]
---
"""
KAFKA = """apiVersion: kafka.strimzi.io/v1
kind: Kafka
metadata: {name: my-cluster, namespace: kafka}
spec:
  kafka:
    version: 4.3.1
    listeners:
      - {name: plain, port: 9092, type: internal, tls: false}
      - {name: tls, port: 9093, type: internal, tls: true, authentication: {type: tls}}
    authorization: {type: simple, superUsers: [CN=admin]}
    config:
      min.insync.replicas: 2
      log.retention.hours: "24"
      auto.create.topics.enable: no
"""
ZOOKEEPER = """apiVersion: kafka.strimzi.io/v1beta2
kind: Kafka
metadata: {name: old, namespace: kafka}
spec:
  kafka:
    version: 3.9.0
    replicas: 2
    listeners: [{name: plain, port: 9092, type: internal, tls: false}]
    authorization: {type: simple}
    storage: {type: persistent-claim, size: 1Gi}
  zookeeper: {replicas: 3}
"""
DOMAIN = "my-cluster-kafka-brokers.kafka.svc"


def _nodes(text):
    return forms.read_described(text.encode(), "kafka.yaml")


def _values(node, *keys):
    return {key: node.properties[key].value for key in keys}


def _remarks(text):
    return [(remark.line, remark.text) for node in _nodes(text) for remark in node.remarks]


def test_the_settings_of_a_broker_are_those_that_strimzi_writes():
    first, _, _ = _nodes(POOLS + KAFKA)
    assert first.inside == "Kafka my-cluster, pool broker, node 0"
    assert first.version == "4.3.1"
    users = [f"my-cluster-{part}" for part in ("kafka", "entity-topic-operator", "entity-user-operator", "kafka-exporter")]
    users += ["my-cluster-cruise-control", "cluster-operator"]
    assert {key: (setting.value, setting.line) for key, setting in first.properties.items()} == {
        "node.id": ("0", 9),
        "process.roles": ("broker", 9),
        "controller.listener.names": ("CONTROLPLANE-9090", 9),
        "controller.quorum.voters": (f"2@my-cluster-controller-2.{DOMAIN}:9090", 9),
        "log.dirs": ("/var/lib/kafka/data-0/kafka-log0,/var/lib/kafka/data-1/kafka-log0", 16),
        "inter.broker.listener.name": ("REPLICATION-9091", 19),
        "listener.name.controlplane-9090.ssl.client.auth": ("required", 19),
        "listener.name.replication-9091.ssl.client.auth": ("required", 19),
        "listener.name.tls-9093.ssl.client.auth": ("required", 27),
        "listeners": ("REPLICATION-9091://0.0.0.0:9091,PLAIN-9092://0.0.0.0:9092,TLS-9093://0.0.0.0:9093", 26),
        "listener.security.protocol.map": ("CONTROLPLANE-9090:SSL,REPLICATION-9091:SSL,PLAIN-9092:PLAINTEXT,TLS-9093:SSL", 26),
        "advertised.listeners": (
            ",".join(
                f"{name}://my-cluster-broker-0.{DOMAIN}:{name[-4:]}" for name in ("REPLICATION-9091", "PLAIN-9092", "TLS-9093")
            ),
            26,
        ),
        "config.providers": ("strimzienv", 19),
        "sasl.enabled.mechanisms": ("", 19),
        "ssl.endpoint.identification.algorithm": ("HTTPS", 19),
        "authorizer.class.name": ("org.apache.kafka.metadata.authorizer.StandardAuthorizer", 28),
        "super.users": (";".join([*(f"User:CN={user},O=io.strimzi" for user in users), "User:CN=admin"]), 28),
        "min.insync.replicas": ("2", 30),
        "log.retention.hours": ("24", 31),
        "auto.create.topics.enable": ("false", 32),
    }
    assert "listener.name.tls-9093.ssl.keystore.location" in first.unknown
    assert first.unknown.isdisjoint(first.properties)


# What `KafkaBrokerConfigurationBuilderTest` of Strimzi 1.2 (Apache License 2.0) expects of `testKraftListenersMixedNodes` and
# `testKraftListenersBrokerAndControllerNodes`, without the lines of certificates.
COMMON = """controller.listener.names=CONTROLPLANE-9090
listener.name.controlplane-9090.ssl.client.auth=required
sasl.enabled.mechanisms=
ssl.endpoint.identification.algorithm=HTTPS
"""
VOTERS = ",".join(f"{n}@my-cluster-controllers-{n}.my-cluster-kafka-brokers.my-namespace.svc:9090" for n in range(3))
MIXED = ",".join(f"{n}@my-cluster-kafka-{n}.my-cluster-kafka-brokers.my-namespace.svc:9090" for n in range(3))
EXPECTED = {
    "kafka-2": f"""node.id=2
process.roles=broker,controller
controller.quorum.voters={MIXED}
listener.name.replication-9091.ssl.client.auth=required
listeners=CONTROLPLANE-9090://0.0.0.0:9090,REPLICATION-9091://0.0.0.0:9091,PLAIN-9092://0.0.0.0:9092
advertised.listeners=CONTROLPLANE-9090://HOST:9090,REPLICATION-9091://HOST:9091,PLAIN-9092://HOST:9092
listener.security.protocol.map=CONTROLPLANE-9090:SSL,REPLICATION-9091:SSL,PLAIN-9092:PLAINTEXT
inter.broker.listener.name=REPLICATION-9091
""",
    "controllers-2": f"""node.id=2
process.roles=controller
advertised.listeners=CONTROLPLANE-9090://HOST:9090
controller.quorum.voters={VOTERS}
listeners=CONTROLPLANE-9090://0.0.0.0:9090
listener.security.protocol.map=CONTROLPLANE-9090:SSL
""",
    "brokers-11": f"""node.id=11
process.roles=broker
controller.quorum.voters={VOTERS}
listener.name.replication-9091.ssl.client.auth=required
listeners=REPLICATION-9091://0.0.0.0:9091,PLAIN-9092://0.0.0.0:9092
advertised.listeners=REPLICATION-9091://HOST:9091,PLAIN-9092://HOST:9092
listener.security.protocol.map=CONTROLPLANE-9090:SSL,REPLICATION-9091:SSL,PLAIN-9092:PLAINTEXT
inter.broker.listener.name=REPLICATION-9091
""",
}
POOL = """apiVersion: kafka.strimzi.io/v1
kind: KafkaNodePool
metadata: {{name: {name}, namespace: my-namespace, labels: {{strimzi.io/cluster: my-cluster}}}}
spec: {{replicas: 3, roles: {roles}}}
status: {{nodeIds: {ids}}}
---
"""


@pytest.mark.parametrize("pod", EXPECTED)
def test_strimzis_own_expectations(pod):
    pool, _, number = pod.partition("-")
    pools = {"kafka": ("[controller, broker]", "[0, 1, 2]")}
    if pool != "kafka":
        pools = {"controllers": ("[controller]", "[0, 1, 2]"), "brokers": ("[broker]", "[10, 11, 12]")}
    texts = [POOL.format(name=name, roles=roles, ids=ids) for name, (roles, ids) in pools.items()]
    kafka = """apiVersion: kafka.strimzi.io/v1
kind: Kafka
metadata: {name: my-cluster, namespace: my-namespace}
spec: {kafka: {listeners: [{name: plain, port: 9092, type: internal, tls: false}]}}
"""
    (node,) = [node for node in _nodes("".join([*texts, kafka])) if node.inside.endswith(f"pool {pool}, node {number}")]
    written = "".join(f"{key}={setting.value}\n" for key, setting in node.properties.items() if key != "config.providers")
    expected = EXPECTED[pod].replace("HOST", f"my-cluster-{pod}.my-cluster-kafka-brokers.my-namespace.svc") + COMMON
    assert sorted(written.splitlines()) == sorted(expected.splitlines())


def test_a_controller_listens_for_controllers_alone():
    controller = _nodes(POOLS + KAFKA)[2]
    assert controller.inside == "Kafka my-cluster, pool controller, node 2"
    host = f"my-cluster-controller-2.{DOMAIN}"
    assert _values(controller, "listeners", "advertised.listeners", "process.roles", "log.dirs") == {
        "listeners": "CONTROLPLANE-9090://0.0.0.0:9090",
        "advertised.listeners": f"CONTROLPLANE-9090://{host}:9090",
        "process.roles": "controller",
        "log.dirs": "/var/lib/kafka/data/kafka-log2",
    }
    assert "inter.broker.listener.name" not in controller.properties
    older = _nodes(POOLS + KAFKA.replace("4.3.1", "3.8.0"))[2]
    assert "advertised.listeners" not in older.properties  # Kafka before 3.9 refuses it


def test_a_node_with_both_roles():
    (node, *_) = _nodes(POOLS.replace("[broker]", "[controller, broker]") + KAFKA)
    assert node.properties["process.roles"].value == "broker,controller"
    assert node.properties["listeners"].value.startswith("CONTROLPLANE-9090://0.0.0.0:9090,REPLICATION-9091://0.0.0.0:9091,")


def test_with_zookeeper():
    first, second = _nodes(ZOOKEEPER)
    assert (first.inside, second.inside) == ("Kafka old, node 0", "Kafka old, node 1")
    keys = ("broker.id", "zookeeper.connect", "control.plane.listener.name", "authorizer.class.name", "log.dirs")
    assert _values(second, *keys) == {
        "broker.id": "1",
        "zookeeper.connect": "old-zookeeper-client:2181",
        "control.plane.listener.name": "CONTROLPLANE-9090",
        "authorizer.class.name": "kafka.security.authorizer.AclAuthorizer",
        "log.dirs": "/var/lib/kafka/data/kafka-log1",
    }
    assert "process.roles" not in second.properties
    host = "old-kafka-1.old-kafka-brokers.kafka.svc"
    assert second.properties["advertised.listeners"].value == ",".join(
        f"{name}://{host}:{name[-4:]}" for name in ("CONTROLPLANE-9090", "REPLICATION-9091", "PLAIN-9092")
    )


@pytest.mark.parametrize("change", [("name: old,", "name: old, annotations: {strimzi.io/kraft: enabled},"), ("3.9.0", "4.0.0")])
def test_a_resource_in_kraft_may_keep_its_zookeeper_section(change):
    (node,) = _nodes(ZOOKEEPER.replace(*change))
    assert "zookeeper.connect" not in node.properties
    assert "process.roles" in node.unknown  # the pools are elsewhere


ADDRESSES = {
    "internal": ("type: internal", f"my-cluster-broker-1.{DOMAIN}:9094"),
    "internal, whole domain": (
        "type: internal, configuration: {useServiceDnsDomain: true}",
        f"my-cluster-broker-1.{DOMAIN}.cluster.local:9094",
    ),
    "cluster-ip": ("type: cluster-ip", "my-cluster-broker-out-1.kafka.svc:9094"),
    "node port": ("type: nodeport", "${node}:${nodePort}"),
    "node port of a broker": (
        "type: nodeport, configuration: {brokers: [{broker: 1, nodePort: 32001, advertisedHost: k1.example}]}",
        "k1.example:32001",
    ),
    "node port of another broker": (
        "type: nodeport, configuration: {brokers: [{broker: 0, nodePort: 32001, advertisedHost: k0.example}]}",
        "${node}:${nodePort}",
    ),
    "advertised port": (
        "type: nodeport, configuration: {brokers: [{broker: 1, nodePort: 32001, advertisedHost: k1.example, advertisedPort: 9}]}",
        "k1.example:9",
    ),
    "load balancer": ("type: loadbalancer", "${loadbalancer}:9094"),
    "load balancer with a name": (
        "type: loadbalancer, configuration: {brokers: [{broker: 1, advertisedHost: k1.example}]}",
        "k1.example:9094",
    ),
    "templates": (
        'type: loadbalancer, configuration: {advertisedHostTemplate: "k{nodeId}.example", advertisedPortTemplate: "9100+{nodeId}"}',  # noqa: E501
        "k1.example:9101",
    ),
    "a template that is not evaluated": (
        'type: internal, configuration: {advertisedHostTemplate: "{nodePodName}.example", advertisedPortTemplate: "2*{nodeId}"}',
        "my-cluster-broker-1.example:${advertisedPort}",
    ),
    "ingress": ("type: ingress, tls: true, configuration: {brokers: [{broker: 1, host: k1.example}]}", "k1.example:443"),
    "ingress by template": ('type: ingress, configuration: {hostTemplate: "k{nodeId}.example"}', "k1.example:443"),
    "route": ("type: route, tls: true", "${host}:443"),
    "an unknown type": ("type: gateway", "${host}:${port}"),
}


@pytest.mark.parametrize(("listener", "address"), ADDRESSES.values(), ids=ADDRESSES.keys())
def test_what_a_listener_advertises(listener, address):
    text = KAFKA.replace("name: plain, port: 9092, type: internal, tls: false", f"name: out, port: 9094, {listener}")
    node = _nodes(POOLS + text)[1]
    assert node.properties["advertised.listeners"].value.split(",")[1] == f"OUT-9094://{address}"
    assert ("advertised.listeners" in node.unknown) is ("$" in address)


AUTHENTICATION = {
    "none": ("", "PLAINTEXT", {}, []),
    "scram": (
        ", tls: true, authentication: {type: scram-sha-512}",
        "SASL_SSL",
        {
            "sasl.enabled.mechanisms": "SCRAM-SHA-512",
            "scram-sha-512.sasl.jaas.config": "org.apache.kafka.common.security.scram.ScramLoginModule required ;",
        },
        [],
    ),
    "oauth": (", authentication: {type: oauth}", "SASL_PLAINTEXT", {}, ["oauth"]),
    "custom": (
        ", tls: true, authentication: {type: custom, sasl: true, listenerConfig: {sasl.enabled.mechanisms: PLAIN}}",
        "SASL_SSL",
        {},
        ["custom"],
    ),
    "custom without SASL": (", authentication: {type: custom, sasl: false}", "PLAINTEXT", {}, ["custom"]),
}


@pytest.mark.parametrize(("entry", "protocol", "settings", "unread"), AUTHENTICATION.values(), ids=AUTHENTICATION.keys())
def test_the_authentication_of_a_listener(entry, protocol, settings, unread):
    text = POOLS + KAFKA.replace(
        "name: plain, port: 9092, type: internal, tls: false", f"name: a, port: 9092, type: internal{entry}"
    )
    (node, *_) = _nodes(text)
    assert f"A-9092:{protocol}" in node.properties["listener.security.protocol.map"].value.split(",")
    own = "listener.name.a-9092."
    found = {key.removeprefix(own): setting.value for key, setting in node.properties.items() if key.startswith(own)}
    assert found == settings
    assert (f"{own}sasl.enabled.mechanisms" in node.unknown) is bool(unread)
    assert _remarks(text) == [(26, f"not judged: listener a has authentication of type {kind}") for kind in unread] + [
        (19, "the node IDs are those of a new cluster; the node pools have no status.nodeIds")
    ]


CONFIG = {
    "a listener": ("listeners: PLAINTEXT://:9092", "Strimzi ignores listeners in spec.kafka.config"),
    "in other letters": ("Advertised.Listeners: x", "Strimzi ignores Advertised.Listeners in spec.kafka.config"),
    "the inter-broker listener": (
        "inter.broker.listener.name: X",
        "Strimzi ignores inter.broker.listener.name in spec.kafka.config",
    ),
    "a key store": ("ssl.keystore.location: /k", "Strimzi ignores ssl.keystore.location in spec.kafka.config"),
    "super users": ("super.users: User:a", "Strimzi ignores super.users in spec.kafka.config"),
    "log directories": ("log.dirs: /d", "Strimzi ignores log.dirs in spec.kafka.config"),
    "of newer versions": (
        "broker.heartbeat.interval.ms: 1",
        "not judged: whether Strimzi ignores broker.heartbeat.interval.ms depends on its version",
    ),
    "of a listener": (
        "listener.name.tls-9093.max.connections: 1",
        "not judged: whether Strimzi ignores listener.name.tls-9093.max.connections depends on its version",
    ),
    "of another listener": (
        "listener.name.tls-9094.max.connections: 1",
        "Strimzi ignores listener.name.tls-9094.max.connections in spec.kafka.config",
    ),
    "nothing": ("num.partitions:", "Strimzi refuses num.partitions in spec.kafka.config: it is not one value"),
    "a list": ("num.partitions: [1]", "Strimzi refuses num.partitions in spec.kafka.config: it is not one value"),
    "a number in another form": (
        "num.partitions: 0x10",
        "not judged: num.partitions; quote the value to have it judged as it is written",
    ),
    "a float": ("num.partitions: 1.0", "not judged: num.partitions; quote the value to have it judged as it is written"),
}


@pytest.mark.parametrize(("entry", "text"), CONFIG.values(), ids=CONFIG.keys())
def test_keys_that_kafka_does_not_get_are_named_with_their_line(entry, text):
    text_of_file = POOLS + KAFKA + f"      {entry}\n"
    assert (33, text) in _remarks(text_of_file)
    (node, *_) = _nodes(text_of_file)
    key = entry.partition(":")[0]
    written = _nodes(POOLS + KAFKA)[0].properties.get(key)
    assert node.properties.get(key) == written


@pytest.mark.parametrize(
    "entry",
    [
        "ssl.cipher.suites: TLS_AES_128_GCM_SHA256",
        "ssl.enabled.protocols: TLSv1.3",
        "controller.quorum.fetch.timeout.ms: 3000",
        "sasl.server.max.receive.size: 1000",
        "logs: x",
        "log.cleaner.min.cleanable.ratio: 0.25",
        "replica.selector.class: org.apache.kafka.common.replica.RackAwareReplicaSelector",
        "num.partitions: '0x10'",
    ],
)
def test_keys_that_strimzi_takes(entry):
    text = POOLS + KAFKA + f"      {entry}\n"
    assert [line for line, _ in _remarks(text)] == [19]
    key, _, value = entry.partition(": ")
    assert _nodes(text)[0].properties[key].value == value.strip("'")


def test_node_ids_are_those_of_the_status_and_the_next_free_ones():
    text = POOLS.replace("  replicas: 2", "  replicas: 3").replace(
        "spec:\n  replicas: 1", "status: {nodeIds: [7]}\nspec:\n  replicas: 1"
    )
    text = text.replace("name: broker,", "name: broker, annotations: {strimzi.io/next-node-ids: '[8-6, 20]'},")
    assert [node.inside[-2:].strip() for node in _nodes(text + KAFKA)] == ["8", "6", "20", "7"]
    scaled_down = POOLS.replace("spec:\n  replicas: 2", "status: {nodeIds: [5, 3, 4]}\nspec:\n  replicas: 2")
    assert [node.inside[-1] for node in _nodes(scaled_down + KAFKA)] == ["3", "4", "0"]
    settled = scaled_down.replace("spec:\n  replicas: 1", "status: {nodeIds: [9]}\nspec:\n  replicas: 1")
    assert _remarks(settled + KAFKA) == []


REMARKS = {
    "no port": ((", port: 9092", ""), (26, "not judged: listener plain without a port")),
    "a heap above the limit": (
        ("    config:\n", "    jvmOptions: {-Xmx: 4g}\n    resources: {limits: {memory: 4Gi}}\n    config:\n"),
        (30, "the heap may grow to 4g, and the container's limit is 4Gi: it is killed before that"),
    ),
    "a type": (("type: internal, tls: false", "type: gateway"), (26, "not judged: listener plain of type gateway")),
    "an authorizer": (("type: simple, ", "type: opa, "), (28, "not judged: authorization of type opa")),
    "tiered storage": (
        ("    config:\n", "    tieredStorage: {type: custom}\n    config:\n"),
        (29, "not judged: spec.kafka.tieredStorage"),
    ),
    "no version": (("version: 4.3.1", "version: newest"), (24, "not judged: spec.kafka.version is not a version")),
    "no namespace": (
        (", namespace: kafka", ""),
        (19, "no namespace in the file: addresses are those in the namespace `default`"),
    ),
    "a security of its own": (
        ("metadata: {name: my-cluster,", "metadata: {name: my-cluster, annotations: {strimzi.io/internal-cluster-security: x},"),
        (19, "not judged: strimzi.io/internal-cluster-security, which changes the security of the operator's own listeners"),
    ),
}


@pytest.mark.parametrize(("change", "remark"), REMARKS.values(), ids=REMARKS.keys())
def test_what_is_refused_or_not_judged_is_said_with_its_line(change, remark):
    assert remark in _remarks(POOLS + KAFKA.replace(*change))
    assert remark not in _remarks(POOLS + KAFKA)


REFUSED = {
    "a reserved port": (("port: 9092", "port: 9091"), "listener plain: port 9091 is reserved, as are all below 9092"),
    "a name in capitals": (("name: plain", "name: Plain"), "listener Plain: a name has at most 11 characters of a-z and 0-9"),
    "a second name": (("name: plain, port: 9092", "name: tls, port: 9092"), "a second listener of the name tls"),
    "a second port": (("name: plain, port: 9092", "name: plain, port: 9093"), "a second listener of the port 9093"),
    "a host of no route": (
        ("type: internal, tls: false", "type: internal, tls: false, configuration: {brokers: [{broker: 0, host: b0}]}"),
        "listener plain: the type internal has no host",
    ),
    "annotations of an internal Service": (
        ("type: internal, tls: false", "type: internal, tls: false, configuration: {bootstrap: {annotations: {a: b}}}"),
        "listener plain: the type internal has no annotations",
    ),
    "an ingress without TLS": (
        ("type: internal, tls: false", "type: ingress, tls: false"),
        "listener plain: the type ingress needs TLS",
    ),
}


@pytest.mark.parametrize(("change", "reason"), REFUSED.values(), ids=REFUSED.keys())
def test_what_the_operator_refuses_ends_each_node(change, reason):
    assert change[0] in KAFKA
    for node in _nodes(POOLS + KAFKA.replace(*change)):
        assert reason in [end.value for end in node.ends]
    assert not any(node.ends for node in _nodes(POOLS + KAFKA))


def test_fields_of_a_listener_that_its_type_has():
    for kind, field in (
        ("cluster-ip", "annotations: {a: b}"),
        ("loadbalancer", "nodePort: 31000"),
        ("internal", "annotations: {}"),
    ):
        change = ("type: internal, tls: false", f"type: {kind}, tls: false, configuration: {{bootstrap: {{{field}}}}}")
        assert not any(node.ends for node in _nodes(POOLS + KAFKA.replace(*change)))


def test_zookeeper_beside_a_release_without_it():
    text = KAFKA.replace("spec:\n", "spec:\n  zookeeper: {replicas: 3}\n", 1)
    assert any("spec.zookeeper has no effect" in remark for _, remark in _remarks(POOLS + text))
    assert not any("spec.zookeeper has no effect" in remark for _, remark in _remarks(POOLS + KAFKA))


def test_a_pool_without_a_role_has_no_nodes():
    text = POOLS.replace("  roles: [broker]\n", "") + KAFKA
    assert [node.inside for node in _nodes(text)] == ["Kafka my-cluster, pool controller, node 0"]
    assert (9, "Strimzi refuses node pool broker: it has no role") in _remarks(text)


def test_pools_in_another_file():
    (node,) = _nodes(KAFKA)
    assert {"node.id", "process.roles", "controller.quorum.voters", "advertised.listeners", "log.dirs"} <= node.unknown
    assert _remarks(KAFKA) == [(1, "not judged: the node pools of my-cluster are not in this file, with node IDs and roles")]
    (node, *_) = _nodes(POOLS.replace("roles: [controller]", "roles: [broker]") + KAFKA)
    assert "controller.quorum.voters" in node.unknown
    assert (19, "not judged: controllers; no node pool with the role controller is in this file") in [
        (remark.line, remark.text) for remark in node.remarks
    ]


REFUSED = {
    "a template without a broker": (
        KAFKA.replace("name: my-cluster", "name: {{ .Release.Name }}").replace("kind: Kafka\n", "kind: KafkaTopic\n"),
        3,
        "is a Helm template: render it: helm template RELEASE CHART | kafka-audit lint -",
    ),
    "a thousand clusters": ("---\n".join([KAFKA] * 1001), 15_001, "describes more than 1000 nodes"),
    "pools alone": (POOLS, 1, "not judged: KafkaNodePool without its Kafka resource"),
    "an old version": (
        KAFKA.replace("io/v1\n", "io/v1alpha1\n"),
        1,
        "not judged: Kafka of kafka.strimzi.io/v1alpha1; lint reads v1beta1, v1beta2 and v1",
    ),
    "a migration": (
        ZOOKEEPER.replace("name: old,", "name: old, annotations: {strimzi.io/kraft: migration},"),
        1,
        "not judged: strimzi.io/kraft is migration",
    ),
    "no listener": (KAFKA.replace("    listeners:", "    other:"), 1, "not judged: Kafka my-cluster without a listener"),
    "a million nodes": (POOLS.replace("replicas: 2", "replicas: 1000000") + KAFKA, 9, "describes more than 1000 nodes"),
    "a thousand nodes in two pools": (
        POOLS.replace("replicas: 2", "replicas: 600").replace("replicas: 1\n", "replicas: 600\n") + KAFKA,
        19,
        "describes more than 1000 nodes",
    ),
    "many replicas with ZooKeeper": (
        ZOOKEEPER.replace("replicas: 2", "replicas: 999999999"),
        1,
        "describes more than 1000 nodes",
    ),
    "many clusters": (
        "---\n".join([ZOOKEEPER.replace("replicas: 2", "replicas: 600")] * 2),
        13,
        "describes more than 1000 nodes",
    ),
    "many listeners": (
        POOLS + KAFKA.replace("    listeners:\n", "    listeners:\n" + "      - {name: a, port: 9, type: internal}\n" * 101),
        26,
        "has more than 100 listeners",
    ),
    "many volumes": (POOLS.replace("[{id: 0,", "[" + "{id: 2}," * 101 + "{id: 0,") + KAFKA, 17, "has more than 100 volumes"),
}


@pytest.mark.parametrize(("text", "line", "problem"), REFUSED.values(), ids=REFUSED.keys())
def test_what_cannot_be_judged_is_refused_with_its_line(text, line, problem):
    with pytest.raises(PropertiesError) as error:
        _nodes(text)
    assert (error.value.line, error.value.problem[: len(problem)]) == (line, problem)


@pytest.mark.parametrize(
    "text",
    [
        KAFKA.replace("kafka.strimzi.io/v1", "platform.confluent.io/v1beta1"),
        "apiVersion: kafka.strimzi.io/v1\nkind: KafkaTopic\nmetadata: {name: orders}\nspec: {partitions: 3}\n",
    ],
)
def test_resources_of_others_are_no_brokers(text):
    assert _nodes(text) == ()


def pools(replicas, last):
    """Return pools of so many replicas, with identifiers up to a last one to choose from."""
    return POOLS.replace("replicas: 2", f"replicas: {replicas}").replace(
        "name: broker,", f"name: broker, annotations: {{strimzi.io/next-node-ids: '[0-{last}]'}},"
    )


def test_what_asks_for_much_is_bounded():
    long = KAFKA.replace(
        "tls: false}", 'tls: false, configuration: {advertisedHostTemplate: "' + "{nodePodName}" * 100_000 + '"}}'
    )
    nodes = _nodes(pools(990, 999_999_999) + long)
    assert len(nodes) == 991
    assert sum(len(node.properties["advertised.listeners"].value) for node in nodes) < 1_000_000
    few, many = (counted_calls(_nodes, pools(9, last) + KAFKA) for last in (9_999, 999_999_999))
    assert few == many, "identifiers that no node gets are counted"
    assert exponent(lambda replicas: _nodes(pools(replicas, 999_999_999) + KAFKA), (100, 900)) < 1.2
