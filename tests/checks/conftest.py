"""All cases of all checks at once: what differs is computed by one pass over all of them, then each check is a plain call."""

from collections import defaultdict
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

import kafka_audit.checks
from checks.world import World, row_judgements, snapshots
from cluster_views import cluster_views
from kafka_audit.checks import Check, catalogue, run
from kafka_audit.checks.run import judge
from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.finding import Judgement, Severity, Status, as_text

HERE = Path(__file__).parent
CHECKS = Path(kafka_audit.checks.__file__).parent


@cache
def base() -> World:
    return yaml.safe_load((HERE / "base.yaml").read_text())


@cache
def case_files() -> dict[str, Path]:
    """Return the case file of each check by its code."""
    return {yaml.safe_load(path.read_text())["check"]: path for path in sorted(CHECKS.glob("*/*.yaml"))}


@cache
def cases(code: str) -> dict[str, World]:
    """Return the cases of a check, each with the `world` of its file."""
    raw = yaml.safe_load(case_files()[code].read_text())
    return {name: {"world": raw.get("world", {})} | case for name, case in raw["cases"].items()}


def every_case() -> list[tuple[str, str]]:
    return [(code, name) for code in case_files() for name in cases(code)]


BLIND = {
    # What is taken away, and which tables a check needs for that to keep it from passing.
    "healthy": {},
    "no_zookeeper": {"now": {"zookeeper": "none"}},
    "no_controller_znode": {
        "now": {
            "zookeeper": {"controller_id": None},
            "reads": [{"observer": "zookeeper", "operation": "zookeeper /controller", "error": "timeout"}],
        }
    },
    "no_ids": {"now": {"reads": [{"observer": "zookeeper", "operation": "zookeeper /brokers/ids", "error": "NoAuthError"}]}},
    "no_topics": {
        "now": {"reads": [{"observer": "zookeeper", "operation": "zookeeper /brokers/topics", "error": "NoAuthError"}]}
    },
    "one_topic_unread": {
        "now": {
            "topics": {"payments": "absent"},
            "reads": [{"observer": "zookeeper", "operation": "zookeeper /brokers/topics/payments", "error": "NoAuthError"}],
            "views": {one: {"topics": {"payments": "absent"}} for one in range(3)},
        },
    },
    "no_views": {
        "now": {
            "views": {one: {"answers": False} for one in range(3)},
            "identities": [{"to": one, "asked": False} for one in range(3)],
            "probes": [{"to": [0, 1, 2], "layer": "api", "outcome": "unknown", "error": "timeout"}],
        }
    },
    "no_probes": {
        "now": {"probes": [{"to": [0, 1, 2], "outcome": "none"}], "identities": [{"to": one, "asked": False} for one in range(3)]}
    },
    "kraft": {"now": {"info": {"mode": "kraft"}, "zookeeper": "none"}},
    "kraft_one_view": {
        "now": {"info": {"mode": "kraft"}, "zookeeper": "none", "views": {one: {"answers": False} for one in (1, 2)}}
    },
}
"""Worlds in which something was not read, judged by every check."""


@dataclass
class Judged:
    """What every check said of every case, by (snapshot, code)."""

    told: dict[tuple[str, str], list[Judgement]] = field(default_factory=lambda: defaultdict(list))
    views: dict[str, ClusterView] = field(default_factory=dict)

    def of(self, code: str, name: str) -> list[Judgement]:
        return sorted(self.told[name, code], key=lambda one: (one.resource, one.status))


def _codes(items: list[pytest.Item]) -> set[str]:
    found = set()
    for item in items:
        told = getattr(getattr(item, "callspec", None), "params", {})
        found |= {told.get("code"), getattr(told.get("check"), "code", None)}
    return found - {None}


@pytest.fixture(scope="session")
def judged(request) -> Judged:
    """Every check that selected tests are about (`-k KA101`), on its cases and every blind world; those of the gate too."""
    wanted = _codes(request.session.items)
    checks = {code: check for code, check in catalogue().items() if code in wanted}
    worlds = {f"{code}-{name}": cases(code)[name] for code, name in every_case() if code in checks} | BLIND
    views = cluster_views({name: snapshots(base(), name, case) for name, case in worlds.items()})
    judged = Judged(views=views)
    for name, case in worlds.items():
        own = checks if name in BLIND else {code: check for code, check in checks.items() if name.startswith(f"{code}-")}
        if name.startswith("KA302-"):
            preset(views[name], row_judgements(base(), name, case))
        for kind in ("audit", "gate"):
            for one in judge(views[name], own, kind=kind):
                judged.told[one.snapshot_id, one.code].append(one)
    return judged


def preset(view: ClusterView, judgements: list[Judgement]) -> None:
    """Let the checks that KA302 asks have said this of a view, and nothing else."""
    for code in ("KA401", "KA412"):
        run.remember(view, code, tuple(one for one in judgements if one.code == code))


def severity(check: Check, judgement: Judgement) -> Severity:
    return check.severity if judgement.severity is None else judgement.severity


def told(check: Check, judgement: Judgement) -> dict[str, Any]:
    """Return a judgement as a case file writes it."""
    plain: dict[str, Any] = {"status": judgement.status.value, "resource": judgement.resource}
    if judgement.status is Status.FAIL:
        plain |= {"severity": severity(check, judgement).name, "confidence": judgement.confidence.value}
    return plain | {"evidence": {key: as_text(value) for key, value in judgement.evidence.items()}}
