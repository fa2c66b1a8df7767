"""The cases of `tests/incidents/cases`: clusters in, incidents out. One YAML file a family of causes.

Clusters are in the words of `checks.world`: the `world` of a file is laid over the base, and a case over that, with `now`,
`before` and `previous` as in cases of checks. `mute` is of the cluster file: code and resource of each. Every check judges each
cluster.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from checks.cases import base
from checks.test_cases import findings_of
from checks.words import demand, demand_words
from checks.world import LAYERED, snapshots
from cluster_views import cluster_views
from kafka_audit.checks.run import judge
from kafka_audit.cluster.changes import changes
from kafka_audit.cluster.view import ClusterView
from kafka_audit.incidents.causes import incidents
from kafka_audit.model.cluster import Mute
from kafka_audit.model.finding import Change, Finding, Incident
from kafka_audit.model.tables import Snapshot

FOLDER = Path(__file__).parent / "cases"
Key = tuple[str, str]
"""Family and name of a case."""
_KEYS = frozenset({*LAYERED, "samples", "sample_times", "mute", "incidents"})


@dataclass(frozen=True, kw_only=True)
class Judged:
    """A cluster, what checks find there, and what is different from the previous snapshot."""

    view: ClusterView
    findings: Sequence[Finding]
    changes: Sequence[Change]

    def incidents(self) -> tuple[Incident, ...]:
        return incidents(self.view, self.findings, self.changes)


@cache
def case_files() -> dict[Key, dict[str, Any]]:
    """Return each case by its family and name. It belongs to all tests, so no test changes it."""
    found = {}
    for path in sorted(FOLDER.glob("*.yaml")):
        raw = yaml.load(path.read_text(encoding="utf-8"), yaml.CSafeLoader)
        for name, case in raw["cases"].items():
            found[path.stem, name] = {"world": raw.get("world", {})} | case
            demand(f"{path.name}: {name}", case, _KEYS)
            for part in LAYERED:
                demand_words(f"{path.name}: {name}: {part}", found[path.stem, name].get(part, {}), base())
    return found


def pair(key: Key, snapshot_id: str) -> tuple[Snapshot, Snapshot | None]:
    """Return the snapshot of a case, and its previous one where the case has `previous`."""
    return snapshots(base(), snapshot_id, case_files()[key])


@cache
def _views(family: str) -> dict[Key, ClusterView]:
    keys = {f"20260914T180000Z-prod-{number:04}": key for number, key in enumerate(case_files()) if key[0] == family}
    found = cluster_views({snapshot_id: pair(key, snapshot_id) for snapshot_id, key in keys.items()})
    return {keys[snapshot_id]: view for snapshot_id, view in found.items()}


def judged(key: Key, view: ClusterView) -> Judged:
    """Return what is found on the cluster of a case, or on one that a test made of it."""
    mutes = [Mute(**mute, reason="known", owner="me") for mute in case_files()[key].get("mute", ())]
    return Judged(view=view, findings=findings_of(view, judge(view), mutes), changes=changes(view))


@cache
def judged_case(family: str, name: str) -> Judged:
    """Return what is found on the cluster of a case."""
    return judged((family, name), _views(family)[family, name])
