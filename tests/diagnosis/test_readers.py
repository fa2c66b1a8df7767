"""Who reads probes and views of edges itself, instead of asking edges and diagnoses what they show."""

import ast
from collections import defaultdict
from pathlib import Path

import kafka_audit
from checks.cases import case_files, exception

OBSERVED = frozenset(
    [
        *("claims_of", "disagreement", "held_views", "held_views_before", "identities", "listed"),
        *("probes", "probes_of", "views_of"),
    ]
)
"""What a `ClusterView` has of probes and views as they were observed."""
ROWS = frozenset({"BrokerIdentity", "BrokerView", "ControllerProbe", "ControllerProbeFromBroker", "Probe", "ViewBroker"})
"""Tables of such observations."""
FOLDERS = ("airflow", "alerting", "audit", "checks", "job", "lint", "migration", "report", "what_if")
"""Rooms that read the diagnosis; `incidents` has a list of its own, with what it reads besides."""

LEFT = {
    # Facts of an address or a party, and no answer to who reaches whom.
    "migration/quorum/planned_steps.py": {"BrokerView"},  # which addresses answered: commands are printed with one
    "report/parties/views.py": {"BrokerView", "listed"},
    "what_if/losses.py": {"held_views"},
}
"""The modules that still read observations. This list only gets shorter: a module that no longer does is removed from it.

Checks have theirs in their case files: `exceptions: observes:`, with what else they learn from them."""


def observed(tree):
    """Yield what is read of `view`, `…._view` or `….view`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and getattr(node.value, "attr", getattr(node.value, "id", "")) in {"view", "_view"}:
            if node.attr in OBSERVED:
                yield node.attr
        elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") in {"newest", "before", "earlier", "of"} and node.args:
            table = node.args[0]
            if isinstance(table, ast.Name) and table.id in ROWS:
                yield table.id


def test_no_other_module_reads_observations_of_edges():
    root = Path(kafka_audit.__file__).parent
    found = defaultdict(set)
    for path in sorted(path for folder in FOLDERS for path in (root / folder).rglob("*.py")):
        for name in observed(ast.parse(path.read_text())):
            found[path.relative_to(root).as_posix()].add(name)
    excepted = {
        f"checks/{path.parent.name}/{path.stem}.py": exception(code, "observes") for code, (path, _) in case_files().items()
    }
    assert dict(found) == LEFT | {module: set(names) for module, names in excepted.items() if names}


def test_the_rule_finds_what_it_forbids():
    assert set(observed(ast.parse("self._view.probes_of(broker, listener); view.newest(Probe)"))) == {"probes_of", "Probe"}
    assert list(observed(ast.parse("view.endpoints.of(broker); view.newest(LogLine); facts.edges.into(broker)"))) == []
