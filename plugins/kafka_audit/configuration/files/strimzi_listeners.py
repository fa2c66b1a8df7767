"""Listeners of Strimzi's `Kafka`: the settings that its operator writes for each node. Pure.

An address that Kubernetes assigns (a load balancer, a node and its port, a route) is a placeholder.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import yaml

from kafka_audit.configuration.files import yaml_nodes
from kafka_audit.configuration.files.java import Property
from kafka_audit.configuration.files.yaml_nodes import YamlMapping

CONTROL_PLANE, REPLICATION = "CONTROLPLANE-9090", "REPLICATION-9091"
_NAME = re.compile(r"[a-z0-9]{1,11}")
_PORT = re.compile(r"[0-9]{1,5}")
_RESERVED = (9404, 9999)
_FIRST_PORT = 9092
_WITH_HOSTS = ("ingress", "tlsroute")
_WITH_NAMES = ("route", *_WITH_HOSTS)
_OF_TYPES = {
    "host": _WITH_NAMES,
    "nodePort": ("nodeport", "loadbalancer"),
    "annotations": ("nodeport", "loadbalancer", "cluster-ip", *_WITH_NAMES),
}
"""Fields of a listener's bootstrap and of its brokers, and the types that may have them: `ListenersValidator` of Strimzi."""

_OF_BEFORE = {"plain": ("9092", "internal", "false"), "tls": ("9093", "internal", "true"), "external": ("9094", "", "true")}
"""Listeners of resources before Strimzi 0.22, by their key: port, type, and whether they have TLS."""

_TYPES = ("internal", "cluster-ip", "loadbalancer", "nodeport", "route", *_WITH_HOSTS)
_TLS_PORT = "443"
_LONGEST = 500
_TRUE = ("true", "True", "TRUE", "yes", "on")
_SUM = re.compile(r"\s*(?:([0-9]{1,5})\s*\+\s*)?\{nodeId\}(?:\s*\+\s*([0-9]{1,5}))?\s*")
_SCRAM = "org.apache.kafka.common.security.scram.ScramLoginModule required ;"


@dataclass(frozen=True, kw_only=True)
class StrimziNode:
    """One node of a cluster. `number` is None where the file does not show it."""

    number: int | None
    pod: str
    owner: str  # what the pod's name begins with
    host: str
    place: str
    line: int
    broker: bool = True
    controller: bool = False
    storage: yaml.Node | None = None


@dataclass(frozen=True, kw_only=True)
class StrimziListener:
    """An entry of `spec.kafka.listeners`."""

    identifier: str
    type: str
    port: str
    tls: bool
    protocol: str
    settings: tuple[Property, ...]
    unknown: frozenset[str]
    configuration: YamlMapping
    brokers: Mapping[str, YamlMapping]  # of the configuration, by node ID
    line: int

    @property
    def name(self) -> str:
        """The listener's name in server.properties."""
        return self.identifier.upper()


@dataclass(frozen=True, kw_only=True)
class NodeListeners:
    """What decides the operator's own listeners of a node."""

    cluster_line: int
    namespace: str
    control_plane: bool
    control_plane_advertised: bool


def listeners_of(kafka: YamlMapping) -> list[yaml.Node]:
    """Return the listeners of `spec.kafka`, those of a mapping as in a list."""
    found = kafka.sequence("listeners")
    for name, body in kafka.mapping("listeners").items():
        if name in _OF_BEFORE:
            written, mark = yaml_nodes.mapping(body), body.start_mark
            given = dict(zip(("port", "type", "tls"), _OF_BEFORE[name], strict=True)) | {"name": name}
            pairs = {key: yaml_nodes.scalar(value, mark) for key, value in given.items() if value} | written
            found.append(yaml_nodes.mapping_of([(yaml_nodes.scalar(key, mark), value) for key, value in pairs.items()], mark))
    return found


