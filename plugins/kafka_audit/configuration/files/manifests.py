"""Kubernetes manifests and compose files: which brokers their texts, variables and resources describe, line by line. Pure.

YAML is composed into nodes, never into objects: a value is the text in the file. Aliases may repeat a node any number
of times, so their content is counted first.
"""

import re
from collections.abc import Iterator, Mapping

import yaml

from kafka_audit.bounds import bounded_yaml
from kafka_audit.bounds.bounded_yaml import YamlLimitError
from kafka_audit.configuration.files import environment, java, setting_names, strimzi, yaml_nodes
from kafka_audit.configuration.files.described import Described, described, is_brokers
from kafka_audit.configuration.files.java import PropertiesError, Property
from kafka_audit.configuration.files.strimzi import StrimziResource

_Mapping = Mapping[str, yaml.Node]
_EXPORT = re.compile(r"\bexport[ \t]+(KAFKA_[A-Z0-9_]{1,200})=([^\s;&|]*)")
_SUM = re.compile(r"\$\(\([^()]*\)\)")
_LONGEST_LABEL = 63
_OF_BITNAMI = frozenset({"client", "interbroker", "controller", "external"})


def parse_manifests(text: str) -> tuple[Described, ...]:
    """Return the brokers of all documents; raises PropertiesError where the text is no YAML."""
    brokers: list[Described] = []
    resources: list[StrimziResource] = []
    loader = bounded_yaml.LOADER(text)
    try:
        bounded_yaml.refuse_events(text)
        while loader.check_node():
            node = loader.get_node()
            bounded_yaml.refuse_aliases(node, merges_once=True)
            for found in _document(node, 0):
                if isinstance(found, StrimziResource):
                    resources.append(found)
                else:
                    brokers.append(found)
        brokers += strimzi.described_nodes(resources)
    except YamlLimitError as error:
        raise PropertiesError(error.line, str(error)) from error
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        # YAML's own words quote the file, which may hold a password at that place; `problem` alone does not.
        raise PropertiesError(line, f"not YAML: {error.problem}") from error
    except yaml.reader.ReaderError as error:
        raise PropertiesError(1, "not YAML: it contains a control character") from error
    except RecursionError as error:  # thousands of merges, one in the other
        raise PropertiesError(1, "is nested too deeply") from error
    finally:
        loader.dispose()
    return tuple(brokers)


def _document(node: yaml.Node | None, depth: int) -> Iterator[Described | StrimziResource]:
    root = yaml_nodes.mapping(node)
    kind, name = (
        yaml_nodes.text(root.get("kind")) or "",
        yaml_nodes.text(yaml_nodes.mapping(root.get("metadata")).get("name")) or "",
    )
    if kind.endswith("List") and depth < bounded_yaml.DEEPEST:
        for item in yaml_nodes.items(root.get("items")):
            yield from _document(item, depth + 1)
    elif node is not None and (resource := _resource(root, node)) is not None:
        yield resource
    elif kind in {"ConfigMap", "Secret"}:
        yield from _config_map(root, f"{kind} {name}")
    elif "services" in root:
        for service, body in yaml_nodes.mapping(root["services"]).items():
            yield from _service(yaml_nodes.mapping(body), f"service {service}")
    elif kind:
        for containers in _containers(node, set(), 0):
            for container in yaml_nodes.items(containers):
                yield from _container(yaml_nodes.mapping(container), f"{kind} {name}", _release(_labels(root)))


def _resource(root: _Mapping, node: yaml.Node) -> StrimziResource | None:
    """Return Strimzi's resource, None for anything else; raises PropertiesError for values of charts, which are no settings."""
    chart = None if "kind" in root else _chart(root)
    if chart is not None:
        text = f"not judged: values of {chart}, whose templates decide what the broker gets; lint the output of `helm template`"
        raise PropertiesError(yaml_nodes.line(node), text)
    return strimzi.strimzi_resource(root, yaml_nodes.line(node))


def _chart(root: _Mapping) -> str | None:
    """Return whose chart of Kafka has values like these."""
    named = not _OF_BITNAMI.isdisjoint(yaml_nodes.mapping(root.get("listeners")))
    if "interBrokerListenerName" in root or ("controller" in root and named):
        return "Bitnami's chart"
    if "configurationOverrides" in root or "brokers" in yaml_nodes.mapping(root.get("cp-kafka")):
        return "Confluent's chart"
    return None


