"""The cases of checks, as their files beside the modules hold them, and what checks say of them."""

from collections import defaultdict
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import yaml

import kafka_audit.checks
from checks.populated import populated
from checks.words import demand, demand_words
from checks.world import LAYERED, World
from kafka_audit.checks import Check
from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.finding import Judgement, Severity, Status, as_text
from testbed.population.contents import WHOLE

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
    read = [(path, parsed(path)) for path in sorted(CHECKS.glob("*/*.yaml"))]
    for path, raw in read:
        demand_known_keys(path.name, raw)
    return {raw["check"]: (path, raw) for path, raw in read}


FILE_KEYS = frozenset(
    {
        "check",
        "typed",
        "needs",
        "stops",
        "says",
        "page",
        "incident",
        "story",
        "edges",
        "broken_by",
        "exceptions",
        "remedies",
        "left_behind",
        "world",
        "cases",
    }
)
EXCEPTIONS = frozenset({"corpus", "remedy", "lint", "healthy", "unread"})
"""What a check may be let off, each with the reason:

corpus:   no fault of `testbed/corpus/faults` breaks it.
remedy:   no run of the record executed its remedy.
lint:     it reads server.properties, and `lint` does not run it.
healthy:  it fails, below HIGH, in a healthy world.
unread:   by a source of `test_inputs` or a world of `WORLDS`, why it may judge without it; `everything` for all worlds.
"""
CASE_KEYS = frozenset(
    [
        *("near", "alone", "world", "now", "before", "samples", "sample_times", "previous", "files_alone"),
        *("expect", "pass", "incidents"),
    ]
)
INCIDENT_KEYS = frozenset({"headline", "cause", "confidence", "says", "never_says"})
"""What all checks together must make of the cluster of a case."""
EXPECTED_KEYS = frozenset({"resource", "status", "severity", "confidence", "evidence", "prints", "never_prints"})


def demand_known_keys(file: str, raw: World) -> None:
    """Raise ValueError naming a key that no test reads: a misspelt key would leave a case that tests nothing."""
    demand(file, raw, FILE_KEYS)
    demand(f"{file}: exceptions", raw.get("exceptions", {}), EXCEPTIONS)
    demand_words(f"{file}: world", raw.get("world", {}), base())
    for name, case in raw["cases"].items():
        demand_case(f"{file}: {name}", case)


def demand_case(place: str, case: World) -> None:
    """Raise ValueError naming a key of a case that no test reads."""
    demand(place, case, CASE_KEYS)
    for part in LAYERED:
        demand_words(f"{place}: {part}", case.get(part, {}), base())
    for judgement in case.get("expect", ()):
        demand(f"{place}: expect", judgement, EXPECTED_KEYS)
    for incident in case.get("incidents", ()):
        demand(f"{place}: incidents", incident, INCIDENT_KEYS)


@cache
def cases(code: str) -> dict[str, World]:
    """Return the cases of a check, each with the `world` of its file; raises LookupError if there is no such file."""
    if code not in case_files():
        msg = f"{code} has no cases: no YAML file in plugins/kafka_audit/checks begins with `check: {code}`"
        raise LookupError(msg)
    _, raw = case_files()[code]
    return {name: {"world": raw.get("world", {})} | case for name, case in raw["cases"].items()}


def exception(code: str, kind: str) -> Any:
    """Return the reason for which a check is let off, or the reasons by what they are about; empty without one."""
    return case_files()[code][1].get("exceptions", {}).get(kind, {} if kind == "unread" else "")


def every_case() -> list[tuple[str, str]]:
    return [(code, name) for code in case_files() for name in cases(code)]


def near_cases() -> list[tuple[str, str]]:
    """Return the cases that look most like a fault and are none."""
    return [(code, name) for code, name in every_case() if cases(code)[name].get("near")]


def among_others(code: str, name: str) -> str:
    """Return the name of a case that is judged beside the topics of a cluster in use."""
    return f"{code}-{name} among others"


WORLDS = {
    # What is taken away, and which tables a check needs for that to keep it from passing.
    "healthy": {},
    "populated": {"now": populated(WHOLE)},
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
            "views": {broker: {"topics": {"payments": "absent"}} for broker in range(3)},
        },
    },
    "no_views": {
        "now": {
            "views": {broker: {"answers": False} for broker in range(3)},
            "identities": [{"to": broker, "asked": False} for broker in range(3)],
            "probes": [{"to": [0, 1, 2], "layer": "api", "outcome": "unknown", "error": "timeout"}],
        }
    },
    "no_probes": {
        "now": {
            "probes": [{"to": [0, 1, 2], "outcome": "none"}],
            "identities": [{"to": broker, "asked": False} for broker in range(3)],
        }
    },
    "kraft": {"now": {"info": {"mode": "kraft"}, "zookeeper": "none"}},
    "kraft_one_view": {
        "now": {"info": {"mode": "kraft"}, "zookeeper": "none", "views": {broker: {"answers": False} for broker in (1, 2)}}
    },
}
"""Worlds judged by every check: two healthy ones, and those in which something was not read."""


@dataclass
class Judged:
    """What every check said of every case, by (snapshot, code)."""

    judgements: dict[tuple[str, str], list[Judgement]] = field(default_factory=lambda: defaultdict(list))
    views: dict[str, ClusterView] = field(default_factory=dict)

    def of(self, code: str, name: str) -> list[Judgement]:
        return sorted(self.judgements[name, code], key=lambda judgement: (judgement.resource, judgement.status))


def severity(check: Check, judgement: Judgement) -> Severity:
    return check.severity if judgement.severity is None else judgement.severity


def told(check: Check, judgement: Judgement) -> dict[str, Any]:
    """Return a judgement as a case file writes it."""
    plain: dict[str, Any] = {"status": judgement.status.value, "resource": judgement.resource}
    if judgement.status is Status.FAIL:
        plain |= {"severity": severity(check, judgement).name, "confidence": judgement.confidence.value}
    return plain | {"evidence": {key: as_text(value) for key, value in judgement.evidence.items()}}