def read_listener(node: yaml.Node, remark: Callable[[int, str], None], refuse: Callable[[int, str], None]) -> StrimziListener:
    """Return a listener; `remark` gets the line and what lint does not judge, `refuse` what the operator refuses."""
    entry, line = yaml_nodes.mapping(node), yaml_nodes.line(node)
    name, port = (entry.text("name") or "")[:_LONGEST], entry.text("port") or ""
    kind = entry.text("type") or ""
    shown = f"listener {name[:40]}"
    if not _NAME.fullmatch(name):
        refuse(line, f"{shown}: a name has at most 11 characters of a-z and 0-9")
    if not _PORT.fullmatch(port):
        remark(line, f"not judged: {shown} without a port")
        port = "${port}"
    elif int(port) < _FIRST_PORT or int(port) in _RESERVED:
        refuse(entry.line("port"), f"{shown}: port {port} is reserved, as are all below {_FIRST_PORT}")
    if kind not in _TYPES:
        remark(line, f"not judged: {shown} of type {kind[:40] or 'unknown'}")
    configuration = entry.mapping("configuration")
    entries = configuration.mappings("brokers")
    brokers = {override.text("broker") or "": override for override in reversed(entries)}
    tls = entry.text("tls") in _TRUE
    if kind in _WITH_NAMES and entry.text("tls") is not None and not tls:
        refuse(entry.line("tls"), f"{shown}: the type {kind} needs TLS")
    for part in (configuration.mapping("bootstrap"), *entries) if kind in _TYPES else ():
        for field, types in _OF_TYPES.items():
            if (part.text(field) or part.mapping(field)) and kind not in types:
                refuse(part.line(field), f"{shown}: the type {kind} has no {field}")
    identifier = f"{name}-{port}".lower()
    auth = _Authentication(entry.mapping("authentication"), identifier, line)
    if auth.unread is not None:
        remark(line, f"not judged: {shown} has authentication of type {auth.unread}")
    sasl = "SASL_" if auth.sasl else ""
    return StrimziListener(
        identifier=identifier,
        type=kind,
        port=port,
        tls=tls,
        protocol=f"{sasl}{'SSL' if tls else 'PLAINTEXT'}" if auth.protocol_known else "${protocol}",
        settings=tuple(auth.settings()),
        unknown=auth.unknown(),
        configuration=configuration,
        brokers=brokers,
        line=line,
    )


def repeated(listeners: Sequence[StrimziListener]) -> Iterator[tuple[int, str]]:
    """Yield the line of each listener whose name or port another one has, and that."""
    names, ports = set[str](), set[str]()
    for listener in listeners:
        name = listener.identifier.rpartition("-")[0]
        if name in names:
            yield listener.line, f"a second listener of the name {name[:40]}"
        elif listener.port in ports and _PORT.fullmatch(listener.port):
            yield listener.line, f"a second listener of the port {listener.port}"
        names.add(name)
        ports.add(listener.port)


class _Authentication:
    """The `authentication` of a listener."""

    def __init__(self, entry: YamlMapping, identifier: str, line: int) -> None:
        self.type = (entry.text("type") or "unknown")[:40] if entry else None
        self.own = f"listener.name.{identifier}."
        self.line = line
        self.sasl = self.type in {"scram-sha-512", "oauth"} or (self.type == "custom" and entry.text("sasl") in _TRUE)
        self.given = [key for key in entry.mapping("listenerConfig") if len(key) < _LONGEST]

    @property
    def unread(self) -> str | None:
        """The type, if its settings are not judged."""
        return None if self.type in {None, "tls", "scram-sha-512"} else self.type

    @property
    def protocol_known(self) -> bool:
        return self.unread in {None, "oauth", "custom"}

    def settings(self) -> Iterator[Property]:
        values = {}
        if self.type == "tls":
            values["ssl.client.auth"] = "required"
        if self.type == "scram-sha-512":
            values["scram-sha-512.sasl.jaas.config"] = _SCRAM
            values["sasl.enabled.mechanisms"] = "SCRAM-SHA-512"
        yield from (Property(f"{self.own}{key}", value, self.line) for key, value in values.items())

    def unknown(self) -> frozenset[str]:
        if self.unread is None:
            return frozenset()
        names = [
            "sasl.enabled.mechanisms",
            "ssl.client.auth",
            "principal.builder.class",
            "ssl.principal.mapping.rules",
            *self.given,
        ]
        of_all = {"principal.builder.class"} if self.type == "oauth" else set()
        return frozenset({f"{self.own}{name}" for name in names} | of_all)


