"""Writes docs/rooms.md, the map of the package, from its imports: ``python -m testbed.room_map docs``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import grimp

if TYPE_CHECKING:
    from collections.abc import Mapping
    from collections.abc import Set as AbstractSet

PACKAGE = "kafka_audit"
_WIDE = 60
_HEAD = """# Map of the package

Written by `make docs` from the imports of the code. A package imports only what is below it; import-linter refuses the rest. The
table lists what each one imports, without what these imports imply: `cli` imports `model`, by way of all that lies between.
[CONTRIBUTING](../CONTRIBUTING.md#packages) says what each package holds.
"""
Imports = dict[str, frozenset[str]]
"""Packages that each package imports."""


def imports() -> Imports:
    """Return what each package of the code imports directly."""
    graph = grimp.build_graph(PACKAGE, cache_dir=None)
    rooms = {room: name for room in graph.find_children(PACKAGE) if graph.find_children(room) for name in [room.split(".")[1]]}
    return {
        name: frozenset(
            other
            for target, other in rooms.items()
            if target != room and graph.direct_import_exists(importer=room, imported=target, as_packages=True)
        )
        for room, name in sorted(rooms.items())
    }


def reduced(found: Mapping[str, AbstractSet[str]]) -> Imports:
    """Return the imports without those that others imply; there are no cycles."""

    def reached(room: str) -> frozenset[str]:
        return frozenset(found[room]).union(*(reached(other) for other in found[room]))

    return {room: frozenset(near) - frozenset().union(*(reached(other) for other in near)) for room, near in found.items()}


def layers(found: Mapping[str, AbstractSet[str]]) -> list[list[str]]:
    """Return the packages from top to bottom: each is one above the highest that it imports."""

    def height(room: str) -> int:
        return max((height(other) + 1 for other in found[room]), default=0)

    heights = {room: height(room) for room in found}
    return [sorted(room for room in found if heights[room] == height) for height in sorted(set(heights.values()), reverse=True)]


def page(found: Mapping[str, AbstractSet[str]], modules: Mapping[str, int]) -> str:
    """Return the page; `modules` counts those of each package."""
    drawn = "\n".join("   ".join(layer).center(_WIDE).rstrip() for layer in layers(found))
    rows = [
        f"| `{room}` | {modules[room]} | {', '.join(f'`{imported}`' for imported in sorted(reduced(found)[room]))} |"
        for layer in layers(found)
        for room in layer
    ]
    return "\n".join([_HEAD, "```text", drawn, "```", "", "| package | modules | imports |", "|---|---|---|", *rows, ""])


def written() -> str:
    """Return the page of the code as it is."""
    found = imports()
    root = Path(__file__).parents[1] / "plugins" / PACKAGE
    return page(found, {room: sum(path.name != "__init__.py" for path in (root / room).rglob("*.py")) for room in found})


if __name__ == "__main__":
    (Path(sys.argv[1]) / "rooms.md").write_text(written())
