"""Incidents read findings. What a snapshot holds is judged once, by checks; an incident that judges it again contradicts them."""

import ast
from collections import defaultdict
from pathlib import Path

from kafka_audit import incidents

OBSERVED = frozenset(
    {
        "before",
        "differences",
        "disagreement",
        "earlier",
        "held_views",
        "held_views_before",
        "identities",
        "last_reads",
        "last_reads_earlier",
        "listed",
        "newest",
        "observers",
        "of",
        "probes",
        "probes_of",
        "reads",
        "symptoms",
        "views_of",
    }
)
"""What a `ClusterView` has of probes, views and reads as they were observed; facts such as endpoints are not here."""

LEFT = {
    # Rows that a finding rests on are quoted, or printed commands are filled with them.
    "inputs.py": {"last_reads"},
    "tools.py": {"last_reads", "of"},
    "causes/controller/behind_controllers.py": {"last_reads"},
    "causes/controller/quorum.py": {"last_reads"},
    "causes/controller/registry.py": {"last_reads"},
    "causes/repair.py": {"newest"},
    "causes/security/refused_broker.py": {"last_reads"},
    "causes/storage/dead_disk.py": {"last_reads", "newest"},
    # Judgements that no finding holds yet.
    "causes/unread_sources.py": {"last_reads", "newest", "reads"},
}
"""The modules that still read observations. This list only gets shorter: a module that no longer does is removed from it."""


def observed(tree):
    """Yield what is read of `view` or `….view`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in OBSERVED:
            name = getattr(node.value, "attr", getattr(node.value, "id", ""))
            if name == "view":
                yield node.attr


def test_no_other_module_of_incidents_reads_observations():
    root = Path(incidents.__file__).parent
    found = defaultdict(set)
    for path in sorted(root.rglob("*.py")):
        for name in observed(ast.parse(path.read_text())):
            found[path.relative_to(root).as_posix()].add(name)
    assert dict(found) == LEFT


def test_the_rule_finds_what_it_forbids():
    assert list(observed(ast.parse("case.view.probes_of(2, 'PLAINTEXT')"))) == ["probes_of"]
    assert list(observed(ast.parse("view.newest(BrokerView)"))) == ["newest"]
    assert list(observed(ast.parse("case.view.endpoints.of(broker); case.view.kraft"))) == []
