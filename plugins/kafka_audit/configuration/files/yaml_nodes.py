"""YAML, composed into nodes within bounds, and read without making objects of them: values are the texts of the file. Pure."""

from collections.abc import Iterator, Sequence

import yaml

from kafka_audit.bounds import bounded_yaml
from kafka_audit.bounds.bounded_yaml import YamlLimitError
from kafka_audit.configuration.files.java import PropertiesError, Property
from kafka_audit.model.package_yaml import LOADER

_NULL = "tag:yaml.org,2002:null"


class YamlMapping(dict[str, yaml.Node]):
    """The values of a mapping by key. Keys of an argument lead from each mapping to the one below it."""

    def node(self, *keys: str) -> yaml.Node | None:
        """Return a value, None where a key is missing."""
        *above, last = keys
        return (self.mapping(*above) if above else self).get(last)

    def text(self, *keys: str) -> str | None:
        """Return a scalar as it is written, None for null and for anything else."""
        return text(self.node(*keys))

    def mapping(self, *keys: str) -> "YamlMapping":
        """Return a mapping, empty for anything else."""
        return mapping(self.node(*keys))

    def sequence(self, *keys: str) -> list[yaml.Node]:
        """Return the items of a sequence, none for anything else."""
        return items(self.node(*keys))

    def mappings(self, *keys: str) -> list["YamlMapping"]:
        """Return the mappings of a sequence, empty ones for other items."""
        return [mapping(item) for item in self.sequence(*keys)]

    def texts(self, *keys: str) -> list[str]:
        """Return the scalars of a sequence, "" for null and for other items."""
        return [text(item) or "" for item in self.sequence(*keys)]

    def line(self, key: str) -> int:
        """Return the line of a value that is there."""
        return line(self[key])


def mapping(node: yaml.Node | None) -> YamlMapping:
    """Return a mapping's values by key, `<<` merged as YAML does: what is written here wins. Empty for anything else.

    What was merged stays in the node: merges of merges cost what they hold, and one that merges itself ends.
    """
    if not isinstance(node, yaml.MappingNode):
        return YamlMapping()
    own = [(key, value) for key, value in node.value if isinstance(key, yaml.ScalarNode) and key.value != "<<"]
    found = YamlMapping({key.value: value for key, value in own})
    if len(own) < len(node.value):
        sources = [value for key, value in node.value if isinstance(key, yaml.ScalarNode) and key.value == "<<"]
        node.value = own
        for source in (node for value in sources for node in (items(value) or [value])):
            if isinstance(source, yaml.MappingNode):
                merged, written = mapping(source), {key.value for key, _ in own}
                found = YamlMapping(merged | found)
                own = [*((key, value) for key, value in source.value if key.value not in written), *own]
        node.value = own
    return found


def items(node: yaml.Node | None) -> list[yaml.Node]:
    """Return the items of a sequence, none for anything else."""
    return list(node.value) if isinstance(node, yaml.SequenceNode) else []


def one_or_more(node: yaml.Node) -> list[yaml.Node]:
    """Return the items of a sequence, else the node, where a form lets people write one item without a list."""
    return items(node) or [node]


def text(node: yaml.Node | None) -> str | None:
    """Return a scalar as it is written, None for null and for anything else."""
    return str(node.value) if isinstance(node, yaml.ScalarNode) and node.tag != _NULL else None


def as_property(key: str, node: yaml.Node) -> Property:
    """Return a key with the scalar that is its value, "" for anything else, and its line."""
    return Property(key, text(node) or "", line(node))


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


def composed(text: str) -> list[yaml.Node]:
    """Return the documents of a text, those of lists one by one; raises PropertiesError where it is no YAML."""
    loader = LOADER(text)
    nodes: list[yaml.Node] = []
    try:
        bounded_yaml.refuse_events(text)
        while loader.check_node():
            node = loader.get_node()
            bounded_yaml.refuse_aliases(node, merges_once=True)
            nodes += _documents(node, 0)
    except YamlLimitError as error:
        raise PropertiesError(error.line, str(error)) from error
    except yaml.MarkedYAMLError as error:
        mark = error.context_mark if error.context == "while scanning a simple key" else error.problem_mark
        line = mark.line + 1 if mark else 1
        # YAML's own words quote the file, which may hold a password at that place; `problem` alone does not.
        raise PropertiesError(line, f"not YAML: {error.problem}") from error
    except yaml.reader.ReaderError as error:
        raise PropertiesError(1, "not YAML: it contains a control character") from error
    except RecursionError as error:
        raise PropertiesError(1, "is nested too deeply") from error
    finally:
        loader.dispose()
    return nodes


def _documents(node: yaml.Node | None, depth: int) -> Iterator[yaml.Node]:
    root = mapping(node)
    if (root.text("kind") or "").endswith("List") and depth < bounded_yaml.DEEPEST:
        for item in root.sequence("items"):
            yield from _documents(item, depth + 1)
    elif node is not None:
        yield node
