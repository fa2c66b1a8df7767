"""Nodes that have the controller role alone: whatever is known of their files, no check judges them as brokers."""

import pytest

from checks.cases import base, cases
from checks.world import snapshots
from cluster_views import cluster_views
from kafka_audit.checks import catalogue
from kafka_audit.checks.run import judge
from kafka_audit.model.finding import Status

QUORUM = {"KA213", "KA215", "KA222", "KA223", "KA704", "KA724"}
"""Checks of the quorum and of what controllers decide, which read the files of all its nodes."""

AUTHORIZER = "org.apache.kafka.metadata.authorizer.StandardAuthorizer"
NODES, CONTROLLERS = (0, 1, 2), (200, 201, 202)
VOTERS = ",".join(f"{node}@10.0.1.{node - 190}:9093" for node in CONTROLLERS)
PROTOCOL_MAP = "INTERNAL:SASL_SSL,CLIENT:SASL_SSL,CONTROLLER:{}"

PLAIN = {"mechanism": "PLAIN", "user": "kafka", "password": "p"}
LOGIN = {
    "sasl.mechanism.controller.protocol": "PLAIN",
    "listener.name.controller.sasl.enabled.mechanisms": "PLAIN",
    "listener.name.controller.plain.sasl.jaas.config": "hidden",
}
TLS = {
    "listener.name.controller.ssl.client.auth": "required",
    "listener.name.controller.ssl.keystore.location": "/etc/kafka/controller.p12",
    "listener.name.controller.ssl.truststore.location": "/etc/kafka/ca.p12",
}
OF_PROTOCOL = {
    "PLAINTEXT": ({}, "User:ANONYMOUS"),
    "SASL_PLAINTEXT": (LOGIN, "User:kafka"),
    "SASL_SSL": (LOGIN | TLS, "User:kafka"),
    "SSL": (TLS, "User:CN=controller"),
}
"""By protocol between controllers: what their files, and those of brokers, hold besides, and who they are to each other."""


def dedicated(protocol, *, authorizer=True):
    """Return a healthy cluster of three brokers and three controllers, the files of all six in `properties`."""
    settings, principal = OF_PROTOCOL[protocol]
    both = {
        "controller.quorum.voters": VOTERS,
        "controller.listener.names": "CONTROLLER",
        "listener.security.protocol.map": PROTOCOL_MAP.format(protocol),
        "default.replication.factor": "3",
        "min.insync.replicas": "2",
        **({"authorizer.class.name": AUTHORIZER} if authorizer else {}),
        **settings,
    }
    internal = {
        "inter.broker.listener.name": "INTERNAL",
        "sasl.mechanism.inter.broker.protocol": "PLAIN",
        "sasl.enabled.mechanisms": "PLAIN",
        "listener.name.internal.plain.sasl.jaas.config": "hidden",
        "listener.name.client.plain.sasl.jaas.config": "hidden",
        "ssl.keystore.location": "/etc/kafka/broker.p12",
        "ssl.truststore.location": "/etc/kafka/ca.p12",
        "offsets.topic.replication.factor": "3",
        "transaction.state.log.replication.factor": "3",
        "auto.create.topics.enable": "false",
        "log.dirs": "/data",
    }
    files, brokers = {}, {}
    for node in NODES:
        ends = {name: f"SASL_SSL://10.0.0.{10 + node}:{port}" for name, port in (("INTERNAL", 9092), ("CLIENT", 9094))}
        brokers[node] = {"listeners": {"PLAINTEXT": "absent", **ends}}
        listeners = ",".join(f"{name}://10.0.0.{10 + node}:{end.rpartition(':')[2]}" for name, end in ends.items())
        own = {"process.roles": "broker", "node.id": str(node), "listeners": listeners, "advertised.listeners": listeners}
        files[node] = {**own, **both, **internal, **({"super.users": "User:kafka;User:admin"} if authorizer else {})}
    for node in CONTROLLERS:
        own = {"process.roles": "controller", "node.id": str(node), "listeners": f"CONTROLLER://10.0.1.{node - 190}:9093"}
        supers = {"super.users": f"{principal};User:admin"} if authorizer else {}
        files[node] = {**own, **both, **supers, "log.dirs": "/data"}
    logins = [
        {"broker": [*NODES], "listener": name, **PLAIN, "side": side}
        for name in ("INTERNAL", "CLIENT")
        for side in ("client", "server")
    ]
    logins += [
        {"broker": [*NODES, *CONTROLLERS], "listener": "CONTROLLER", **PLAIN, "side": side}
        for side in ("client", "server")
        if protocol.startswith("SASL")
    ]
    now = {
        "info": {"mode": "kraft"},
        "zookeeper": "none",
        "brokers": brokers,
        "apis": {55: [0, 2], 60: [0, 2]},
        "configs": {
            "authorizer.class.name": AUTHORIZER if authorizer else "",
            "inter.broker.listener.name": "INTERNAL",
            "offsets.topic.replication.factor": "3",
            "transaction.state.log.replication.factor": "3",
            "process.roles": "broker",
        },
        "quorum": {
            "leader": 200,
            "epoch": 7,
            "high_watermark": 9000,
            "voters": dict.fromkeys(CONTROLLERS, 0),
            "observers": dict.fromkeys(NODES, 0),
        },
        "controllers": {f"10.0.1.{node - 190}:9093": {"node": 200 if node == 200 else None} for node in CONTROLLERS},
        "properties": files,
        "logins": logins,
        "topics": {"payments": {"config": {"min.insync.replicas": "1"}}},
    }
    reads = [{"observer": f"{source}:{node}", "operation": source} for source in ("properties", "logs") for node in files]
    return {"now": now | {"reads": reads}}


