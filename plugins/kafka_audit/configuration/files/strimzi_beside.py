"""What resources of Strimzi say against each other: topics and users beside the cluster, logins without rights or TLS. Pure.

Source: `ListenersValidator`, `StorageUtils`, `TopicOperator` and `KafkaUserModel` of Strimzi 0.45.
"""

from collections.abc import Iterator, Mapping, Sequence

import yaml

from kafka_audit.configuration.files import yaml_nodes
from kafka_audit.model.linted import Remark

_Mapping = Mapping[str, yaml.Node]
_GROUP, _CLUSTER = "kafka.strimzi.io/", "strimzi.io/cluster"
_LOGINS = frozenset({"tls", "scram-sha-512"})
_MOST = 50


def beside_remarks(roots: Sequence[_Mapping], brokers: Mapping[str, int]) -> Iterator[Remark]:
    """Yield what is wrong with the resources around clusters.

    Args:
        roots: the documents of a file.
        brokers: how many each cluster has, by name, where that is known.
    """
    own = [root for root in roots if (yaml_nodes.text(root.get("apiVersion")) or "").startswith(_GROUP)]
    clusters = {_name(root): root for root in own if yaml_nodes.text(root.get("kind")) == "Kafka"}
    for root in own[:_MOST]:
        kind, spec = yaml_nodes.text(root.get("kind")), yaml_nodes.mapping(root.get("spec"))
        if kind in {"Kafka", "KafkaNodePool"}:
            kafka = yaml_nodes.mapping(spec.get("kafka")) if kind == "Kafka" else spec
            yield from _of_storage(yaml_nodes.mapping(kafka.get("storage")))
            yield from _of_logins(kafka) if kind == "Kafka" else ()
        elif kind in {"KafkaTopic", "KafkaUser"} and clusters:
            yield from _of_operators(root, kind or "", clusters, brokers)


def _name(root: _Mapping) -> str:
    return yaml_nodes.text(yaml_nodes.mapping(root.get("metadata")).get("name")) or ""


def _line(root: _Mapping, *keys: str) -> int:
    """Return the line of the last of some keys, each below the one before, that is there."""
    line = min((yaml_nodes.line(node) for node in root.values()), default=1)
    for key in keys:
        if key in root:
            line, root = yaml_nodes.line(root[key]), yaml_nodes.mapping(root[key])
    return line


def _of_storage(storage: _Mapping) -> Iterator[Remark]:
    for body in [storage, *map(yaml_nodes.mapping, yaml_nodes.items(storage.get("volumes")))]:
        kind = yaml_nodes.text(body.get("type"))
        if kind == "persistent-claim" and "size" not in body:
            yield Remark(line=_line(body, "type"), text="Strimzi refuses a persistent-claim without a size")
        elif kind == "ephemeral":
            yield Remark(line=_line(body, "type"), text="ephemeral storage is deleted with each pod, and the data with it")


def _listeners(kafka: _Mapping) -> Iterator[tuple[str, _Mapping]]:
    """Yield the listeners with their names, of a list, or of a mapping as before Strimzi 0.22."""
    node = kafka.get("listeners")
    for item in map(yaml_nodes.mapping, yaml_nodes.items(node)):
        yield yaml_nodes.text(item.get("name")) or "", item
    yield from ((name, yaml_nodes.mapping(body)) for name, body in yaml_nodes.mapping(node).items())


def _of_logins(kafka: _Mapping) -> Iterator[Remark]:
    kinds = {}
    for name, listener in _listeners(kafka):
        kind = kinds[name] = yaml_nodes.text(yaml_nodes.mapping(listener.get("authentication")).get("type"))
        if kind == "tls" and yaml_nodes.text(listener.get("tls")) == "false":
            yield Remark(
                line=_line(listener, "authentication", "type"),
                text="Strimzi refuses tls authentication of a listener without TLS",
            )
    authorization = yaml_nodes.mapping(kafka.get("authorization"))
    if yaml_nodes.text(authorization.get("type")) != "simple":
        return
    if kinds and not any(kinds.values()):
        text = "clients have no name, and rights need one: no listener has authentication"
        yield Remark(line=_line(authorization, "type"), text=text)
    for user in yaml_nodes.items(authorization.get("superUsers")):
        name = yaml_nodes.text(user) or ""
        if {kind for kind in kinds.values() if kind} == {"tls"} and not name.removeprefix("User:").startswith("CN="):
            text = "the name of a client with a certificate begins with CN=, and this one has none"
            yield Remark(line=yaml_nodes.line(user), text=text)


def _of_operators(root: _Mapping, kind: str, clusters: Mapping[str, _Mapping], brokers: Mapping[str, int]) -> Iterator[Remark]:
    """Yield why the operator does not make a topic or a user, or why no client can log in as that."""
    metadata, spec = yaml_nodes.mapping(root.get("metadata")), yaml_nodes.mapping(root.get("spec"))
    cluster = yaml_nodes.text(yaml_nodes.mapping(metadata.get("labels")).get(_CLUSTER))
    if cluster is None or cluster not in clusters:
        what = f"the label {_CLUSTER} is missing" if cluster is None else f"no cluster of the file has the name {cluster[:60]}"
        if cluster is None or len(clusters) == 1:
            yield Remark(line=_line(root, "metadata", "labels", _CLUSTER), text=f"no operator sees this {kind}: {what}")
        return
    whole = yaml_nodes.mapping(clusters[cluster].get("spec"))
    operator = "topicOperator" if kind == "KafkaTopic" else "userOperator"
    if operator not in yaml_nodes.mapping(whole.get("entityOperator")):
        text = f"nothing makes this {kind}: the cluster has no entityOperator.{operator}"
        yield Remark(line=_line(root, "kind"), text=text)
    replicas = yaml_nodes.text(spec.get("replicas")) or ""
    if kind == "KafkaTopic" and replicas.isdecimal() and 0 < brokers.get(cluster, 0) < int(replicas[:6]):
        text = f"the topic is not created: it is to have {replicas[:6]} replicas, and brokers are {brokers[cluster]}"
        yield Remark(line=_line(spec, "replicas"), text=text)
    rights = yaml_nodes.text(yaml_nodes.mapping(spec.get("authorization")).get("type"))
    kafka = yaml_nodes.mapping(whole.get("kafka"))
    if kind == "KafkaUser" and rights == "simple" and "authorization" not in kafka:
        text = "the operator refuses rights of a user, because the cluster has no spec.kafka.authorization"
        yield Remark(line=_line(spec, "authorization", "type"), text=text)
    login = yaml_nodes.text(yaml_nodes.mapping(spec.get("authentication")).get("type"))
    offered = {yaml_nodes.text(yaml_nodes.mapping(one.get("authentication")).get("type")) for _, one in _listeners(kafka)}
    if kind == "KafkaUser" and login in _LOGINS and login not in offered and "custom" not in offered:
        text = f"no client can log in so: no listener of the cluster has authentication {login}"
        yield Remark(line=_line(spec, "authentication", "type"), text=text)
