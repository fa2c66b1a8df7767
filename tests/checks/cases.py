"""The cases of checks, as their files beside the modules hold them, and what checks say of them."""

from collections import defaultdict
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import yaml

import kafka_audit.checks
from checks.world import World
from kafka_audit.checks import Check, run
from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.finding import Judgement, Severity, Status, as_text

HERE = Path(__file__).parent
CHECKS = Path(kafka_audit.checks.__file__).parent


def parsed(path: Path) -> dict[str, Any]:
    """Return what a YAML file holds, by the parser in C: there are a hundred files."""
    return yaml.load(path.read_text(encoding="utf-8"), yaml.CSafeLoader)


@cache
def base() -> World:
    return parsed(HERE / "base.yaml")


@cache
def case_files() -> dict[str, tuple[Path, dict[str, Any]]]:
    """Return the case file of each check by its code: where it is, and what it holds."""
    read = ((path, parsed(path)) for path in sorted(CHECKS.glob("*/*.yaml")))
    return {raw["check"]: (path, raw) for path, raw in read}


@cache
def cases(code: str) -> dict[str, World]:
    """Return the cases of a check, each with the `world` of its file."""
    _, raw = case_files()[code]
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
