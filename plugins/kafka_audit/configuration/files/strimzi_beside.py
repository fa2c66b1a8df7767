"""What resources of Strimzi say against each other: topics and users beside the cluster, logins without rights or TLS. Pure.

Source: `ListenersValidator`, `StorageUtils`, `TopicOperator` and `KafkaUserModel` of Strimzi 0.45.
"""

from collections.abc import Iterator, Mapping, Sequence

from kafka_audit.configuration.files import strimzi_listeners, yaml_nodes
from kafka_audit.configuration.files.yaml_nodes import YamlMapping
from kafka_audit.model.linted import Remark

_GROUP, _CLUSTER = "kafka.strimzi.io/", "strimzi.io/cluster"
_LOGINS = frozenset({"tls", "scram-sha-512"})
_MOST = 50


def beside_remarks(roots: Sequence[YamlMapping], brokers: Mapping[str, int]) -> Iterator[Remark]:
    """Yield what is wrong with the resources around clusters.

    Args:
        roots: the documents of a file.
        brokers: how many each cluster has, by name, where that is known.
    """
    own = [root for root in roots if (root.text("apiVersion") or "").startswith(_GROUP)]
    clusters = {_name(root): root for root in own if root.text("kind") == "Kafka"}
    for root in own[:_MOST]:
        kind, spec = root.text("kind"), root.mapping("spec")
        if kind in {"Kafka", "KafkaNodePool"}:
            kafka = spec.mapping("kafka") if kind == "Kafka" else spec
            yield from _of_storage(kafka.mapping("storage"))
            yield from _of_logins(kafka) if kind == "Kafka" else ()
        elif kind in {"KafkaTopic", "KafkaUser"} and clusters:
            yield from _of_operators(root, kind or "", clusters, brokers)


def _name(root: YamlMapping) -> str:
    return root.text("metadata", "name") or ""


def _line(root: YamlMapping, *keys: str) -> int:
    """Return the line of the last of some keys, each below the one before, that is there."""
    line = min((yaml_nodes.line(node) for node in root.values()), default=1)
    for key in keys:
        if key in root:
            line, root = root.line(key), yaml_nodes.mapping(root[key])
    return line


def _of_storage(storage: YamlMapping) -> Iterator[Remark]:
    for body in [storage, *storage.mappings("volumes")]:
        kind = body.text("type")
        if kind == "persistent-claim" and "size" not in body:
            yield Remark(line=_line(body, "type"), text="Strimzi refuses a persistent-claim without a size")
        elif kind == "ephemeral":
            yield Remark(line=_line(body, "type"), text="ephemeral storage is deleted with each pod, and the data with it")


def _of_logins(kafka: YamlMapping) -> Iterator[Remark]:
    kinds = {}
    for listener in map(yaml_nodes.mapping, strimzi_listeners.listeners_of(kafka)):
        kind = kinds[listener.text("name")] = listener.text("authentication", "type")
        if kind == "tls" and listener.text("tls") == "false":
            text = "Strimzi refuses tls authentication of a listener without TLS"
            yield Remark(line=_line(listener, "authentication", "type"), text=text)
    authorization = kafka.mapping("authorization")
    if authorization.text("type") != "simple":
        return
    for user in authorization.sequence("superUsers"):
        name = yaml_nodes.text(user) or ""
        certified, used = name.removeprefix("User:").startswith("CN="), {kind for kind in kinds.values() if kind}
        if used == {"tls"} and not certified:
            text = "the name of a client with a certificate begins with CN=, and this one has none"
            yield Remark(line=yaml_nodes.line(user), text=text)
        elif used == {"scram-sha-512"} and certified:
            text = "CN= begins the name of a certificate, and clients log in with scram-sha-512: their names have none"
            yield Remark(line=yaml_nodes.line(user), text=text)


def _of_operators(
    root: YamlMapping, kind: str, clusters: Mapping[str, YamlMapping], brokers: Mapping[str, int]
) -> Iterator[Remark]:
    """Yield why the operator does not make a topic or a user, or why no client can log in as that."""
    metadata, spec = root.mapping("metadata"), root.mapping("spec")
    cluster = metadata.text("labels", _CLUSTER)
    if cluster is None or cluster not in clusters:
        what = f"the label {_CLUSTER} is missing" if cluster is None else f"no cluster of the file has the name {cluster[:60]}"
        if cluster is None or len(clusters) == 1:
            yield Remark(line=_line(root, "metadata", "labels", _CLUSTER), text=f"no operator sees this {kind}: {what}")
        return
    whole = clusters[cluster].mapping("spec")
    operator = "topicOperator" if kind == "KafkaTopic" else "userOperator"
    if operator not in whole.mapping("entityOperator"):
        text = f"nothing makes this {kind}: the cluster has no entityOperator.{operator}"
        yield Remark(line=_line(root, "kind"), text=text)
    replicas = spec.text("replicas") or ""
    if kind == "KafkaTopic" and replicas.isdecimal() and 0 < brokers.get(cluster, 0) < int(replicas[:6]):
        text = f"the topic is not created: it is to have {replicas[:6]} replicas, and brokers are {brokers[cluster]}"
        yield Remark(line=_line(spec, "replicas"), text=text)
    rights = spec.text("authorization", "type")
    kafka = whole.mapping("kafka")
    if kind == "KafkaUser" and rights == "simple" and "authorization" not in kafka:
        text = "the operator refuses rights of a user, because the cluster has no spec.kafka.authorization"
        yield Remark(line=_line(spec, "authorization", "type"), text=text)
    login = spec.text("authentication", "type")
    offered = {yaml_nodes.mapping(one).text("authentication", "type") for one in strimzi_listeners.listeners_of(kafka)}
    if kind == "KafkaUser" and login in _LOGINS and login not in offered and "custom" not in offered:
        text = f"no client can log in so: no listener of the cluster has authentication {login}"
        yield Remark(line=_line(spec, "authentication", "type"), text=text)
