"""The values of a chart by their paths, with the chart's defaults for those that a file does not set. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import yaml

from kafka_audit.configuration.files import yaml_nodes
from kafka_audit.configuration.files.yaml_nodes import YamlMapping

_LONGEST = 500
_FALSE = ("", "0", "false", "False", "FALSE")
MOST_NODES = 1_000
"""Nodes of one chart; what a file asks for beyond is refused."""


@dataclass(frozen=True)
class Values:
    """The values of a file; a path is `listeners.client.name`."""

    root: YamlMapping = field(repr=False)
    defaults: Mapping[str, str] = field(repr=False)
    first_line: int

    def node(self, path: str) -> yaml.Node | None:
        """Return the value of a path, None where the file has none."""
        return self.root.node(*path.split("."))

    def text(self, path: str) -> str:
        """Return a scalar; the chart's default if the file does not set it."""
        text = self.root.text(*path.split("."))
        return self.defaults.get(path, "") if text is None else text[:_LONGEST]

    def has(self, path: str) -> bool:
        """Return whether a template takes the value for true."""
        node = self.node(path)
        return bool(node.value) if isinstance(node, yaml.CollectionNode) else self.text(path) not in _FALSE

    def line(self, *paths: str) -> int:
        """Return the line of the first path that the file sets, else the first line of the values."""
        return next((yaml_nodes.line(node) for path in paths if (node := self.node(path)) is not None), self.first_line)

    def entries(self, path: str) -> YamlMapping:
        """Return the entries of a mapping."""
        return self.root.mapping(*path.split("."))

    def number(self, path: str) -> int | None:
        """Return a whole number, None where the value is none, or is larger than any chart needs."""
        text = self.text(path)
        return int(text) if text.isascii() and text.isdigit() and len(text) <= len(str(MOST_NODES * MOST_NODES)) else None
