"""A reader who searches for the name of a class or of a public function finds one definition."""

import ast
from collections import defaultdict
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "plugins" / "kafka_audit"

INTERFACES = {
    "answer": "of an engine: `cli.engines` calls it so",
    "main": "what a process runs first: the console script and each module that Python starts by itself",
    "validate": "of a release of Kafka: `configuration.starts` calls the one of the version",
}
"""Functions that several modules have under one name, for one caller that takes any of them."""


def test_no_two_classes_share_a_name():
    """With an underscore or without: `_Row` beside `Row` is found twice as well."""
    found = defaultdict(list)
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                found[node.name.lstrip("_")].append(f"{path.relative_to(PACKAGE)}: {node.name}")
    assert len(found) > 100
    assert {name: places for name, places in found.items() if len(places) > 1} == {}


def test_no_two_modules_have_a_public_function_of_one_name():
    found = defaultdict(list)
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not node.name.startswith("_"):
                found[node.name].append(str(path.relative_to(PACKAGE)))
    assert len(found) > 500
    assert {name: places for name, places in found.items() if len(places) > 1 and name not in INTERFACES} == {}
    assert [name for name in INTERFACES if len(found[name]) < 2] == [], "an interface that one module has is none"
