"""What a watch suspects is part of what an audit of the same cluster finds: on every recorded cluster."""

from functools import cache

import pytest

from kafka_audit.checks import run
from kafka_audit.model.finding import Status
from kafka_audit.watch.judgement import WatchState, next_state
from kafka_audit.watch.suspicions import WatchFault
from testbed.cluster_views import cluster_views
from testbed.corpus.recorded import CLUSTERS, SUFFIX, recordings, unpacked
from watch.recorded_readings import recorded_readings

RECORDED = {name: one for name, one in recordings().items() if (CLUSTERS / f"{name}{SUFFIX}").is_file()}
HEALTHY = [name for name, one in RECORDED.items() if not one.broken_by and not one.cause]
BROKEN = [name for name in RECORDED if name not in HEALTHY]
VIEWS = ("KA101", "KA102", "KA105", "KA106", "KA107")
FOUND_BY = {
    WatchFault.NO_ANSWER: ("KA001", "KA113", "KA211"),
    WatchFault.GONE: ("KA001", "KA113"),
    WatchFault.ADDRESS_SILENT: ("KA001",),
    WatchFault.BROKERS_MISSING: ("KA113",),
    WatchFault.NOT_LISTED: ("KA105", "KA113"),
    WatchFault.VIEW_EMPTY: ("KA105",),
    WatchFault.VIEW_DIFFERS: ("KA105", "KA106"),
    WatchFault.NO_CONTROLLER: ("KA201",),
    WatchFault.CONTROLLER_DIFFERS: ("KA202",),
    WatchFault.CLUSTER_ID_DIFFERS: ("KA110",),
    WatchFault.ZOOKEEPER_UNREACHABLE: ("KA001",),
    WatchFault.CLUSTER_UNREACHABLE: ("KA001",),
    WatchFault.PROCESS_DOWN: ("KA116",),
    WatchFault.COMES_AND_GOES: ("KA116",),
    WatchFault.NO_QUORUM_LEADER: ("KA201",),
    WatchFault.QUORUM_LEADER_DIFFERS: ("KA202",),
    WatchFault.QUORUM_LEADERS_DIFFER: ("KA202",),
    WatchFault.QUORUM_ELECTS: ("KA203",),
    WatchFault.VOTERS_LAG: ("KA209",),
    WatchFault.CUT_FROM_QUORUM: ("KA001",),
    WatchFault.BROKER_LAGS: ("KA210",),
    WatchFault.NOT_APPLIED: ("KA210", *VIEWS),
}
"""The checks that find what is suspected."""

SUSPECTED = {
    "zookeeper_no_cluster_action": {("view_empty", 2)},
    "kraft_isolated_from_controllers": {("not_listed", 2), ("cut_from_quorum", 2), ("broker_lags", 2)},
    "kraft_loader_stands_still": {("not_applied", 2)},
}


def recorded(name):
    return unpacked((CLUSTERS / f"{name}{SUFFIX}").read_bytes())


@cache
def suspicions(name):
    snapshot, _ = recorded(name)
    state = WatchState()
    for reading in recorded_readings(snapshot):
        state = next_state(state, reading)
    return state.suspicions


@pytest.mark.parametrize("name", HEALTHY)
def test_nothing_is_suspected_of_a_cluster_that_an_audit_calls_healthy(name):
    assert [one.sentence() for one in suspicions(name)] == []


@pytest.fixture(scope="module")
def failed():
    """Return what checks find of each cluster of which anything is suspected: codes and resources."""
    views = cluster_views({name: recorded(name) for name in BROKEN if suspicions(name)})
    return {
        name: {(one.code, one.resource) for one in run.judge(view) if one.status is Status.FAIL} for name, view in views.items()
    }


@pytest.mark.parametrize("name", BROKEN)
def test_an_audit_finds_what_is_suspected(name, failed):
    for one in suspicions(name):
        resources = {resource for code, resource in failed[name] if code in FOUND_BY[one.what]}
        found = resources if one.broker is None else f"broker/{one.broker}" in resources
        assert found, (one.sentence(), sorted(failed[name]))


@pytest.mark.parametrize("name", SUSPECTED)
def test_what_is_suspected_of_a_broken_cluster(name):
    assert {(one.what.value, one.broker) for one in suspicions(name)} == SUSPECTED[name]


def test_each_suspicion_is_found_by_checks():
    assert FOUND_BY.keys() == set(WatchFault)
