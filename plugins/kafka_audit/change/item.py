"""One line of the report of the gate, and under which heading it goes."""

from dataclasses import dataclass, field
from typing import NamedTuple


@dataclass(frozen=True, kw_only=True)
class Item:
    """One line. `source`: audit, gate, `proposed <path>`, `proposed addresses` or `vantage <name>`."""

    source: str
    code: str
    resource: str
    message: str
    remedy: str = ""


class Weighed(NamedTuple):
    """A line with the name of its heading in `Sorted`."""

    heading: str
    item: Item


@dataclass(frozen=True, kw_only=True)
class Sorted:
    """What speaks against the change, what to know of, what nobody knows, what to keep in mind afterwards."""

    blockers: list[Item] = field(default_factory=list)
    warnings: list[Item] = field(default_factory=list)
    not_known: list[Item] = field(default_factory=list)
    information: list[Item] = field(default_factory=list)

    def add(self, one: Weighed) -> None:
        """Put a line under its heading."""
        getattr(self, one.heading).append(one.item)