def _config_map(root: _Mapping, inside: str) -> Iterator[Described]:
    data = {**yaml_nodes.mapping(root.get("data")), **yaml_nodes.mapping(root.get("stringData"))}
    encoded = inside.startswith("Secret")
    labels = _labels(root)
    release, cluster = _release(labels), labels.get("strimzi.io/cluster", "")
    for key, node in data.items():
        text = yaml_nodes.text(node) or ""
        if "=" not in text or "\n" not in text or (encoded and key not in yaml_nodes.mapping(root.get("stringData"))):
            continue
        found = _properties(text, node)
        if is_brokers(found):
            yield described(
                found, place := f"{inside}, {key}", setting_names.of_config_map(place, release=release, cluster=cluster)
            )
    variables = [Property(key, yaml_nodes.text(node) or "", yaml_nodes.line(node)) for key, node in data.items()]
    broker = environment.described_broker(variables, inside=inside, release=release)
    if broker is not None:
        yield broker


def _labels(root: _Mapping) -> Mapping[str, str]:
    labels = yaml_nodes.mapping(yaml_nodes.mapping(root.get("metadata")).get("labels"))
    return {key: (yaml_nodes.text(value) or "")[:_LONGEST_LABEL] for key, value in labels.items()}


def _release(labels: Mapping[str, str]) -> str:
    """Return the release of Helm that renders a manifest, "" where its labels name none."""
    if "Helm" not in {labels.get("app.kubernetes.io/managed-by"), labels.get("heritage")}:
        return ""
    return f"release {labels.get('app.kubernetes.io/instance') or labels.get('release', '')}".rstrip()


def _properties(text: str, node: yaml.Node) -> Mapping[str, Property]:
    """Return the properties of a scalar; where each line of it is a line of the file, with that line."""
    found = java.parse_properties(text.encode())
    first = yaml_nodes.line(node)
    literal = getattr(node, "style", None) == "|"
    return {key: Property(key, setting.value, first + setting.line if literal else first) for key, setting in found.items()}


def _service(body: _Mapping, inside: str) -> Iterator[Described]:
    """Yield the broker of a compose service; its `$$` is a dollar, its `$NAME` and `${NAME}` are variables of the host."""
    variables, unknown = [], []
    for name, value, line in _assignments(body.get("environment")):
        reported = value or ""
        plain = reported.replace("$$", "")
        if value is None or "$" in plain:
            unknown.append(name)
        variables.append(Property(name, reported if "$" in plain else reported.replace("$$", "$"), line))
    described = environment.described_broker(variables, inside=inside, image=yaml_nodes.text(body.get("image")), unknown=unknown)
    if described is not None:
        yield described


def _assignments(node: yaml.Node | None) -> Iterator[tuple[str, str | None, int]]:
    """Yield name, value and line of compose's `environment`, a mapping or a list; no value: the host's variable."""
    if isinstance(node, yaml.SequenceNode):
        for item in node.value:
            name, equals, value = (yaml_nodes.text(item) or "").partition("=")
            yield name, value if equals else None, yaml_nodes.line(item)
    else:
        for name, value_node in yaml_nodes.mapping(node).items():
            yield name, yaml_nodes.text(value_node), yaml_nodes.line(value_node)


def _container(body: _Mapping, inside: str, release: str) -> Iterator[Described]:
    variables, unknown = [], []
    for item in yaml_nodes.items(body.get("env")):
        entry = yaml_nodes.mapping(item)
        name, value = yaml_nodes.text(entry.get("name")), entry.get("value")
        if name is None:
            continue
        if value is None:
            unknown.append(name)
        variables.append(Property(name, yaml_nodes.text(value) or "", yaml_nodes.line(value or item)))
    for setting in _exported(body):
        variables.append(setting)
        unknown.append(setting.key)
    container = yaml_nodes.text(body.get("name"))
    where = f"{inside}, container {container}" if container else inside
    image = yaml_nodes.text(body.get("image"))
    described = environment.described_broker(variables, inside=where, image=image, unknown=unknown, release=release)
    if described is not None:
        yield described


def _exported(body: _Mapping) -> Iterator[Property]:
    """Yield the variables that a container's command exports before the broker starts; the shell decides their values."""
    for part in (*yaml_nodes.items(body.get("command")), *yaml_nodes.items(body.get("args"))):
        text = yaml_nodes.text(part) or ""
        begin = yaml_nodes.line(part) + (getattr(part, "style", None) == "|")
        for number, row in enumerate(text.split("\n")):
            for match in _EXPORT.finditer(_SUM.sub("${sum}", row)):
                yield Property(match[1], match[2].strip("\"'"), begin + number)


def _containers(node: yaml.Node | None, seen: set[int], depth: int) -> Iterator[yaml.Node]:
    """Yield the `containers` of all pod descriptions: pods, workloads, sets of pods."""
    if node is None or id(node) in seen or depth > bounded_yaml.DEEPEST:
        return
    seen.add(id(node))
    if isinstance(node, yaml.SequenceNode):
        for item in node.value:
            yield from _containers(item, seen, depth + 1)
    for key, value in yaml_nodes.mapping(node).items():
        if key == "containers" and isinstance(value, yaml.SequenceNode):
            yield value
        else:
            yield from _containers(value, seen, depth + 1)
