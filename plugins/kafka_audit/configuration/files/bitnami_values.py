"""Values of Bitnami's chart of Kafka: the server.properties that each pod gets. Pure.

Source: `bitnami/kafka/templates` of bitnami/charts, version 32.4.4 of the chart. The init container of a pod fills in its
address, its id and passwords; they are as it writes them, or not known.
"""

import difflib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NoReturn

import yaml

from kafka_audit.configuration.files import images, java, memory, setting_names, yaml_nodes
from kafka_audit.configuration.files.described import ADVERTISED_BY_BITNAMI, Described, is_placeholder
from kafka_audit.configuration.files.java import PropertiesError, Property
from kafka_audit.configuration.files.values_tree import MOST_NODES, Values
from kafka_audit.configuration.files.yaml_nodes import YamlMapping
from kafka_audit.model.linted import Remark
from kafka_audit.model.package_yaml import package_yaml

_CHART = "32.4.4"
_PROTOCOL = "SASL_PLAINTEXT"
_DEFAULTS = {
    "broker.minId": "100",
    "broker.persistence.mountPath": "/bitnami/kafka",
    "broker.replicaCount": "0",
    "clusterDomain": "cluster.local",
    "controller.minId": "0",
    "controller.persistence.mountPath": "/bitnami/kafka",
    "controller.replicaCount": "3",
    "image.repository": "bitnami/kafka",
    "image.tag": "4.0.0-debian-12-r10",
    "kraftVersion": "1",
    "listeners.client.containerPort": "9092",
    "listeners.client.name": "CLIENT",
    "listeners.client.protocol": _PROTOCOL,
    "listeners.controller.containerPort": "9093",
    "listeners.controller.name": "CONTROLLER",
    "listeners.controller.protocol": _PROTOCOL,
    "listeners.external.containerPort": "9095",
    "listeners.external.name": "EXTERNAL",
    "listeners.external.protocol": _PROTOCOL,
    "listeners.interbroker.containerPort": "9094",
    "listeners.interbroker.name": "INTERNAL",
    "listeners.interbroker.protocol": _PROTOCOL,
    "namespaceOverride": "default",
    "sasl.controller.clientId": "controller_broker_client",
    "sasl.controller.user": "controller_user",
    "sasl.controllerMechanism": "PLAIN",
    "sasl.enabledMechanisms": "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512",
    "sasl.interBrokerMechanism": "PLAIN",
    "sasl.interbroker.clientId": "inter_broker_client",
    "sasl.interbroker.user": "inter_broker_user",
    "sasl.oauthbearer.subClaimName": "sub",
    "tls.endpointIdentificationAlgorithm": "https",
    "tls.sslClientAuth": "required",
}
_RELEASE = "kafka"
_PRESETS = {"nano": "192Mi", "micro": "384Mi", "small": "768Mi", "medium": "1536Mi", "large": "3072Mi"}
"""Limits of memory by the names of Bitnami's common chart (`_resources.tpl`)."""
_KEY_OF_SECRET = re.compile(r"[-._a-zA-Z0-9]{1,253}")
_OLD_TAG = re.compile(r"[0-3]\.")
OLDER = ("kraft", "zookeeper", "externalZookeeper", "extraConfig", "extraConfigYaml")
_MOVED = {"replicaCount": "controller.replicaCount and broker.replicaCount are", "persistence": "controller.persistence is"}
_MOST_ENTRIES, _MOST_MECHANISMS, _LONGEST_NAME = 100, 8, 100
_STORES = "/opt/bitnami/kafka/config/certs/kafka."
_OAUTH = "org.apache.kafka.common.security.oauthbearer"
_MODULES = {
    "PLAIN": "org.apache.kafka.common.security.plain.PlainLoginModule required",
    "OAUTHBEARER": f"{_OAUTH}.OAuthBearerLoginModule required",
}
_SCRAM = "org.apache.kafka.common.security.scram.ScramLoginModule required"
_FILLED_BY_TLS = frozenset({"ssl.key.password", "ssl.keystore.password", "ssl.truststore.password"})


@dataclass(frozen=True, kw_only=True)
class _ChartListener:
    """One of the listeners of the chart."""

    role: str  # client, interbroker, controller, external, or its place among extraListeners
    name: str
    port: str
    protocol: str
    client_auth: str
    line: int


