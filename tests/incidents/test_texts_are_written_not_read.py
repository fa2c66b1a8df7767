"""Incidents and reports read views and typed evidence; no text that a check, a cause or Kafka wrote is taken apart again."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import kafka_audit

ROOT = Path(kafka_audit.__file__).parent
ROOMS = ("airflow", "alerting", "checks", "incidents", "lint", "migration", "report")
MODULES = sorted(path for room in ROOMS for path in (ROOT / room).rglob("*.py"))
TELLING = sorted(path for room in ("incidents", "report") for path in (ROOT / room).rglob("*.py"))
WRITTEN = frozenset({"message", "headline", "evidence", "remediation", "summary", "last_known", "needs", "kafka_says"})
TAKES_APART = frozenset(
    {"split", "rsplit", "partition", "rpartition", "removeprefix", "removesuffix", "startswith", "endswith", "find", "index"}
)
OWN_DOCUMENTS = frozenset({"doc_page.py", "docs.py", "explain.py", "remedies.py", "tools.py"})
"""Read the pages of checks and the commands in them, which are part of this package."""

ESCAPING = frozenset({"text.py", "markdown.py", "sarif.py", "templating.py"})
"""Look for characters that must be escaped in what they print."""


def names(node: ast.AST) -> Iterator[str]:
    """Yield attributes and keys that an expression reads: `finding.message`, `finding["message"]`."""
    for part in ast.walk(node):
        if isinstance(part, ast.Attribute):
            yield part.attr
        elif isinstance(part, ast.Subscript) and isinstance(part.slice, ast.Constant):
            yield str(part.slice.value)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_module_takes_a_written_text_apart(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in TAKES_APART:
            assert not WRITTEN & set(names(node.func.value)), f"{path.name}:{node.lineno}"


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_module_looks_for_words_in_a_written_text(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Compare) and any(isinstance(one, ast.In | ast.NotIn) for one in node.ops):
            (searched,) = node.comparators
            if isinstance(searched, ast.Attribute | ast.Subscript):
                own = searched.attr if isinstance(searched, ast.Attribute) else next(names(searched), "")
                assert own not in WRITTEN - {"evidence"}, f"{path.name}:{node.lineno}"


@pytest.mark.parametrize(
    "path",
    [path for path in TELLING if path.name not in OWN_DOCUMENTS | ESCAPING],
    ids=lambda path: str(path.relative_to(ROOT)),
)
def test_no_module_matches_patterns(path):
    imported = {
        alias.name for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Import) for alias in node.names
    }
    assert not {"re", "re2"} & imported
