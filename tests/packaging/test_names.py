"""A reader who searches for the name of a class finds one definition."""

import ast
from collections import defaultdict
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "plugins" / "kafka_audit"


def test_no_two_classes_share_a_name():
    """With an underscore or without: `_Row` beside `Row` is found twice as well."""
    found = defaultdict(list)
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                found[node.name.lstrip("_")].append(f"{path.relative_to(PACKAGE)}: {node.name}")
    assert len(found) > 100
    assert {name: places for name, places in found.items() if len(places) > 1} == {}
