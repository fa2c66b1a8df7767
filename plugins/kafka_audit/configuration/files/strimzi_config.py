"""`spec.kafka.config` of Strimzi's `Kafka`: what its operator passes to Kafka, and what it ignores. Pure.

Source: `KafkaClusterSpec.FORBIDDEN_PREFIXES` and its exceptions, of Strimzi 0.40 to 1.2.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import yaml

from kafka_audit.configuration.files import yaml_nodes
from kafka_audit.configuration.files.described import listed
from kafka_audit.configuration.files.java import Property
from kafka_audit.model.linted import Remark

_FORBIDDEN = (
    *("listeners", "advertised.", "broker.", "listener.", "host.name", "port", "inter.broker.listener.name"),
    *("sasl.", "ssl.", "security.", "password.", "log.dir", "zookeeper.connect", "zookeeper.set.acl", "zookeeper.ssl"),
    *("authorizer.", "super.user", "cruise.control.metrics.topic", "cruise.control.metrics.reporter.bootstrap.servers"),
    *("node.id", "process.roles", "controller.", "metadata.log.dir", "zookeeper.metadata.migration.enable"),
)
"""Prefixes of keys that every version ignores, compared in lower case."""

_EXCEPTIONS = frozenset(
    {
        "zookeeper.connection.timeout.ms",
        "sasl.server.max.receive.size",
        "ssl.cipher.suites",
        "ssl.protocol",
        "ssl.enabled.protocols",
        "ssl.secure.random.implementation",
        "cruise.control.metrics.topic.num.partitions",
        "cruise.control.metrics.topic.replication.factor",
        "cruise.control.metrics.topic.retention.ms",
        "cruise.control.metrics.topic.auto.create.retries",
        "cruise.control.metrics.topic.auto.create.timeout.ms",
        "cruise.control.metrics.topic.min.insync.replicas",
        "controller.quorum.election.backoff.max.ms",
        "controller.quorum.election.timeout.ms",
        "controller.quorum.fetch.timeout.ms",
    }
)
_BY_VERSION = ("client.quota.callback.static.", "prometheus.metrics.reporter.", "cordoned.log.dirs")
_KEYS_BY_VERSION = frozenset({"broker.session.timeout.ms", "broker.heartbeat.interval.ms", "controller.socket.timeout.ms"})
_OF_LISTENER = ("connections.max.reauth.ms", "max.connections", "max.connection.creation.rate")
_WHOLE, _DECIMAL = re.compile(r"-?(?:0|[1-9][0-9]{0,17})"), re.compile(r"-?[0-9]{1,9}\.[0-9]{0,8}[1-9]")
_NUMBER_LIKE = re.compile(r"[-+]?(?:0[xob])?[0-9][0-9A-Fa-f_]*(?:\.[0-9]*)?(?:[eE][-+]?[0-9]+)?")
_BOOLEANS = {"true": "true", "yes": "true", "on": "true", "false": "false", "no": "false", "off": "false"}
_READ_DIFFERENTLY = ("y", "n")  # booleans to some readers of YAML


@dataclass(frozen=True, kw_only=True)
class BrokerConfigEntries:
    """The settings of the user as Kafka gets them."""

    properties: Mapping[str, Property]
    unknown: frozenset[str]
    remarks: tuple[Remark, ...]


def broker_config(node: yaml.Node | None, listeners: Iterable[str]) -> BrokerConfigEntries:
    """Return what Kafka gets of `spec.kafka.config`.

    Args:
        node: the mapping.
        listeners: identifiers of the listeners, such as `tls-9093`; some of their settings are accepted by newer versions.
    """
    by_version = _KEYS_BY_VERSION | {f"listener.name.{name}.{key}" for name in listeners for key in _OF_LISTENER}
    properties, unknown, remarks = {}, set(), []
    for key, value in yaml_nodes.mapping(node).items():
        line, text = yaml_nodes.line(value), _written(value)
        if key in by_version or key.startswith(_BY_VERSION):
            unknown.add(key)
            remarks.append(Remark(line=line, text=f"not judged: whether Strimzi ignores {key} depends on its version"))
        elif key.lower().startswith(_FORBIDDEN) and key not in _EXCEPTIONS:
            remarks.append(Remark(line=line, text=f"Strimzi ignores {key} in spec.kafka.config"))
        elif not isinstance(value, yaml.ScalarNode) or yaml_nodes.text(value) is None:
            unknown.add(key)
            remarks.append(Remark(line=line, text=f"Strimzi refuses {key} in spec.kafka.config: it is not one value"))
        elif text is None:
            unknown.add(key)
            remarks.append(Remark(line=line, text=f"not judged: {key}; quote the value to have it judged as it is written"))
        else:
            properties[key] = Property(key, text, line)
    return BrokerConfigEntries(properties=properties, unknown=frozenset(unknown), remarks=listed(remarks))


def _written(node: yaml.Node) -> str | None:
    """Return a value as Kubernetes' JSON and Java write it, None where a number may become another text on that way."""
    text = yaml_nodes.text(node)
    if text is None or getattr(node, "style", None):
        return text
    if text.lower() in _BOOLEANS:
        return _BOOLEANS[text.lower()]
    if text.lower() in _READ_DIFFERENTLY:
        return None
    if _WHOLE.fullmatch(text) or _DECIMAL.fullmatch(text) or not _NUMBER_LIKE.fullmatch(text):
        return text
    return None
