"""Values of Bitnami's and Confluent's charts of Kafka: which of them a document has, also below the name of a subchart. Pure."""

import re
from collections.abc import Iterator, Mapping, Sequence

import yaml

from kafka_audit.configuration.files import bitnami_values, confluent_values, yaml_nodes
from kafka_audit.configuration.files.described import Described
from kafka_audit.configuration.files.java import PropertiesError

_LISTENERS = frozenset({"client", "interbroker", "controller", "external"})
_OF_LISTENERS = frozenset({"advertisedListeners", "extraListeners", "overrideListeners", "securityProtocolMap"})
_PARTS = frozenset({"broker", "controller", "externalAccess", "listeners", "sasl"})
_OF_BITNAMI = frozenset(
    {"brokerRackAwareness", "existingKraftSecret", "interBrokerProtocolVersion", "kraftVersion", "overrideConfiguration"}
)
_OF_BROKERS = ("cp-kafka", "cp-server", "cp-enterprise-kafka")
_SUBCHART = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,52}")  # its name or alias


def described_values(root: Mapping[str, yaml.Node], line: int) -> Sequence[Described] | None:
    """Return the brokers that a chart makes of a document, None where it is no chart's values.

    Args:
        root: the document.
        line: its first line.

    Raises:
        PropertiesError: they are those of a chart that is not read.
    """
    if "kind" in root or "services" in root:
        return None
    found = _of_chart(root, line, "")
    return _of_subcharts(root) if found is None else found


def _of_subcharts(root: Mapping[str, yaml.Node]) -> Sequence[Described] | None:
    """Return the brokers of the charts that a chart depends on, whose values are below their name or alias."""
    found: list[Described] | None = None
    for key, node in root.items():
        own = yaml_nodes.mapping(node)
        if _SUBCHART.fullmatch(key) and "kind" not in own and yaml_nodes.text(own.get("enabled")) != "false":
            of_chart = _of_chart(own, yaml_nodes.line(node), key)
            found = found if of_chart is None else [*(found or ()), *of_chart]
    return found


def _of_chart(root: Mapping[str, yaml.Node], line: int, subchart: str) -> Sequence[Described] | None:
    if "interBrokerListenerName" in root:
        bitnami_values.refuse_older_chart("interBrokerListenerName", root["interBrokerListenerName"])
    if _is_bitnamis(root):
        return tuple(bitnami_values.bitnami_nodes(root, line, subchart=subchart))
    return tuple(_confluent(root, line, subchart)) if "cp-kafka" in root or "configurationOverrides" in root else None


def _is_bitnamis(root: Mapping[str, yaml.Node]) -> bool:
    parts, listeners = _PARTS & root.keys(), yaml_nodes.mapping(root.get("listeners")).keys()
    image = yaml_nodes.text(yaml_nodes.mapping(root.get("image")).get("repository")) or ""
    if parts and (not _OF_BITNAMI.isdisjoint(root) or not _OF_LISTENERS.isdisjoint(listeners) or f"/{image}".endswith("/kafka")):
        return True
    if "broker" in parts or "controller" in parts:
        return "process.roles" in yaml_nodes.mapping(root.get("config")) or not _LISTENERS.isdisjoint(listeners)
    return len(parts) > 1 and not _LISTENERS.isdisjoint(listeners)


def _confluent(root: Mapping[str, yaml.Node], line: int, subchart: str) -> Iterator[Described]:
    prefix = f"{subchart}." if subchart else ""
    parts = yaml_nodes.mapping(root.get("cp-kafka"))
    if parts:
        if yaml_nodes.text(parts.get("enabled")) != "false":
            yield from confluent_values.confluent_nodes(parts, line, prefix=f"{prefix}cp-kafka.")
        return
    image = yaml_nodes.text(root.get("image")) or ""
    if "brokers" in root or image.endswith(_OF_BROKERS):
        yield from confluent_values.confluent_nodes(root, line, prefix=prefix)
    elif not image and not subchart:
        text = "not judged: configurationOverrides without brokers; lint reads the values of Confluent's chart cp-kafka"
        raise PropertiesError(yaml_nodes.line(root["configurationOverrides"]), text)