def bitnami_nodes(root: YamlMapping, line: int, *, subchart: str = "") -> Iterator[Described]:
    """Yield the pods of the chart.

    Args:
        root: the values.
        line: the first of them.
        subchart: the name below which another chart has them.

    Raises:
        PropertiesError: the values do not contain the settings of the pods.
    """
    values = Values(root, _DEFAULTS, line)
    for key in OLDER:
        if key in root:
            refuse_older_chart(key, root[key])
    tag = values.node("image.tag")
    if tag is not None and _OLD_TAG.match(values.text("image.tag")):
        refuse_older_chart(f"image.tag {values.text('image.tag')[:40]}", tag)
    counts = {role: values.number(f"{role}.replicaCount") for role in ("controller", "broker")}
    for role, count in counts.items():
        if count is None or sum(other or 0 for other in counts.values()) > MOST_NODES:
            raise PropertiesError(
                values.line(f"{role}.replicaCount"), f"not judged: replicaCount is no number up to {MOST_NODES}"
            )
        for path in (f"{role}.existingConfigmap", "existingConfigmap"):
            if count and values.has(path):
                text = f"not judged: {path}; lint that ConfigMap"
                raise PropertiesError(values.line(path), text)
    remarks = tuple(_remarks(values))
    for role, count in counts.items():
        chart = _BitnamiRole(values, role, count or 0, subchart)
        for number in range(count or 0):
            yield chart.pod(number, () if number or (role == "broker" and counts["controller"]) else remarks)


def _remarks(values: Values) -> Iterator[Remark]:
    text = f"values that the file does not set are those of Bitnami's chart {_CHART}, with Kafka 4.0.0"
    yield Remark(line=values.first_line, text=text)
    if not values.has("fullnameOverride") or values.node("namespaceOverride") is None:
        names = f"the release `{_RELEASE}` in the namespace `{values.text('namespaceOverride') or 'default'}`"
        yield Remark(line=values.first_line, text=f"addresses are those of {names}")
    image = f"{values.text('image.registry') or 'docker.io'}/{values.text('image.repository')}:{values.text('image.tag')}"
    yield from images.image_of(image, {}).withdrawal(image, values.line("image.repository", "image"))
    yield from _of_other_charts(values)
    yield from _keys_of_secrets(values.root.mapping("tls"))
    if not re.search(r"(?:^|/)kafka$", values.text("image.repository")) or "apache/" in values.text("image.repository"):
        text = "the chart starts Kafka by scripts of Bitnami's image, which this one does not have"
        yield Remark(line=values.line("image.repository"), text=text)
    for role in ("controller", "broker"):
        if values.text(f"{role}.persistence.enabled") == "false" and values.number(f"{role}.replicaCount"):
            text = "without a claim, the data is deleted with each pod"
            yield Remark(line=values.line(f"{role}.persistence.enabled"), text=text)
        preset, given = f"{role}.resourcesPreset", f"{role}.resources.limits.memory"
        text = values.text(given) or _PRESETS.get(values.text(preset), "")
        yield from memory.heap_remarks(values.text(f"{role}.heapOpts"), Property("memory", text, values.line(given, preset)))
    paths = [f"{part}{key}" for part in ("", "controller.", "broker.") for key in ("existingSecretConfig", "extraEnvVars")]
    for path in paths:
        if values.has(path):
            yield Remark(line=values.line(path), text=f"not judged: {path}")


def _keys_of_secrets(tls: YamlMapping) -> Iterator[Remark]:
    """Yield what stands where the name of a key in a Secret belongs, such as the store itself."""
    for path in [*tls][:_MOST_ENTRIES]:
        if path.endswith("Key") and (name := tls.text(path)) and not (_KEY_OF_SECRET.fullmatch(name) or is_placeholder(name)):
            text = f"tls.{path[:60]} is the name of a key in the Secret, not what it holds: it has letters, digits, -, . and _"
            yield Remark(line=tls.line(path), text=text)


def _of_other_charts(values: Values) -> Iterator[Remark]:
    """Yield values that the chart does not have, and topics with more replicas than it has brokers."""
    known = package_yaml(__package__, "field_names.yaml")["bitnami"]
    for key, node in [*values.root.items()][:_MOST_ENTRIES]:
        if key in _MOVED:
            text = f"{key} has no effect since chart 24: {_MOVED[key]}"
            yield Remark(line=yaml_nodes.line(node), text=text)
        elif len(key) < _LONGEST_NAME and key not in known and (near := difflib.get_close_matches(key, known, 1, 0.85)):
            yield Remark(line=yaml_nodes.line(node), text=f"{key} is no value of the chart, {near[0]} is")
    brokers = 0 if values.text("controller.controllerOnly") == "true" else values.number("controller.replicaCount") or 0
    brokers += values.number("broker.replicaCount") or 0
    for topic in values.root.mappings("provisioning", "topics"):
        factor = topic.text("replicationFactor") or ""
        if factor.isdecimal() and 0 < brokers < int(factor[:6]):
            text = f"the topic is not created: it is to have {factor[:6]} replicas, and brokers are {brokers}"
            yield Remark(line=topic.line("replicationFactor"), text=text)


