"""Values of Confluent's chart cp-kafka: the variables that its containers get. Pure.

Source: `charts/cp-kafka/templates` of confluentinc/cp-helm-charts 0.6.1, whose last release was in 2023.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace

import yaml

from kafka_audit.configuration.files import environment, setting_names, yaml_nodes
from kafka_audit.configuration.files.described import Described
from kafka_audit.configuration.files.java import PropertiesError, Property
from kafka_audit.configuration.files.values_tree import MOST_NODES, Values
from kafka_audit.model.linted import Remark

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


def confluent_nodes(own: Mapping[str, yaml.Node], line: int, *, prefix: str = "") -> Iterator[Described]:
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
        described = environment.described_broker(variables, inside=inside, image=image)
        if described is not None:
            yield replace(
                described,
                names=setting_names.of_confluent(prefix),
                cluster=f"cp-kafka/{line}",
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
        yield Property(name, yaml_nodes.text(node) or "", yaml_nodes.line(node))


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
    external = yaml_nodes.text(values.entries("configurationOverrides").get("advertised.listeners"))
    if not external:
        first = values.number("nodeport.firstListenerPort")
        external = f"EXTERNAL://${{HOST_IP}}:{'${port}' if first is None else first + number}"
    own = f"PLAINTEXT://{name}-{number}.{name}-headless.{_NAMESPACE}:9092"
    places = ("nodeport.firstListenerPort", "nodeport", "brokers")
    line = values.line(*places)
    listed = values.entries("configurationOverrides").get("advertised.listeners")
    yield Property("KAFKA_BROKER_ID", str(number), values.line("brokers"))
    yield Property("KAFKA_ADVERTISED_LISTENERS", f"{own},{external}", yaml_nodes.line(listed) if listed is not None else line)
