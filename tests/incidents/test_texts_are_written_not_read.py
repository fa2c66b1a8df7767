"""Incidents and reports read views and typed evidence; no text that a check, a cause or Kafka wrote is taken apart again."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import kafka_audit

ROOT = Path(kafka_audit.__file__).parent
ROOMS = ("airflow", "alerting", "checks", "incidents", "lint", "migration", "report")
TELLING = {"incidents", "report"}
WRITTEN = frozenset({"message", "headline", "evidence", "remediation", "summary", "last_known", "needs", "kafka_says"})
TAKES_APART = frozenset(
    {"split", "rsplit", "partition", "rpartition", "removeprefix", "removesuffix", "startswith", "endswith", "find", "index"}
)
OWN_DOCUMENTS = frozenset({"doc_page.py", "docs.py", "explain.py", "remedies.py", "symptoms", "tools.py"})
"""Read pages of checks and messages, and the commands in them, which are part of this package."""

ESCAPING = frozenset({"text.py", "markdown.py", "sarif.py", "templating.py"})
"""Look for characters that must be escaped in what they print."""


def names(node: ast.AST) -> Iterator[str]:
    """Yield attributes and keys that an expression reads: `finding.message`, `finding["message"]`."""
    for part in ast.walk(node):
        if isinstance(part, ast.Attribute):
            yield part.attr
        elif isinstance(part, ast.Subscript) and isinstance(part.slice, ast.Constant):
            yield str(part.slice.value)


@pytest.fixture(scope="module")
def modules():
    """The modules of these rooms by their files."""
    parsed = {path: ast.parse(path.read_text(encoding="utf-8")) for room in ROOMS for path in (ROOT / room).rglob("*.py")}
    assert len(parsed) > 200
    return parsed


def found(modules, faulty):
    """Return where a module has a faulty part."""
    return [
        f"{path.relative_to(ROOT)}:{node.lineno}" for path, tree in modules.items() for node in ast.walk(tree) if faulty(node)
    ]


def test_no_module_takes_a_written_text_apart(modules):
    def takes_apart(node):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in TAKES_APART):
            return False
        return bool(WRITTEN & set(names(node.func.value)))

    assert found(modules, takes_apart) == []


def test_no_module_looks_for_words_in_a_written_text(modules):
    def looks_for_words(node):
        if not (isinstance(node, ast.Compare) and any(isinstance(one, ast.In | ast.NotIn) for one in node.ops)):
            return False
        (searched,) = node.comparators
        if not isinstance(searched, ast.Attribute | ast.Subscript):
            return False
        own = searched.attr if isinstance(searched, ast.Attribute) else next(names(searched), "")
        return own in WRITTEN - {"evidence"}

    assert found(modules, looks_for_words) == []


def test_no_module_matches_patterns(modules):
    def imports_patterns(node):
        return isinstance(node, ast.Import) and bool({"re", "re2"} & {alias.name for alias in node.names})

    telling = {
        path: tree
        for path, tree in modules.items()
        if path.relative_to(ROOT).parts[0] in TELLING and not {path.name, path.parent.name} & (OWN_DOCUMENTS | ESCAPING)
    }
    assert telling
    assert found(telling, imports_patterns) == []
