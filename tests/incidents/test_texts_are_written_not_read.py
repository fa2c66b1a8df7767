"""Incidents and reports read views and typed evidence, and match no patterns in what a check, a cause or Kafka wrote."""

import ast
from pathlib import Path

import kafka_audit

ROOT = Path(kafka_audit.__file__).parent
OWN_DOCUMENTS = frozenset({"doc_page.py", "docs.py", "explain.py", "remedies.py", "symptoms", "tools.py"})
"""Read pages of checks and messages, and the commands in them, which are part of this package."""

ESCAPING = frozenset({"text.py", "markdown.py", "sarif.py", "templating.py"})
"""Look for characters that must be escaped in what they print."""


def test_no_module_matches_patterns():
    """That none takes a written text apart in another way is in `tests/model/test_read_failure.py`."""
    modules = [path for room in ("incidents", "report") for path in (ROOT / room).rglob("*.py")]
    assert len(modules) > 60
    found = [
        path.relative_to(ROOT).as_posix()
        for path in modules
        if not {path.name, path.parent.name} & (OWN_DOCUMENTS | ESCAPING)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Import) and {"re", "re2"} & {alias.name for alias in node.names}
    ]
    assert found == []
