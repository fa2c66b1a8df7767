"""Values of Bitnami's chart of Kafka before 32: settings in camel case, and texts with settings. Pure.

What its templates of that time add is not known, so these values are judged by what they say themselves.
"""

import re
from collections.abc import Mapping
from dataclasses import replace

from kafka_audit.configuration.definitions import definitions
from kafka_audit.configuration.files import environment, java, setting_names, yaml_nodes
from kafka_audit.configuration.files.described import Described, described
from kafka_audit.configuration.files.java import Property
from kafka_audit.configuration.files.values_tree import Values
from kafka_audit.configuration.files.yaml_nodes import YamlMapping
from kafka_audit.model.linted import Remark

_OLD = re.compile(
    r"(?:autoCreateTopics|deleteTopic)Enable|logFlushInterval\w+|logRetention\w+|allowPlaintextListener|interBrokerListenerName"
    r"|offsetsTopicReplicationFactor|transactionStateLog\w+"
)
_RELEASE = "3.3.2"
_BY_OTHER_NAMES = {"maxMessageBytes": "message.max.bytes", "logsDirs": "log.dirs"}
_TEXTS = ("config", "extraConfig", "extraConfigYaml")
_PARTS = frozenset({"replicaCount", "zookeeper", "controller", "broker", "listeners", "externalZookeeper"})
_FACTORS = ("offsets.topic.replication.factor", "transaction.state.log.replication.factor")


def is_old(root: YamlMapping, subchart: str = "") -> bool:
    """Return whether values are those of such a chart."""
    kraft = "enabled" in root.mapping("kraft") and not _PARTS.isdisjoint(root)
    return (
        kraft
        or (subchart == "kafka" and "auth" in root)
        or any(map(_OLD.fullmatch, root))
        or (subchart == "kafka" and {"replicaCount", "zookeeper"} <= root.keys())
    )


def _left(values: Values) -> Mapping[str, Property]:
    """Return the internal factors that the chart has where nothing sets any: 1, and since 24 those of Kafka.

    Source: `values.yaml` and the README of bitnami/charts, bitnami/kafka, up to 23 and from 24 on.
    """
    if any(values.has(path) for path in (*_TEXTS, "existingConfigmap", "extraEnvVars", "extraEnvVarsCM")):
        return {}
    in_zookeeper = values.text("zookeeper.enabled") == "true" or values.text("kraft.enabled") == "false"
    if values.node("controller.replicaCount") is not None and not in_zookeeper:
        line = values.line("controller.replicaCount")
        return {key: Property(key, "3", line) for key in _FACTORS}
    if values.node("replicaCount") is None or values.node("controller") is not None:
        return {}
    return {key: Property(key, "1", values.line("replicaCount")) for key in (*_FACTORS, "default.replication.factor")}


def described_old_values(root: YamlMapping, line: int, subchart: str) -> Described:
    """Return the brokers of these values as one, with their number.

    Args:
        root: the values.
        line: the first line of the document.
        subchart: the name below which they are, "" where they are those of the document.
    """
    values, found = Values(root, {}, line), dict[str, Property]()
    fields = {}
    for field, node in root.items():
        key = _BY_OTHER_NAMES.get(field) or re.sub("[A-Z]", lambda match: f".{match[0].lower()}", field)
        text = ",".join(yaml_nodes.text(item) or "" for item in yaml_nodes.items(node)) or yaml_nodes.text(node)
        if key in definitions(_RELEASE) and text:
            found[key], fields[key] = Property(key, text.removeprefix("_"), yaml_nodes.line(node)), field
    for field in _TEXTS:
        first = values.line(field) if getattr(values.node(field), "style", None) == "|" else values.line(field) - 1
        for key, setting in java.parse_properties((root.text(field) or "").encode()).items():
            found[key] = replace(setting, line=first + setting.line)
    for variable in root.mappings("extraEnvVars"):
        name, value = variable.text("name") or "", variable.text("value")
        if name.startswith("KAFKA_CFG_") and value is not None:
            key = name.removeprefix("KAFKA_CFG_").lower().replace("_", ".")
            found[key] = Property(key, value, variable.line("value"))
    left = _left(values)
    found = {**left, **found}
    counts = [values.number(path) for path in ("controller.replicaCount", "broker.replicaCount", "replicaCount")]
    pods = sum(filter(None, counts))
    below = f"{subchart}." if subchart else ""
    names = setting_names.of_older_bitnami({key: f"{below}{field}" for key, field in fields.items()})
    text = "values of Bitnami's chart before 32: judged by what they say themselves; `helm template` shows all"
    broker = environment.in_part(described(found, f"values of {subchart or 'kafka'}", names))
    remarks = (Remark(line=line, text=text), *broker.remarks)
    key = "default.replication.factor"
    if pods > 1 and found.get(key) is left.get(key, ""):
        text = "each topic has one replica, whose broker alone has it: defaultReplicationFactor is 1 where nothing sets it"
        remarks += (Remark(line=left[key].line, text=text),)
    for part in ("", "controller.", "broker."):
        if values.text(f"{part}persistence.enabled") == "false" and values.text(f"{part}replicaCount") != "0":
            text = "without a claim, the data is deleted with each pod"
            remarks += (Remark(line=values.line(f"{part}persistence.enabled"), text=text),)
    tag = values.text("image.tag")
    image = f"bitnami/kafka:{tag}" if tag else None
    return replace(broker, image=image, replicas=pods, cluster=f"values/{line}" if pods else "", remarks=remarks)
