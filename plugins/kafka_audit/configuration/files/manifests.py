"""Kubernetes manifests and compose files: which brokers their texts and variables describe, line by line. Pure.

YAML is composed into nodes, never into objects: a value is the text in the file. Aliases may repeat a node any number
of times, so their content is counted first.
"""

from collections.abc import Iterator, Mapping

import yaml

from kafka_audit.bounds import bounded_yaml
from kafka_audit.bounds.bounded_yaml import YamlLimitError
from kafka_audit.configuration.files import environment, java
from kafka_audit.configuration.files.described import Described, described, is_brokers
from kafka_audit.configuration.files.java import PropertiesError, Property

_NULL = "tag:yaml.org,2002:null"
_Mapping = Mapping[str, yaml.Node]


def parse_manifests(text: str) -> tuple[Described, ...]:
    """Return the brokers of all documents; raises PropertiesError where the text is no YAML."""
    brokers: list[Described] = []
    loader = bounded_yaml.LOADER(text)
    try:
        bounded_yaml.refuse_events(text)
        while loader.check_node():
            node = loader.get_node()
            bounded_yaml.refuse_aliases(node, merges_once=True)
            brokers += _document(node, 0)
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


def _document(node: yaml.Node | None, depth: int) -> Iterator[Described]:
    root = _mapping(node)
    kind, name = _text(root.get("kind")) or "", _text(_mapping(root.get("metadata")).get("name")) or ""
    if kind.endswith("List") and depth < bounded_yaml.DEEPEST:
        for item in _items(root.get("items")):
            yield from _document(item, depth + 1)
    elif kind in {"ConfigMap", "Secret"}:
        yield from _config_map(root, f"{kind} {name}")
    elif "services" in root:
        for service, body in _mapping(root["services"]).items():
            yield from _service(_mapping(body), f"service {service}")
    elif kind:
        for containers in _containers(node, set(), 0):
            for container in _items(containers):
                yield from _container(_mapping(container), f"{kind} {name}")


def _config_map(root: _Mapping, inside: str) -> Iterator[Described]:
    data = {**_mapping(root.get("data")), **_mapping(root.get("stringData"))}
    encoded = inside.startswith("Secret")
    for key, node in data.items():
        text = _text(node) or ""
        if "=" not in text or "\n" not in text or (encoded and key not in _mapping(root.get("stringData"))):
            continue
        found = _properties(text, node)
        if is_brokers(found):
            yield described(found, f"{inside}, {key}")
    variables = [Property(key, _text(node) or "", _line(node)) for key, node in data.items()]
    broker = environment.described_broker(variables, inside=inside)
    if broker is not None:
        yield broker


def _properties(text: str, node: yaml.Node) -> Mapping[str, Property]:
    """Return the properties of a scalar; where each line of it is a line of the file, with that line."""
    found = java.parse_properties(text.encode())
    first = _line(node)
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
    described = environment.described_broker(variables, inside=inside, image=_text(body.get("image")), unknown=unknown)
    if described is not None:
        yield described


def _assignments(node: yaml.Node | None) -> Iterator[tuple[str, str | None, int]]:
    """Yield name, value and line of compose's `environment`, a mapping or a list; no value: the host's variable."""
    if isinstance(node, yaml.SequenceNode):
        for item in node.value:
            name, equals, value = (_text(item) or "").partition("=")
            yield name, value if equals else None, _line(item)
    else:
        for name, value_node in _mapping(node).items():
            yield name, _text(value_node), _line(value_node)


def _container(body: _Mapping, inside: str) -> Iterator[Described]:
    variables, unknown = [], []
    for item in _items(body.get("env")):
        entry = _mapping(item)
        name, value = _text(entry.get("name")), entry.get("value")
        if name is None:
            continue
        if value is None:
            unknown.append(name)
        variables.append(Property(name, _text(value) or "", _line(value or item)))
    container = _text(body.get("name"))
    where = f"{inside}, container {container}" if container else inside
    described = environment.described_broker(variables, inside=where, image=_text(body.get("image")), unknown=unknown)
    if described is not None:
        yield described


def _containers(node: yaml.Node | None, seen: set[int], depth: int) -> Iterator[yaml.Node]:
    """Yield the `containers` of all pod descriptions: pods, workloads, sets of pods."""
    if node is None or id(node) in seen or depth > bounded_yaml.DEEPEST:
        return
    seen.add(id(node))
    if isinstance(node, yaml.SequenceNode):
        for item in node.value:
            yield from _containers(item, seen, depth + 1)
    for key, value in _mapping(node).items():
        if key == "containers" and isinstance(value, yaml.SequenceNode):
            yield value
        else:
            yield from _containers(value, seen, depth + 1)


def _mapping(node: yaml.Node | None) -> dict[str, yaml.Node]:
    """Return a mapping's values by key, `<<` merged as YAML does: what is written here wins. Empty for anything else.

    What was merged stays in the node: merges of merges cost what they hold, and one that merges itself ends.
    """
    if not isinstance(node, yaml.MappingNode):
        return {}
    own = [(key, value) for key, value in node.value if isinstance(key, yaml.ScalarNode) and key.value != "<<"]
    found = {key.value: value for key, value in own}
    if len(own) < len(node.value):
        sources = [value for key, value in node.value if isinstance(key, yaml.ScalarNode) and key.value == "<<"]
        node.value = own
        for source in (node for value in sources for node in (_items(value) or [value])):
            if isinstance(source, yaml.MappingNode):
                merged, written = _mapping(source), {key.value for key, _ in own}
                found = merged | found
                own = [*((key, value) for key, value in source.value if key.value not in written), *own]
        node.value = own
    return found


def _items(node: yaml.Node | None) -> list[yaml.Node]:
    return list(node.value) if isinstance(node, yaml.SequenceNode) else []


def _text(node: yaml.Node | None) -> str | None:
    """Return a scalar as it is written, None for null and for anything else."""
    return str(node.value) if isinstance(node, yaml.ScalarNode) and node.tag != _NULL else None


def _line(node: yaml.Node) -> int:
    return int(node.start_mark.line) + 1
