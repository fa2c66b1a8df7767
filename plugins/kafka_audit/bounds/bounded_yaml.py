"""Untrusted YAML: limits of depth and size; aliases count with their content. Pure."""

from collections.abc import Iterator

import yaml

from kafka_audit.model.errors import AuditError
from kafka_audit.model.package_yaml import LOADER

DEEPEST = 60
"""Levels of nesting; libyaml's composer ends the process where they are thousands."""

MOST_NODES = 500_000
"""Values, keys and collections: 4 MB of rendered manifests have 300,000."""


class YamlLimitError(AuditError):
    """A text is deeper or larger than any that people write; `line` is where, counted from 1."""

    def __init__(self, line: int, message: str) -> None:
        """Keep the line."""
        super().__init__(message)
        self.line = line


def refuse_events(text: str) -> None:
    """Raise YamlLimitError where a text is nested too deep or holds too much, before it is composed.

    Raises:
        yaml.YAMLError: it is no YAML.
    """
    depth = nodes = 0
    for event in yaml.parse(text, Loader=LOADER):
        if isinstance(event, yaml.NodeEvent):
            nodes += 1
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > DEEPEST or nodes > MOST_NODES:
            line = event.start_mark.line + 1 if event.start_mark else 1
            raise YamlLimitError(line, "is nested too deeply" if depth > DEEPEST else f"contains more than {MOST_NODES} values")


def refuse_aliases(root: yaml.Node | None, *, merges_once: bool = False) -> None:
    """Raise YamlLimitError if the aliases of a document expand to too much; a few lists of lists make billions.

    Args:
        root: the document.
        merges_once: whether what is merged (`<<`) twice into the same mapping is held once by the reader.
    """
    sizes: dict[int, int] = {}

    def size(node: yaml.Node) -> int:
        if id(node) in sizes:
            return sizes[id(node)]
        sizes[id(node)] = 0  # one that holds itself is counted once here
        nodes = 1 + sum(size(child) for child in _children(node, merges_once=merges_once))
        if nodes > MOST_NODES:
            raise YamlLimitError(node.start_mark.line + 1, f"has aliases that expand to more than {MOST_NODES} values")
        sizes[id(node)] = nodes
        return nodes

    if root is not None:
        size(root)


def _children(node: yaml.Node, *, merges_once: bool) -> Iterator[yaml.Node]:
    if isinstance(node, yaml.SequenceNode):
        yield from node.value
    elif isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            yield key
            if merges_once and isinstance(key, yaml.ScalarNode) and key.value == "<<" and isinstance(value, yaml.SequenceNode):
                yield from {id(source): source for source in value.value}.values()
            else:
                yield value
