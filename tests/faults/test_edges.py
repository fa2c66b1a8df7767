"""What an edge is for, and whether it happens."""

import gc
import weakref

import pytest

import small_cluster
from checks.cases import base
from checks.world import merged, snapshots
from cluster_views import cluster_view
from kafka_audit.cluster.view import ClusterView
from kafka_audit.differences.found import Differences
from kafka_audit.differences.tables import DIFFERENCES, ReplicaGap
from kafka_audit.faults.facts import facts_of


def view(**spec) -> ClusterView:
    return ClusterView.of_files(small_cluster.snapshot(spec))


def test_an_empty_view_shows_that_nothing_arrives_where_there_is_a_controller_that_sends():
    empty = {"brokers": {0: "a:9092", 1: "b:9092"}, "views": {1: "empty"}}
    effect = facts_of(view(**empty)).edges.control(1)
    assert effect.state == "passing"  # seen in one sample
    assert facts_of(view(**empty)).symptom(1) is None
    assert facts_of(view(**empty)).accepted(0) == "broker 0 has accepted the updates of controller 0: its view is not empty"
    leaderless = {"zookeeper": {"controller_id": None}, "views": {0: {"controller_id": -1}, 1: "empty"}}
    assert facts_of(view(**empty | leaderless)).accepted(0) is None
    assert facts_of(view(**empty | leaderless)).edges.control(1).state == "unknown"
    silent = view(brokers={0: "a:9092"}, views={0: {"answers": False}})
    assert facts_of(silent).edges.control(0).state == "unknown"


@pytest.mark.parametrize(
    ("change", "alone"),
    [({}, True), ({"repeated": False}, False), ({"follows_others": False}, False), ({"in_sync": 1}, False)],
)
def test_in_kraft_a_follower_is_absent_that_no_leader_but_others_has_in_sync(change, alone):
    row = {"leader": 1, "replica": 0, "partitions": 2, "in_sync": 0, "repeated": True, "oldest_version": 3}
    row |= {"follows_others": True, "leader_alone": True, "listed_offline": False}
    snapshot = small_cluster.snapshot({"brokers": {0: "a:9092", 1: "b:9092"}, **small_cluster.KRAFT})
    held = ClusterView(snapshot, None, Differences.from_rows(DIFFERENCES, [ReplicaGap(**(row | change))]))
    held.__dict__["steady"] = True  # two samples, and nothing moved in between
    assert (facts_of(held).symptom(1) is not None) is alone


QUORUM = {"leader": 200, "epoch": 7, "high_watermark": 9000, "voters": {200: 0, 201: 0}, "observers": {0: 0, 1: 0, 2: 0}}


@pytest.mark.parametrize(
    ("now", "before", "state"),
    [
        ({"observers": {2: 60}}, {}, "missing"),
        ({"observers": {2: 60}}, {"observers": {2: 0}}, "passing"),
        ({}, {"observers": {2: 60}}, "unknown"),
        ({"observers": {2: "absent"}}, {}, "unknown"),
    ],
    ids=["two samples", "newest only", "first only", "leader does not know it"],
)
def test_a_broker_that_does_not_fetch_follows_nobody_though_its_view_is_like_those_of_others(now, before, state):
    """In an idle cluster no view is old."""
    kraft = merged({"info": {"mode": "kraft"}, "zookeeper": "none", "quorum": QUORUM}, {"quorum": now})
    held = cluster_view(snapshots(base(), "one", {"now": kraft, "before": {"quorum": before}})[0])
    effects = {broker: facts_of(held).edges.follow(broker).effect.state for broker in range(3)}
    assert effects == {0: "unknown", 1: "unknown", 2: state}


def test_what_was_made_of_a_view_is_freed_with_it():
    held = view(brokers={0: "a:9092"})
    assert facts_of(held) is facts_of(held)
    alive = weakref.ref(held)
    del held
    gc.collect()
    assert alive() is None