def judged(world):
    """Return what every check says of a world."""
    return judge(cluster_views({"w": snapshots(base(), "w", world)})["w"], catalogue())


@pytest.mark.parametrize("authorizer", [True, False])
@pytest.mark.parametrize("protocol", OF_PROTOCOL)
def test_a_healthy_cluster_of_dedicated_controllers_has_no_finding(protocol, authorizer):
    found = judged(dedicated(protocol, authorizer=authorizer))
    assert [
        (judgement.code, judgement.resource, judgement.evidence) for judgement in found if judgement.status is Status.FAIL
    ] == []
    as_brokers = tuple(f"broker/{node}" for node in CONTROLLERS)
    assert [(judgement.code, judgement.resource) for judgement in found if judgement.resource.startswith(as_brokers)] == []
    unknown = [(judgement.code, judgement.resource) for judgement in found if judgement.status is Status.UNKNOWN]
    # A file does not say which name a certificate has, and whether super.users hold it.
    by_certificate = [("KA714", f"controller/{node}") for node in CONTROLLERS] if protocol == "SSL" and authorizer else []
    assert [name for name in unknown if name[1].startswith("controller/")] == by_certificate


def test_the_files_of_these_controllers_would_be_those_of_faulty_brokers():
    """The same files with the role of a broker: so that the test above shows something."""
    world = dedicated("SASL_PLAINTEXT")
    for node in CONTROLLERS:
        world["now"]["properties"][node]["process.roles"] = "broker"
    as_brokers = {
        judgement.code
        for judgement in judged(world)
        if judgement.status is Status.FAIL and judgement.resource.startswith("broker/20")
    }
    assert as_brokers >= {"KA312", "KA401"}


@pytest.mark.parametrize("source", ["properties", "logs"])
def test_what_was_not_read_of_a_controller_is_no_brokers(source):
    world = dedicated("PLAINTEXT")
    del world["now"]["properties"][201]
    world["now"]["reads"].append(
        {"observer": f"{source}:201", "operation": source, "error": "no such file", "needs": "a readable file"}
    )
    assert [
        (judgement.code, judgement.resource) for judgement in judged(world) if judgement.resource.startswith("broker/201")
    ] == []


def test_files_of_controllers_change_no_judgement_of_brokers():
    case = cases("KA401")["controllers_that_brokers_log_in_to"]
    files = case["now"]["properties"]
    without = case | {"now": case["now"] | {"properties": {node: file for node, file in files.items() if node < 200}}}
    views = cluster_views({name: snapshots(base(), name, world) for name, world in (("with", case), ("without", without))})
    assert views["with"].settings.controllers == {200, 201, 202}
    judged = {
        name: [judgement for judgement in judge(view, catalogue()) if judgement.code not in QUORUM]
        for name, view in views.items()
    }
    results = {
        name: {
            (judgement.code, judgement.resource, judgement.status)
            for judgement in found
            if not judgement.resource.startswith("controller/")
        }
        for name, found in judged.items()
    }
    assert results["with"] == results["without"]
