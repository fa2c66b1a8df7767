"""Kubernetes manifests and compose files: which brokers their texts, variables and resources describe, line by line. Pure.

YAML is composed into nodes, never into objects: a value is the text in the file. Aliases may repeat a node any number
of times, so their content is counted first.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import yaml

from kafka_audit.bounds import bounded_yaml
from kafka_audit.bounds.bounded_yaml import YamlLimitError
from kafka_audit.configuration.files import chart_values, environment, java, setting_names, strimzi, yaml_nodes
from kafka_audit.configuration.files.bitnami_pods import BitnamiPods, ConfigText, bitnami_pods
from kafka_audit.configuration.files.described import Described, described, is_brokers
from kafka_audit.configuration.files.java import PropertiesError, Property
from kafka_audit.configuration.files.strimzi import StrimziResource
from kafka_audit.model.package_yaml import LOADER

_Mapping = Mapping[str, yaml.Node]
_Part = Described | ConfigText | BitnamiPods | StrimziResource
_EXPORT = re.compile(r"\bexport[ \t]+(KAFKA_[A-Z0-9_]{1,200})=([^\s;&|]*)")
_SUM = re.compile(r"\$\(\([^()]*\)\)")
_LONGEST_LABEL = 63
_CONFIGS = re.compile(
    r"/mnt/shared/config|/bitnami/kafka/config(?:/server\.properties)?(?::|/?$)|/opt/[a-z/]{0,100}kafka/config(?:/|:|$)"
)


def parse_manifests(text: str) -> tuple[Described, ...]:
    """Return the brokers of all documents; raises PropertiesError where the text is no YAML."""
    parts: list[_Part] = []
    loader = LOADER(text)
    try:
        bounded_yaml.refuse_events(text)
        while loader.check_node():
            node = loader.get_node()
            bounded_yaml.refuse_aliases(node, merges_once=True)
            parts += _document(node, 0)
        brokers = tuple(_joined(parts))
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
    return brokers


def _joined(parts: Sequence[_Part]) -> Iterator[Described]:
    """Yield the brokers of all documents: pods of Bitnami's chart with the text that they mount, then the nodes of Strimzi."""
    texts = {(part.namespace, part.name) for part in parts if isinstance(part, ConfigText)}
    pods = [part for part in parts if isinstance(part, BitnamiPods)]
    mounted = {(part.namespace, name): part for part in pods for name in part.texts}
    for part in parts:
        if isinstance(part, ConfigText):
            owner = mounted.get((part.namespace, part.name))
            yield from (part.broker,) if owner is None else owner.pods(part)
        elif isinstance(part, BitnamiPods):
            yield from () if any((part.namespace, name) in texts for name in part.texts) else part.containers
        elif isinstance(part, Described):
            yield part
    yield from strimzi.described_nodes([part for part in parts if isinstance(part, StrimziResource)])


def _document(node: yaml.Node | None, depth: int) -> Iterator[_Part]:
    root = yaml_nodes.mapping(node)
    kind, name = (
        yaml_nodes.text(root.get("kind")) or "",
        yaml_nodes.text(yaml_nodes.mapping(root.get("metadata")).get("name")) or "",
    )
    if kind.endswith("List") and depth < bounded_yaml.DEEPEST:
        for item in yaml_nodes.items(root.get("items")):
            yield from _document(item, depth + 1)
    elif node is not None and (resource := strimzi.strimzi_resource(root, yaml_nodes.line(node))) is not None:
        yield resource
    elif node is not None and (of_chart := chart_values.described_values(root, yaml_nodes.line(node))) is not None:
        yield from of_chart
    elif kind in {"ConfigMap", "Secret"}:
        yield from _config_map(root, kind, name)
    else:
        yield from _running(root, node, kind, name)