def listener_settings(node: StrimziNode, listeners: Sequence[StrimziListener], at: NodeListeners) -> dict[str, Property]:
    """Return the settings of a node's listeners."""
    found = {}
    for name in (CONTROL_PLANE, REPLICATION) if node.broker else (CONTROL_PLANE,):
        own = f"listener.name.{name.lower()}.ssl.client.auth"
        found[own] = Property(own, "required", at.cluster_line)
    bound, advertised, protocols = [], [], [f"{CONTROL_PLANE}:SSL"]
    if at.control_plane:
        bound.append(f"{CONTROL_PLANE}://0.0.0.0:9090")
        advertised += [f"{CONTROL_PLANE}://{node.host}:9090"] if at.control_plane_advertised else []
    clients = listeners if node.broker else ()
    if node.broker:
        bound.append(f"{REPLICATION}://0.0.0.0:9091")
        advertised.append(f"{REPLICATION}://{node.host}:9091")
        protocols.append(f"{REPLICATION}:SSL")
        found["inter.broker.listener.name"] = Property("inter.broker.listener.name", REPLICATION, at.cluster_line)
    for listener in clients:
        bound.append(f"{listener.name}://0.0.0.0:{listener.port}")
        advertised.append(f"{listener.name}://{':'.join(_address(node, listener, at.namespace))}")
        protocols.append(f"{listener.name}:{listener.protocol}")
        found |= {setting.key: setting for setting in listener.settings}
    line = listeners[0].line
    values = {"listeners": bound, "listener.security.protocol.map": protocols, "advertised.listeners": advertised}
    found |= {key: Property(key, ",".join(entries), line) for key, entries in values.items() if entries}
    return found


def _address(node: StrimziNode, listener: StrimziListener, namespace: str) -> tuple[str, str]:
    """Return the host and port that a node advertises; what Kubernetes assigns is a placeholder."""
    given, own = listener.configuration, listener.brokers.get(str(node.number), YamlMapping())
    if node.number is None and listener.brokers:
        return "${advertisedHost}", "${advertisedPort}"
    host = _given(own, "advertisedHost") or _rendered(_given(given, "advertisedHostTemplate"), node)
    port = _given(own, "advertisedPort") or _port(_given(given, "advertisedPortTemplate"), node)
    assigned_host, assigned_port = _assigned_address(node, listener, own, namespace)
    return host or assigned_host, port or assigned_port


def _assigned_address(node: StrimziNode, listener: StrimziListener, own: YamlMapping, namespace: str) -> tuple[str, str]:
    named = _given(own, "host") or _rendered(_given(listener.configuration, "hostTemplate"), node)
    match listener.type:
        case "internal":
            return f"{node.host}{_domain(listener)}", listener.port
        case "cluster-ip":
            part = "" if listener.identifier == "external-9094" else f"-{listener.identifier.rpartition('-')[0]}"
            number = "${node}" if node.number is None else node.number
            return f"{node.owner}{part}-{number}.{namespace}.svc{_domain(listener)}", listener.port
        case "loadbalancer":
            return "${loadbalancer}", listener.port
        case "nodeport":
            return "${node}", _given(own, "nodePort") or "${nodePort}"
        case "route" | "ingress" | "tlsroute":
            return named or "${host}", _TLS_PORT
        case _:
            return "${host}", "${port}"


def _domain(listener: StrimziListener) -> str:
    return ".cluster.local" if _given(listener.configuration, "useServiceDnsDomain") in _TRUE else ""


def _given(entry: YamlMapping, key: str) -> str | None:
    text = entry.text(key)
    return None if text is None else text if len(text) <= _LONGEST else "${long}"


def _rendered(template: str | None, node: StrimziNode) -> str | None:
    if template is None:
        return None
    number = "${node}" if node.number is None else str(node.number)
    return template.replace("{nodeId}", number).replace("{nodePodName}", node.pod)


def _port(template: str | None, node: StrimziNode) -> str | None:
    """Return the port of a template that adds a number; of others, a placeholder."""
    if template is None:
        return None
    match = _SUM.fullmatch(template)
    if match is None or node.number is None:
        return "${advertisedPort}"
    return str(int(match[1] or 0) + node.number + int(match[2] or 0))
