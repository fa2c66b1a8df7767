"""Values of Bitnami's and Confluent's charts of Kafka, also below the name of a subchart, and what cp-kafka gets. Pure."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from kafka_audit.configuration.files import bitnami_before_32, bitnami_values, environment, setting_names, yaml_nodes
from kafka_audit.configuration.files.commands import Start, StartKind
from kafka_audit.configuration.files.described import Described
from kafka_audit.configuration.files.java import PropertiesError, Property
from kafka_audit.configuration.files.values_tree import MOST_NODES, Values
from kafka_audit.configuration.files.yaml_nodes import YamlMapping
from kafka_audit.model.linted import Remark

_START = Start(kind=StartKind.WRAPPED)  # the chart's command exports the id of the pod
_MOST_DISKS = 100
_DEFAULTS = {
    "brokers": "3",
    "imageTag": "6.1.0",
    "persistence.disksPerBroker": "1",
    "nodeport.firstListenerPort": "31090",
    "cp-zookeeper.enabled": "true",
    "cp-zookeeper.clientPort": "2181",
}
_IMAGES = {"": "confluentinc/cp-server", "cp-kafka.": "confluentinc/cp-enterprise-kafka"}
_OVERRIDES = {"offsets.topic.replication.factor": "3", "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,EXTERNAL:PLAINTEXT"}
_REPORTER = "io.confluent.metrics.reporter.ConfluentMetricsReporter"
_RELEASE, _NAMESPACE = "kafka", "default"


def confluent_nodes(own: YamlMapping, line: int, *, prefix: str = "") -> Iterator[Described]:
    """Yield the brokers of the chart.

    Args:
        own: the values of cp-kafka; those of ZooKeeper beside them belong to another chart.
        line: the first line of the document.
        prefix: `cp-kafka.` where the document has the values of several charts, or the name of a subchart with a dot.
    """
    values = Values(own, _DEFAULTS, line)
    count = values.number("brokers")
    if count is None or count > MOST_NODES:
        raise PropertiesError(values.line("brokers"), f"not judged: brokers is no number up to {MOST_NODES}")
    chart = "cp-kafka." if prefix.endswith("cp-kafka.") else ""
    image = f"{values.text('image') or _IMAGES[chart]}:{values.text('imageTag')}"
    shared = tuple(_shared(values))
    for number in range(count):
        variables = (*shared, *_own(values, number))
        inside = f"values of {prefix.removesuffix('.') or 'cp-kafka'}, broker {number}"
        described = environment.described_broker(variables, inside=inside, image=image, start=_START)
        if described is not None:
            yield replace(
                described,
                names=setting_names.of_confluent(prefix),
                cluster=f"cp-kafka/{line}",
                replicas=1,
                remarks=() if number else tuple(_remarks(values)),
            )


def _remarks(values: Values) -> Iterator[Remark]:
    text = "values that the file does not set are those of Confluent's chart 0.6.1"
    yield Remark(line=values.first_line, text=text)
    yield Remark(line=values.first_line, text=f"addresses are those of the release `{_RELEASE}` in the namespace `{_NAMESPACE}`")


def _fullname(values: Values) -> str:
    name = values.text("nameOverride") or "cp-kafka"
    return values.text("fullnameOverride") or (_RELEASE if name in _RELEASE else f"{_RELEASE}-{name}")


def _shared(values: Values) -> Iterator[Property]:
    disks = min(values.number("persistence.disksPerBroker") or 1, _MOST_DISKS)
    folders = ",".join(f"/opt/kafka/data-{disk}/logs" for disk in range(disks))
    yield Property("KAFKA_ZOOKEEPER_CONNECT", _zookeeper(values), values.line("cp-zookeeper.url", "cp-zookeeper"))
    yield Property("KAFKA_LOG_DIRS", folders, values.line("persistence.disksPerBroker"))
    yield Property("KAFKA_METRIC_REPORTERS", _REPORTER, values.first_line)
    overrides = values.entries("configurationOverrides")
    for key, text in _OVERRIDES.items():
        if key not in overrides:
            yield Property(_variable(key), text, values.line("configurationOverrides"))
    for key, node in overrides.items():
        yield Property(_variable(key), yaml_nodes.text(node) or "", yaml_nodes.line(node))
    for name, node in values.entries("customEnv").items():
        yield yaml_nodes.as_property(name, node)


def _variable(key: str) -> str:
    return f"KAFKA_{key.replace('.', '_').upper()}"


def _zookeeper(values: Values) -> str:
    if values.has("cp-zookeeper.enabled"):
        name = values.text("cp-zookeeper.nameOverride") or "cp-zookeeper"
        return f"{_RELEASE}-{name}-headless:{values.text('cp-zookeeper.clientPort')}"
    override = values.entries("configurationOverrides").get("zookeeper.connect")
    return yaml_nodes.text(override) or values.text("cp-zookeeper.url")


def _own(values: Values, number: int) -> Iterator[Property]:
    """Yield the variables that the command of the container exports."""
    name = _fullname(values)
    external = values.entries("configurationOverrides").text("advertised.listeners")
    if not external:
        first = values.number("nodeport.firstListenerPort")
        external = f"EXTERNAL://${{HOST_IP}}:{'${port}' if first is None else first + number}"
    own = f"PLAINTEXT://{name}-{number}.{name}-headless.{_NAMESPACE}:9092"
    places = ("nodeport.firstListenerPort", "nodeport", "brokers")
    line = values.line(*places)
    listed = values.entries("configurationOverrides").get("advertised.listeners")
    yield Property("KAFKA_BROKER_ID", str(number), values.line("brokers"))
    yield Property("KAFKA_ADVERTISED_LISTENERS", f"{own},{external}", yaml_nodes.line(listed) if listed is not None else line)


_LISTENERS = frozenset({"client", "interbroker", "controller", "external"})
_OF_LISTENERS = frozenset({"advertisedListeners", "extraListeners", "overrideListeners", "securityProtocolMap"})
_PARTS = frozenset({"broker", "controller", "externalAccess", "listeners", "sasl"})
_OF_BITNAMI = frozenset(
    {"brokerRackAwareness", "existingKraftSecret", "interBrokerProtocolVersion", "kraftVersion", "overrideConfiguration"}
)
_OF_BROKERS = ("cp-kafka", "cp-server", "cp-enterprise-kafka")
_SUBCHART = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,52}")  # its name or alias


def described_values(root: YamlMapping, line: int) -> Sequence[Described] | None:
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


def _of_subcharts(root: YamlMapping) -> Sequence[Described] | None:
    """Return the brokers of the charts that a chart depends on, whose values are below their name or alias."""
    found: list[Described] | None = None
    for key, node in root.items():
        own = yaml_nodes.mapping(node)
        if _SUBCHART.fullmatch(key) and "kind" not in own and own.text("enabled") != "false":
            of_chart = _of_chart(own, yaml_nodes.line(node), key)
            found = found if of_chart is None else [*(found or ()), *of_chart]
    return found


def _of_chart(root: YamlMapping, line: int, subchart: str) -> Sequence[Described] | None:
    if bitnami_before_32.is_old(root, subchart) or (_is_bitnamis(root) and any(key in root for key in bitnami_values.OLDER)):
        old = bitnami_before_32.described_old_values(root, line, subchart)
        if old.properties:
            return (old,)
        if "auth" in root:
            text = (
                "not judged: auth of Bitnami's chart before 24; since then `listeners` have protocols, SASL_PLAINTEXT by default"
            )
            raise PropertiesError(root.line("auth"), text)
    if _is_bitnamis(root):
        return tuple(bitnami_values.bitnami_nodes(root, line, subchart=subchart))
    return tuple(_confluent(root, line, subchart)) if "cp-kafka" in root or "configurationOverrides" in root else None


def _is_bitnamis(root: YamlMapping) -> bool:
    parts, listeners = _PARTS & root.keys(), root.mapping("listeners").keys()
    image = root.text("image", "repository") or ""
    if parts and (not _OF_BITNAMI.isdisjoint(root) or not _OF_LISTENERS.isdisjoint(listeners) or f"/{image}".endswith("/kafka")):
        return True
    if "broker" in parts or "controller" in parts:
        return "process.roles" in root.mapping("config") or not _LISTENERS.isdisjoint(listeners)
    return len(parts) > 1 and not _LISTENERS.isdisjoint(listeners)


def _confluent(root: YamlMapping, line: int, subchart: str) -> Iterator[Described]:
    prefix = f"{subchart}." if subchart else ""
    parts = root.mapping("cp-kafka")
    if parts:
        if parts.text("enabled") != "false":
            yield from confluent_nodes(parts, line, prefix=f"{prefix}cp-kafka.")
        return
    image = root.text("image") or ""
    if "brokers" in root or image.endswith(_OF_BROKERS):
        yield from confluent_nodes(root, line, prefix=prefix)
    elif not image and not subchart:
        text = "not judged: configurationOverrides without brokers; lint reads the values of Confluent's chart cp-kafka"
        raise PropertiesError(root.line("configurationOverrides"), text)
