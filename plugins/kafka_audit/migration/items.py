"""One line of the report of the gate, and under which heading it goes."""

from dataclasses import dataclass, field
from typing import NamedTuple


@dataclass(frozen=True, kw_only=True)
class GateItem:
    """One line. `source`: audit, gate, `proposed <path>`, `proposed addresses` or `vantage <name>`."""

    source: str
    code: str
    resource: str
    message: str
    remedy: str = ""


class HeadedItem(NamedTuple):
    """A line with the name of its heading in `GateItems`."""

    heading: str
    item: GateItem


@dataclass(frozen=True, kw_only=True)
class GateItems:
    """Blockers, warnings, unknown items, and notes for after the change."""

    blockers: list[GateItem] = field(default_factory=list)
    warnings: list[GateItem] = field(default_factory=list)
    not_known: list[GateItem] = field(default_factory=list)
    information: list[GateItem] = field(default_factory=list)

    def add(self, headed: HeadedItem) -> None:
        """Put a line under its heading."""
        getattr(self, headed.heading).append(headed.item)
