"""Whole clusters, judged by every check and told as incidents: `pictures.yml`, and the cases of checks that name some."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from checks.cases import HERE, case_files, cases, demand_case, parsed
from checks.test_cases import findings_of
from checks.world import World
from kafka_audit.checks.run import judge
from kafka_audit.cluster.view import ClusterView
from kafka_audit.incidents.causes import incidents
from kafka_audit.model.finding import Incident

FILE = HERE.parent / "incidents" / "cases" / "pictures.yml"


@dataclass(frozen=True, kw_only=True)
class Picture:
    """A case that names the incidents of its cluster; `code` is that of the check whose case it is, empty without one."""

    path: Path
    case: str
    code: str
    world: World
    expected: Sequence[dict[str, Any]]


@cache
def pictures() -> dict[str, Picture]:
    """Return all of them by name."""
    raw = parsed(FILE)
    for name, case in raw["cases"].items():
        demand_case(f"{FILE.name}: {name}", {"world": raw["world"]} | case)
    found = {
        name: Picture(path=FILE, case=name, code="", world={"world": raw["world"]} | case, expected=case["incidents"])
        for name, case in raw["cases"].items()
    }
    for code, (path, _) in case_files().items():
        for name, case in cases(code).items():
            if "incidents" in case:
                found[f"{code}-{name}"] = Picture(path=path, case=name, code=code, world=case, expected=case["incidents"])
    return found


def incidents_of(view: ClusterView) -> tuple[Incident, ...]:
    """Return the incidents of a cluster that every check judged."""
    return incidents(view, findings_of(view, judge(view)), ())
