"""StatefulSets that Bitnami's chart of Kafka renders: the pods that share the text of a ConfigMap. Pure.

Their init container copies the text and fills in the id, the address and passwords of its pod: `_init_containers.tpl` of
bitnami/charts, version 32.4.4 of the chart.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from kafka_audit.configuration.files import setting_names
from kafka_audit.configuration.files.described import ADVERTISED_BY_BITNAMI, Described, is_placeholder
from kafka_audit.configuration.files.java import PropertiesError, Property
from kafka_audit.configuration.files.yaml_nodes import YamlMapping

_MOST_PODS = 1_000
_MOST_DIGITS = 9


@dataclass(frozen=True, kw_only=True)
class ConfigText:
    """An entry of a ConfigMap with the properties of a broker."""

    namespace: str
    name: str
    broker: Described


@dataclass(frozen=True, kw_only=True)
class BitnamiPods:
    """A StatefulSet of the chart; `lowest_id` is the id of its first pod."""

    namespace: str
    texts: frozenset[str]  # ConfigMaps that it mounts
    replicas: int
    lowest_id: int
    image: str | None
    host: str  # of a pod, with its number for `{}`
    external: str  # the name of the listener for clients outside, "" without one
    containers: tuple[Described, ...]  # brokers by their variables alone, of which the chart sets few

    def pods(self, text: ConfigText) -> Iterator[Described]:
        """Yield the pods with a text."""
        for number in range(self.replicas):
            properties = {**text.broker.properties}
            if roles := properties.get("process.roles"):
                properties["node.id"] = Property("node.id", str(self.lowest_id + number), roles.line)
            if (advertised := properties.get("advertised.listeners")) and ADVERTISED_BY_BITNAMI in advertised.value:
                value = advertised.value.replace(ADVERTISED_BY_BITNAMI, self.host.replace("{}", str(number)))
                value += f",{self.external}://${{external}}:${{port}}" if self.external else ""
                properties["advertised.listeners"] = Property("advertised.listeners", value, advertised.line)
            hidden = frozenset(setting.key for setting in properties.values() if is_placeholder(setting.value))
            inside = f"{text.broker.inside}, pod {number}" if self.replicas > 1 else text.broker.inside
            names = setting_names.of_bitnami()
            yield replace(
                text.broker, properties=properties, unknown=hidden, inside=inside, image=self.image, names=names, replicas=1
            )


def bitnami_pods(root: YamlMapping, name: str, containers: tuple[Described, ...]) -> BitnamiPods | None:
    """Return a StatefulSet of the chart, None for any other workload.

    Args:
        root: its document.
        name: its name.
        containers: the brokers of its containers by their variables.
    """
    spec = root.mapping("spec")
    pod = spec.mapping("template", "spec")
    variables = _init_variables(pod)
    lowest, replicas = variables.get("KAFKA_MIN_ID", ""), spec.text("replicas") or "1"
    if not _is_number(lowest) or not _is_number(replicas):
        return None
    if int(replicas) > _MOST_PODS:
        raise PropertiesError(spec.line("replicas"), f"describes more than {_MOST_PODS} nodes")
    namespace = root.text("metadata", "namespace") or ""
    role = name.rpartition("-")[2]
    service = f"{variables.get('KAFKA_FULLNAME') or name.rpartition('-')[0]}-{role}-headless"
    domain = f"{namespace or 'default'}.svc.{variables.get('CLUSTER_DOMAIN') or 'cluster.local'}"
    maps = [volume.text("configMap", "name") for volume in pod.mappings("volumes")]
    image = next((body.text("image") for body in pod.mappings("containers") if body.text("name") == "kafka"), None)
    return BitnamiPods(
        namespace=namespace,
        texts=frozenset(text for text in maps if text),
        replicas=int(replicas),
        lowest_id=int(lowest),
        image=image,
        host=f"{name}-{{}}.{service}.{domain}",
        external=variables.get("EXTERNAL_ACCESS_LISTENER_NAME", ""),
        containers=containers,
    )


def _init_variables(pod: YamlMapping) -> dict[str, str]:
    entries = [entry for container in pod.mappings("initContainers") for entry in container.mappings("env")]
    return {entry.text("name") or "": entry.text("value") or "" for entry in entries}


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS
