"""How a form of file names Kafka's settings. Pure.

Users edit these fields. An image, a chart or an operator writes server.properties from them.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial

_ENCODED = {".": "_", "_": "__", "-": "___"}
_UNENCODED = re.compile(r"[._-]")
_LISTENER_KEY = re.compile(r"listener\.name\..+")


class Form(StrEnum):
    """Who writes the server.properties that the broker gets."""

    PROPERTIES = "properties"  # the user
    ENVIRONMENT = "environment"  # an image, from its variables
    CONFIG_MAP = "config map"  # Kubernetes, from an entry
    RENDERED = "rendered"  # Helm: it overwrites the entry with the next release
    STRIMZI = "strimzi"  # an operator, from resources
    BITNAMI = "bitnami"  # a chart, from values
    CONFLUENT = "confluent"


@dataclass(frozen=True, kw_only=True)
class SettingNames:
    """The names of one place in a file.

    `place` stands for "server.properties of broker N", `afterwards` says who applies a change. `own` has the fields of keys that
    are not set under their names; "" where no field sets the key. `below` is the name of a subchart with a dot.
    """

    form: Form
    place: str = ""
    afterwards: str = ""
    own: Mapping[str, str] = field(default_factory=dict)
    named: Callable[[str], str] = str  # the field of any other key; it can be pickled, as what a child process reads is
    between: str = "="  # a field and its value
    below: str = ""

    def setting(self, key: str) -> str:
        """Return the field that sets a key."""
        own = self.own.get(key)
        return own if own is not None else self.own["listener.name."] if self._by_listener(key) else self.named(key)

    def assignment(self, key: str, value: str) -> str:
        """Return the field with a value; only the field where it takes values of its own."""
        return self.setting(key) if key in self.own or self._by_listener(key) else f"{self.named(key)}{self.between}{value}"

    def _by_listener(self, key: str) -> bool:
        return "listener.name." in self.own and _LISTENER_KEY.fullmatch(key) is not None


PROPERTIES = SettingNames(form=Form.PROPERTIES)


def of_environment(prefix: str, inside: str, *, release: str = "") -> SettingNames:
    """Return the names of variables with a prefix.

    Args:
        prefix: of the image.
        inside: their place in the file, "" for the whole of it.
        release: the release of Helm that renders the file.
    """
    container = f"the environment of {inside}" if inside else "the variables of the file"

    named = partial(_variable, prefix)
    if release:
        return SettingNames(form=Form.RENDERED, place=_values_of(release, inside), afterwards=_overwritten(inside), named=named)
    afterwards = "The image writes server.properties from the variables: start a new container with them."
    return SettingNames(form=Form.ENVIRONMENT, place=container, afterwards=afterwards, named=named)


def _variable(prefix: str, key: str) -> str:
    return f"{prefix}{_UNENCODED.sub(lambda match: _ENCODED[match[0]], key).upper()}"


def _behind(prefix: str, key: str) -> str:
    return f"{prefix}{key}"


def _values_of(release: str, inside: str) -> str:
    return f"the values of {release}, which renders {inside}"


def _overwritten(inside: str) -> str:
    return f"Helm overwrites {inside}: change the values, then upgrade the release."


def of_config_map(inside: str, *, release: str = "", cluster: str = "") -> SettingNames:
    """Return the names of an entry of a ConfigMap or Secret.

    Args:
        inside: the ConfigMap and its entry.
        release: the release of Helm that renders it.
        cluster: the cluster of Strimzi whose operator writes it.
    """
    if cluster:
        return of_strimzi(f"the Kafka resource {cluster}")
    if release:
        return SettingNames(form=Form.RENDERED, place=_values_of(release, inside), afterwards=_overwritten(inside))
    return SettingNames(form=Form.CONFIG_MAP, place=inside)


_OPERATORS = ""
_STRIMZI = {
    "advertised.listeners": "spec.kafka.listeners[].configuration",
    "authorizer.class.name": "spec.kafka.authorization.type",
    "broker.rack": "spec.kafka.rack.topologyKey",
    "controller.listener.names": _OPERATORS,
    "inter.broker.listener.name": _OPERATORS,
    "listener.name.": "spec.kafka.listeners[].authentication",
    "listener.security.protocol.map": "spec.kafka.listeners[].tls",
    "listeners": "spec.kafka.listeners",
    "log.dir": "spec.storage of the KafkaNodePool",
    "log.dirs": "spec.storage of the KafkaNodePool",
    "metadata.log.dir": "spec.storage of the KafkaNodePool",
    "node.id": _OPERATORS,
    "broker.id": _OPERATORS,
    "process.roles": "spec.roles of the KafkaNodePool",
    "sasl.enabled.mechanisms": "spec.kafka.listeners[].authentication.type",
    "security.inter.broker.protocol": _OPERATORS,
    "super.users": "spec.kafka.authorization.superUsers",
}


def of_strimzi(place: str) -> SettingNames:
    """Return the fields of `Kafka` and `KafkaNodePool`."""
    afterwards = (
        "The operator writes server.properties: apply the resource, and it restarts the brokers that the change concerns."
    )
    return SettingNames(
        form=Form.STRIMZI,
        place=place,
        afterwards=afterwards,
        own=_STRIMZI,
        named=partial(_behind, "spec.kafka.config."),
        between=": ",
    )


_BITNAMI = {
    "advertised.listeners": "listeners.advertisedListeners",
    "broker.rack": "brokerRackAwareness.enabled",
    "controller.listener.names": "listeners.controller.name",
    "controller.quorum.bootstrap.servers": "controller.quorumBootstrapServers",
    "controller.quorum.voters": "controller.quorumBootstrapServers",
    "inter.broker.listener.name": "listeners.interbroker.name",
    "listener.security.protocol.map": "listeners.<listener>.protocol",
    "listeners": "listeners",
    "log.dir": "persistence.mountPath",
    "process.roles": "controller.controllerOnly",
    "sasl.enabled.mechanisms": "sasl.enabledMechanisms",
    "sasl.mechanism.controller.protocol": "sasl.controllerMechanism",
    "sasl.mechanism.inter.broker.protocol": "sasl.interBrokerMechanism",
    "security.inter.broker.protocol": "listeners.interbroker.protocol",
    "ssl.client.auth": "tls.sslClientAuth",
    "ssl.endpoint.identification.algorithm": "tls.endpointIdentificationAlgorithm",
}
_UPGRADE = "The chart writes the configuration of the brokers: upgrade the release with the values."


def of_bitnami(below: str = "") -> SettingNames:
    """Return the values of Bitnami's chart; `below` is the name of a subchart with a dot."""
    return SettingNames(
        form=Form.BITNAMI,
        place="the values of the chart",
        afterwards=_UPGRADE,
        own={key: f"{below}{name}" for key, name in _BITNAMI.items()},
        named=partial(_behind, f"{below}overrideConfiguration."),
        between=": ",
        below=below,
    )


def of_older_bitnami(fields: Mapping[str, str]) -> SettingNames:
    """Return the values of Bitnami's chart before 32: the fields that a file has, by key."""
    return SettingNames(form=Form.RENDERED, place="the values of the chart", afterwards=_UPGRADE, own=fields)


def of_confluent(prefix: str) -> SettingNames:
    """Return the values of Confluent's chart; `prefix` is `cp-kafka.` in those of the charts together, or a subchart's name."""
    return SettingNames(
        form=Form.CONFLUENT,
        place="the values of the chart",
        afterwards=_UPGRADE,
        own={"log.dirs": f"{prefix}persistence.disksPerBroker", "zookeeper.connect": f"{prefix}cp-zookeeper.url"},
        named=partial(_behind, f"{prefix}configurationOverrides."),
        between=": ",
    )
