"""The values of a chart by their paths, with the chart's defaults for those that a file does not set. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import yaml

from kafka_audit.configuration.files import yaml_nodes

_LONGEST = 500
_FALSE = ("", "0", "false", "False", "FALSE")
MOST_NODES = 1_000
"""Nodes of one chart; what a file asks for beyond is refused."""


@dataclass(frozen=True)
class Values:
    """The values of a file; a path is `listeners.client.name`."""

    root: Mapping[str, yaml.Node] = field(repr=False)
    defaults: Mapping[str, str] = field(repr=False)
    first_line: int

    def node(self, path: str) -> yaml.Node | None:
        """Return the value of a path, None where the file has none."""
        *parents, last = path.split(".")
        found = self.root
        for parent in parents:
            found = yaml_nodes.mapping(found.get(parent))
        return found.get(last)

    def text(self, path: str) -> str:
        """Return a scalar; the chart's default if the file does not set it."""
        text = yaml_nodes.text(self.node(path))
        return self.defaults.get(path, "") if text is None else text[:_LONGEST]

    def has(self, path: str) -> bool:
        """Return whether a template takes the value for true."""
        node = self.node(path)
        return bool(node.value) if isinstance(node, yaml.CollectionNode) else self.text(path) not in _FALSE

    def line(self, *paths: str) -> int:
        """Return the line of the first path that the file sets, else the first line of the values."""
        return next((yaml_nodes.line(node) for path in paths if (node := self.node(path)) is not None), self.first_line)

    def entries(self, path: str) -> dict[str, yaml.Node]:
        """Return the entries of a mapping."""
        return yaml_nodes.mapping(self.node(path))

    def number(self, path: str) -> int | None:
        """Return a whole number, None where the value is none, or is larger than any chart needs."""
        text = self.text(path)
        return int(text) if text.isascii() and text.isdigit() and len(text) <= len(str(MOST_NODES * MOST_NODES)) else None
