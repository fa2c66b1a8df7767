"""Rule 2, a fault can be at either end: what was seen at one end alone rules it out at neither.

Each case that shows a fault of an edge between brokers is mirrored: what it has of the one end is at the other one, and who
replicates what stays. A fault that can be at one end only says so: `one_end` in its file.
"""

import re
from collections.abc import Iterator
from typing import Any

import pytest

from checks.cases import base
from checks.world import snapshots
from cluster_views import cluster_views
from faults.test_causes import CASES, candidate
from kafka_audit.faults.fault import known_faults
from kafka_audit.faults.solver import Diagnosis, diagnoses_into

MIRRORED = frozenset({"certificates", "config_sources", "configs", "file_releases", "log_dirs", "properties", "reads", "slow"})
"""Keys of a case that are about one party; those that say who replicates what, or reach from one to another, stay."""

CONTROLLER, FOLLOWER = 0, 1  # of the base, whose partitions and cut are of broker 2

ONE_END = {fault.name for fault in known_faults() if fault.one_end}


def ends(case: dict[str, Any]) -> tuple[int, int]:
    kind, target = case["edge"].split()
    return int(target), CONTROLLER if kind == "control" else FOLLOWER


def mirrored(case: dict[str, Any]) -> dict[str, Any]:
    """Return a case with what it has of either end at the other one."""
    one, other = ends(case)
    names = {one: other, other: one, f"broker:{one}": f"broker:{other}", f"broker:{other}": f"broker:{one}"}
    names |= {f"10.0.0.1{one}:9092": f"10.0.0.1{other}:9092", f"10.0.0.1{other}:9092": f"10.0.0.1{one}:9092"}

    def turned(part: Any, *, of_topics: bool = False) -> Any:
        if isinstance(part, dict):
            return {turned(key, of_topics=of_topics): turned(value, of_topics=of_topics) for key, value in part.items()}
        if isinstance(part, list):
            return [turned(value, of_topics=of_topics) for value in part]
        if isinstance(part, str) and part not in names:
            listener = re.fullmatch(rf"({one}|{other})/(.*)", part)
            part = f"{other if listener[1] == str(one) else one}/{listener[2]}" if listener else part
            part = re.sub(r"\b(leader|follower)(?=\.replication\.throttled)", lambda found: THROTTLES[found[1]], part)
            return re.sub(rf"^(\d+):{one}$", rf"\1:{other}", part) if of_topics else part
        return part if of_topics else names.get(part, part)

    def settings_of_topics(topics: Any) -> Any:
        if not isinstance(topics, dict):
            return topics
        return {
            name: {key: turned(value, of_topics=True) if key == "config" else value for key, value in topic.items()}
            for name, topic in topics.items()
        }

    def whole(part: Any) -> Any:
        if not isinstance(part, dict):
            return part
        found = {key: turned(value) if key in MIRRORED else value for key, value in part.items()}
        return found | ({"topics": settings_of_topics(found["topics"])} if "topics" in found else {})

    return {key: whole(value) if key in {"world", "now", "before", "previous"} else value for key, value in case.items()}


THROTTLES = {"leader": "follower", "follower": "leader"}


def shown() -> Iterator[tuple[str, dict[str, Any]]]:
    for name, case in CASES.items():
        between_brokers = case["edge"].split()[0] in {"control", "replicate"}
        if "shown" in case and between_brokers and mirrored(case) != case:
            yield name, mirrored(case)


MIRRORS = dict(shown())


@pytest.fixture(scope="module")
def diagnosed() -> dict[str, Diagnosis]:
    views = cluster_views({name: snapshots(base(), name, case) for name, case in MIRRORS.items()})
    found = {}
    for name, case in MIRRORS.items():
        kind, target = case["edge"].split()
        (found[name],) = [one for one in diagnoses_into(views[name], int(target)) if one.edge.kind == kind]
    return found


@pytest.mark.parametrize("name", [name for name in MIRRORS if name.partition("-")[0] not in ONE_END])
def test_what_was_seen_at_one_end_rules_nothing_out_at_the_other(diagnosed, name):
    found = candidate(diagnosed[name], name.partition("-")[0])
    assert found.possible, [row.text for row in found.against]


def test_a_fault_that_is_at_one_end_only_is_ruled_out_at_the_other(diagnosed):
    """Else its file has `one_end` for nothing."""
    ruled_out = {name.partition("-")[0] for name, found in diagnosed.items() if candidate(found, name.partition("-")[0]).against}
    assert ruled_out >= ONE_END
