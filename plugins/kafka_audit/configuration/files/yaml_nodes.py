"""Nodes of composed YAML, read without making objects of them: values are the texts of the file. Pure."""

from collections.abc import Sequence

import yaml

_NULL = "tag:yaml.org,2002:null"


def mapping(node: yaml.Node | None) -> dict[str, yaml.Node]:
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
        for source in (node for value in sources for node in (items(value) or [value])):
            if isinstance(source, yaml.MappingNode):
                merged, written = mapping(source), {key.value for key, _ in own}
                found = merged | found
                own = [*((key, value) for key, value in source.value if key.value not in written), *own]
        node.value = own
    return found


def items(node: yaml.Node | None) -> list[yaml.Node]:
    """Return the items of a sequence, none for anything else."""
    return list(node.value) if isinstance(node, yaml.SequenceNode) else []


def text(node: yaml.Node | None) -> str | None:
    """Return a scalar as it is written, None for null and for anything else."""
    return str(node.value) if isinstance(node, yaml.ScalarNode) and node.tag != _NULL else None


def scalar(value: str, mark: yaml.Mark | None) -> yaml.ScalarNode:
    """Return a text as if it stood at a place."""
    return yaml.ScalarNode("tag:yaml.org,2002:str", value, mark)


def mapping_of(pairs: Sequence[tuple[yaml.Node, yaml.Node]], mark: yaml.Mark | None) -> yaml.MappingNode:
    """Return a mapping as if it stood at a place."""
    return yaml.MappingNode("tag:yaml.org,2002:map", [*pairs], mark)


def moved(node: yaml.Node, mark: yaml.Mark | None) -> yaml.Node:
    """Return a node of another file, of which a mark of this file is the place from now on."""
    node.start_mark = mark
    for part in node.value if isinstance(node, yaml.CollectionNode) else ():
        for inner in part if isinstance(part, tuple) else (part,):
            moved(inner, mark)
    return node


def line(node: yaml.Node) -> int:
    """Return the line at which a node begins, from 1."""
    return int(node.start_mark.line) + 1
