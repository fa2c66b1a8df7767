"""Rule 3, the ordinary explanation leads: a roll, a catch-up, a reassignment or a change that is half done is no incident."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from checks.cases import base
from checks.test_cases import findings_of
from checks.world import merged, snapshots
from cluster_views import cluster_views
from kafka_audit.checks.run import judge
from kafka_audit.cluster.changes import changes
from kafka_audit.cluster.view import ClusterView
from kafka_audit.incidents.causes import incidents

STATES = yaml.load(Path(__file__).with_name("ordinary.yaml").read_text(encoding="utf-8"), yaml.CSafeLoader)
KRAFT = {
    "info": {"mode": "kraft"},
    "zookeeper": "none",
    "apis": {55: [0, 2], 60: [0, 2]},
    "quorum": {
        "leader": 200,
        "epoch": 7,
        "high_watermark": 9000,
        "voters": {200: 0, 201: 0, 202: 0},
        "observers": {0: 0, 1: 0, 2: 0},
    },
}
OF_ZOOKEEPER = {"zookeeper", "czxid", "mzxid", "registered_ms", "state_mzxid", "controller_epoch"}
PARTS = ("now", "before", "previous")


def without_znodes(part: Any) -> Any:
    if not isinstance(part, dict):
        return part
    return {key: without_znodes(value) for key, value in part.items() if key not in OF_ZOOKEEPER}


def by_mode() -> Iterator[tuple[str, dict[str, Any]]]:
    for name, state in STATES.items():
        case = {part: state[part] for part in PARTS if part in state}
        for mode in state.get("modes", ("zookeeper", "kraft")):
            if mode == "kraft":
                own = {part: without_znodes(world) for part, world in case.items()}
                own["now"] = merged(own["now"], state.get("kraft", {}))
                yield f"{name}-kraft", {"world": KRAFT} | own
            else:
                yield f"{name}-zookeeper", case


CASES = dict(by_mode())


@pytest.fixture(scope="module")
def views() -> Mapping[str, ClusterView]:
    return cluster_views({name: snapshots(base(), name, case) for name, case in CASES.items()})


@pytest.mark.parametrize("name", CASES)
def test_what_is_done_on_any_day_is_no_incident(views, name):
    view, allowed = views[name], STATES[name.partition("-")[0]].get("allowed", [])
    found = incidents(view, findings_of(view, judge(view)), changes(view))
    assert [one.headline for one in found if one.cause not in allowed] == []
    assert {one.cause for one in found} == {*allowed}