def _running(root: _Mapping, node: yaml.Node | None, kind: str, name: str) -> Iterator[Described | BitnamiPods]:
    """Yield the brokers of compose services, and of the containers of a workload."""
    if "services" in root:
        services = {service: yaml_nodes.mapping(body) for service, body in yaml_nodes.mapping(root["services"]).items()}
        neighbours = frozenset(services) | {name for body in services.values() for name in _own_names(body)}
        for service, body in services.items():
            own = frozenset() if "network_mode" in body else neighbours
            yield from (replace(described, neighbours=own) for described in _service(body, f"service {service}"))
    elif kind:
        release = _release(_labels(root))
        bodies = [yaml_nodes.mapping(body) for container in _containers(node, set(), 0) for body in yaml_nodes.items(container)]
        brokers = tuple(broker for body in bodies for broker in _container(body, f"{kind} {name}", release))
        pods = bitnami_pods(root, name, brokers) if kind == "StatefulSet" else None
        yield from brokers if pods is None else (pods,)


def _config_map(root: _Mapping, kind: str, name: str) -> Iterator[Described | ConfigText]:
    inside, namespace = f"{kind} {name}", yaml_nodes.text(yaml_nodes.mapping(root.get("metadata")).get("namespace")) or ""
    data = {**yaml_nodes.mapping(root.get("data")), **yaml_nodes.mapping(root.get("stringData"))}
    encoded = kind == "Secret"
    labels = _labels(root)
    release, cluster = _release(labels), labels.get("strimzi.io/cluster", "")
    for key, node in data.items():
        text = yaml_nodes.text(node) or ""
        if "=" not in text or "\n" not in text or (encoded and key not in yaml_nodes.mapping(root.get("stringData"))):
            continue
        found = _properties(text, node)
        if is_brokers(found):
            names = setting_names.of_config_map(place := f"{inside}, {key}", release=release, cluster=cluster)
            yield ConfigText(namespace=namespace, name=name, broker=described(found, place, names))
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
    if not literal:
        return {key: Property(key, setting.value, first) for key, setting in found.items()}
    return {
        key: Property(key, setting.value, first + setting.line, setting.earlier and first + setting.earlier)
        for key, setting in found.items()
    }


def _own_names(body: _Mapping) -> Iterator[str]:
    """Yield the names by which the containers of a network know a compose service, besides its own."""
    for key in ("hostname", "container_name"):
        if (name := yaml_nodes.text(body.get(key))) is not None:
            yield name


def _service(body: _Mapping, inside: str) -> Iterator[Described]:
    """Yield the broker of a compose service; its `$$` is a dollar, its `$NAME` and `${NAME}` are variables of the host."""
    variables, unknown = [], []
    for name, value, line in _assignments(body.get("environment")):
        reported = value or ""
        plain = reported.replace("$$", "")
        if value is None or "$" in plain:
            unknown.append(name)
        variables.append(Property(name, reported if "$" in plain else reported.replace("$$", "$"), line))
    image, elsewhere = yaml_nodes.text(body.get("image")), _first(body, ("env_file", "extends")) or _mounted(body)
    described = environment.described_broker(variables, inside=inside, image=image, unknown=unknown, elsewhere=elsewhere)
    if described is not None:
        yield described


def _mounted(body: _Mapping) -> Property | None:
    """Return `volumes` if one of them may be the server.properties to which the image adds the variables."""
    for item in yaml_nodes.items(body.get("volumes")):
        target = yaml_nodes.text(item) or yaml_nodes.text(yaml_nodes.mapping(item).get("target")) or ""
        if _CONFIGS.search(target):
            return Property("volumes", "", yaml_nodes.line(item))
    return None


def _first(body: _Mapping, keys: Sequence[str]) -> Property | None:
    """Return the first of some keys that is set, with its line."""
    return next((Property(key, "", yaml_nodes.line(body[key])) for key in keys if key in body), None)


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
    image, elsewhere = yaml_nodes.text(body.get("image")), _first(body, ("envFrom",))
    described = environment.described_broker(
        variables, inside=where, image=image, unknown=unknown, release=release, elsewhere=elsewhere
    )
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