def refuse_older_chart(key: str, node: yaml.Node) -> NoReturn:
    """Raise PropertiesError for values of a chart whose templates are not known."""
    text = f"not judged: {key} of Bitnami's chart before 32; lint the output of `helm template`"
    raise PropertiesError(yaml_nodes.line(node), text)


class _BitnamiRole:
    """The StatefulSet of one role: `controller`, which may serve clients too, or `broker`."""

    def __init__(self, values: Values, role: str, count: int, subchart: str) -> None:
        self.subchart = subchart
        self.values = values
        self.role = role
        self.controller_only = role == "controller" and values.has("controller.controllerOnly")
        self.external = values.has("externalAccess.enabled")
        name = values.text("nameOverride") or subchart or "kafka"
        self.fullname = values.text("fullnameOverride") or (_RELEASE if name in _RELEASE else f"{_RELEASE}-{name}")
        self.domain = f"{values.text('namespaceOverride') or 'default'}.svc.{values.text('clusterDomain')}"
        self.voters = count if role == "controller" else values.number("controller.replicaCount") or 0
        self.named = {
            part: self._listener(f"listeners.{part}", part) for part in ("client", "interbroker", "controller", "external")
        }
        self.extra = [self._extra(number, node) for number, node in enumerate(self._extra_nodes())]
        self.unknown: set[str] = set()
        self.shared = self._settings()

    def pod(self, number: int, remarks: tuple[Remark, ...]) -> Described:
        """Return one pod; an address that Kubernetes assigns is a placeholder."""
        low = self.values.number(f"{self.role}.minId")
        node_id = "${node.id}" if low is None else str(low + number)
        own = Property("node.id", node_id, self.values.line(f"{self.role}.minId", self.role))
        properties = {**self.shared, "node.id": own}  # the init container replaces any other
        advertised = properties.get("advertised.listeners")
        if advertised is not None:
            text = advertised.value.replace(ADVERTISED_BY_BITNAMI, self._host(self.role, number))
            properties["advertised.listeners"] = Property("advertised.listeners", text, advertised.line)
        hidden = {key for key, setting in properties.items() if is_placeholder(setting.value)}
        return Described(
            properties=properties,
            unknown=frozenset(self.unknown | hidden),
            inside=f"values of Bitnami's chart{f' ({self.subchart})' if self.subchart else ''}, {self.role} {number}",
            image=f"{self.values.text('image.repository')}:{self.values.text('image.tag')}",
            cluster=f"bitnami/{self.fullname}.{self.domain}",
            replicas=1,
            remarks=remarks,
            names=setting_names.of_bitnami(f"{self.subchart}." if self.subchart else ""),
        )

    def _host(self, role: str, number: int) -> str:
        return f"{self.fullname}-{role}-{number}.{self.fullname}-{role}-headless.{self.domain}"

    def _listener(self, path: str, part: str) -> _ChartListener:
        values = self.values
        return _ChartListener(
            role=part,
            name=values.text(f"{path}.name"),
            port=values.text(f"{path}.containerPort"),
            protocol=values.text(f"{path}.protocol").upper(),
            client_auth=values.text(f"{path}.sslClientAuth"),
            line=values.line(f"{path}.protocol", path, "listeners"),
        )

    def _extra_nodes(self) -> list[yaml.Node]:
        nodes = self.values.root.sequence("listeners", "extraListeners")
        if len(nodes) > _MOST_ENTRIES:
            raise PropertiesError(yaml_nodes.line(nodes[0]), f"has more than {_MOST_ENTRIES} listeners")
        return nodes

    @staticmethod
    def _extra(number: int, node: yaml.Node) -> _ChartListener:
        entry = yaml_nodes.mapping(node)
        return _ChartListener(
            role=f"extraListeners[{number}]",
            name=entry.text("name") or "",
            port=entry.text("containerPort") or "",
            protocol=(entry.text("protocol") or "").upper(),
            client_auth=entry.text("sslClientAuth") or "",
            line=yaml_nodes.line(node),
        )

    def _settings(self) -> dict[str, Property]:
        values, role = self.values, self.role
        given = next((path for path in (f"{role}.config", "config") if values.has(path)), None)
        found = self._entries(given) if given else {setting.key: setting for setting in self._generated()}
        for path in ("overrideConfiguration", f"{role}.overrideConfiguration"):
            found |= self._entries(path)
        for path in (f"{role}.secretConfig", "secretConfig"):
            if values.has(path):
                line = values.line(path)
                text = java.parse_properties((yaml_nodes.text(values.node(path)) or "").encode())
                found |= {key: Property(key, setting.value, line) for key, setting in text.items()}
                break
        if values.has("brokerRackAwareness.enabled"):
            self.unknown.add("broker.rack")
        return found

    def _entries(self, path: str) -> dict[str, Property]:
        node = self.values.node(path)
        if node is not None and not isinstance(node, yaml.MappingNode) and self.values.has(path):
            refuse_older_chart(f"{path} as text", node)
        found = {}
        for key, value in self.values.entries(path).items():
            if isinstance(value, yaml.ScalarNode):
                found[key] = yaml_nodes.as_property(key, value)
            else:
                self.unknown.add(key)
        return found

    def _generated(self) -> Iterator[Property]:
        """Yield the settings that the chart writes by itself."""
        values, at = self.values, self.values.line("listeners")
        yield Property("listeners", self._bound(), values.line("listeners.overrideListeners", "listeners"))
        yield Property(
            "listener.security.protocol.map", self._protocols(), values.line("listeners.securityProtocolMap", "listeners")
        )
        if not self.controller_only:
            yield Property("advertised.listeners", self._advertised(), values.line("listeners.advertisedListeners", "listeners"))
            yield Property("inter.broker.listener.name", self.named["interbroker"].name, self.named["interbroker"].line)
        mount = f"{self.role}.persistence.mountPath"
        yield Property("log.dir", f"{values.text(mount)}/data", values.line(mount, self.role))
        roles = {"broker": "broker", "controller": "controller" if self.controller_only else "controller,broker"}
        yield Property("process.roles", roles[self.role], values.line(f"{self.role}.controllerOnly", self.role))
        yield Property(
            "controller.listener.names", self.named["controller"].name, values.line("listeners.controller", "listeners")
        )
        static = values.number("kraftVersion") == 0
        key = "controller.quorum.voters" if static else "controller.quorum.bootstrap.servers"
        yield Property(key, self._quorum(static=static), values.line("controller.quorumBootstrapServers", "controller"))
        everywhere = [*self._main(), *self.extra, *([self.named["external"]] if self.external else [])]
        if any("SSL" in listener.protocol for listener in everywhere):
            self.unknown |= _FILLED_BY_TLS
            yield from self._tls()
        if any("SASL" in listener.protocol for listener in everywhere):
            yield from self._sasl(everywhere, at)

    def _main(self) -> list[_ChartListener]:
        return [self.named["client"], self.named["interbroker"], self.named["controller"]]

    def _bound(self) -> str:
        own = self.values.text("listeners.overrideListeners")
        if own:
            return own
        listeners = [self.named["client"], self.named["interbroker"], *([self.named["external"]] if self.external else [])]
        if self.controller_only:
            listeners = [self.named["controller"]]
        else:
            listeners += [*([self.named["controller"]] if self.role == "controller" else []), *self.extra]
        return ",".join(f"{listener.name.upper()}://:{listener.port}" for listener in listeners)

    def _protocols(self) -> str:
        own = self.values.text("listeners.securityProtocolMap")
        if own:
            return own
        listeners = [self.named["controller"], self.named["client"], self.named["interbroker"], *self.extra]
        if self.controller_only:
            listeners = [self.named["controller"]]
        listeners += [self.named["external"]] if self.external else []
        return ",".join(f"{listener.name.upper()}:{listener.protocol}" for listener in listeners)

    def _advertised(self) -> str:
        own = self.values.text("listeners.advertisedListeners")
        if own:
            return own
        listeners = (self.named["client"], self.named["interbroker"], *self.extra)
        entries = [f"{listener.name.upper()}://{ADVERTISED_BY_BITNAMI}:{listener.port}" for listener in listeners]
        if self.external:
            entries.append(f"{self.named['external'].name}://${{external}}:${{port}}")
        return ",".join(entries)

    def _quorum(self, *, static: bool) -> str:
        own = self.values.text("controller.quorumBootstrapServers")
        if own:
            return own
        low, port = self.values.number("controller.minId") or 0, self.named["controller"].port
        if self.values.has("controller.autoscaling.hpa.enabled"):
            return "${controllers}"
        hosts = [f"{self._host('controller', number)}:{port}" for number in range(self.voters)]
        return ",".join(f"{low + number}@{host}" if static else host for number, host in enumerate(hosts))

    def _tls(self) -> Iterator[Property]:
        line = self.values.line("tls", "listeners")
        settings = {
            "ssl.keystore.type": "JKS",
            "ssl.truststore.type": "JKS",
            "ssl.keystore.location": f"{_STORES}keystore.jks",
            "ssl.truststore.location": f"{_STORES}truststore.jks",
            "ssl.client.auth": self.values.text("tls.sslClientAuth"),
            "ssl.endpoint.identification.algorithm": self.values.text("tls.endpointIdentificationAlgorithm"),
        }
        yield from (Property(key, value, line) for key, value in settings.items())

    def _sasl(self, listeners: list[_ChartListener], at: int) -> Iterator[Property]:
        values, line = self.values, self.values.line("sasl", "listeners")
        enabled = values.text("sasl.enabledMechanisms")
        yield Property("sasl.enabled.mechanisms", enabled.upper(), values.line("sasl.enabledMechanisms", "sasl", "listeners"))
        for part, name, key in (("interbroker", "interBroker", "inter.broker"), ("controller", "controller", "controller")):
            if "SASL" in self.named[part].protocol:
                mechanism = values.text(f"sasl.{name}Mechanism").upper()
                yield Property(
                    f"sasl.mechanism.{key}.protocol", mechanism, values.line(f"sasl.{name}Mechanism", "sasl", "listeners")
                )
        for listener in listeners:
            own = f"listener.name.{listener.name.lower()}."
            if listener.client_auth and "SSL" in listener.protocol:
                yield Property(f"{own}ssl.client.auth", listener.client_auth, listener.line)
            for mechanism in enabled.split(",")[:_MOST_MECHANISMS] if "SASL" in listener.protocol else ():
                jaas = f"{self._jaas(listener, mechanism.upper())};"
                yield Property(f"{own}{mechanism.lower()}.sasl.jaas.config", jaas, line)
                if mechanism.upper() == "OAUTHBEARER":
                    yield from self._oauth_handlers(listener, own, at)
        if "OAUTHBEARER" in enabled:
            yield from self._oauth()

    def _jaas(self, listener: _ChartListener, mechanism: str) -> str:
        """Return a login as the chart writes it; the init container replaces the placeholders of passwords."""
        values, part = self.values, listener.role
        login = [_MODULES.get(mechanism, _SCRAM)]
        if part in {"interbroker", "controller"}:
            if mechanism == "OAUTHBEARER":
                client = values.text(f"sasl.{part}.clientId")
                login += [f'clientId="{client}"', f'clientSecret="{part}-client-secret-placeholder"']
            else:
                login += [f'username="{values.text(f"sasl.{part}.user")}"', f'password="{part}-password-placeholder"']
        if mechanism == "PLAIN":
            if part in {"interbroker", "controller"}:
                login.append(f'user_{values.text(f"sasl.{part}.user")}="{part}-password-placeholder"')
            users = values.root.texts("sasl", "client", "users")[:_MOST_ENTRIES]
            names = ["user1"] if values.node("sasl.client.users") is None else [user[:_LONGEST_NAME] for user in users]
            login += [f'user_{name}="password-placeholder-{number}"' for number, name in enumerate(names)]
        return " ".join(login)

    def _oauth_handlers(self, listener: _ChartListener, own: str, line: int) -> Iterator[Property]:
        handlers = {"server": "OAuthBearerValidatorCallbackHandler"}
        if listener.role in {"interbroker", "controller"}:
            handlers["login"] = "OAuthBearerLoginCallbackHandler"
        for side, name in handlers.items():
            yield Property(f"{own}oauthbearer.sasl.{side}.callback.handler.class", f"{_OAUTH}.secured.{name}", line)

    def _oauth(self) -> Iterator[Property]:
        keys = {
            "token.endpoint.url": "tokenEndpointUrl",
            "jwks.endpoint.url": "jwksEndpointUrl",
            "expected.audience": "expectedAudience",
            "sub.claim.name": "subClaimName",
        }
        for key, name in keys.items():
            path = f"sasl.oauthbearer.{name}"
            yield Property(f"sasl.oauthbearer.{key}", self.values.text(path), self.values.line(path, "sasl", "listeners"))
