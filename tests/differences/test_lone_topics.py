"""A party that lists any number of topics pushes no honest one out of a list that is cut."""

import pytest

import small_cluster
from cluster_views import cluster_view
from kafka_audit.differences.tables import MOST_STATES, ReplicaState, ViewDifference

HONEST = {f"payments-{number}" for number in range(5)}
BROKERS = {broker: f"10.0.0.{broker}:9092" for broker in range(3)}
TOPICS = {
    "orders": {"partitions": {0: {"replicas": [0, 1, 2]}}},
    "payments": {"partitions": {number: {"replicas": [0, 1, 2], "leader": -1, "isr": [0]} for number in range(5)}},
}
MADE_UP = 12_000


def by_broker(count):
    """Return what broker 2 alone lists: as many partitions without leader, of topics that sort before the honest one."""
    newest = {"orders": {"partitions": {0: {"leader_epoch": 99}}}}  # so that its list is the reference
    state = {"error": 5, "leader": -1, "leader_epoch": 9, "replicas": [2], "isr": [2], "offline_replicas": []}
    return newest | {
        f"a{number}": {"topic_id": f"a{number}", "error": 0, "partitions": dict.fromkeys(range(count // 6), state)}
        for number in range(6)
    }


def snapshot(party, count):
    if party == "broker":
        kraft = {**small_cluster.KRAFT, "brokers": BROKERS, "topics": TOPICS}
        return small_cluster.snapshot(kraft | {"views": {2: {"topics": by_broker(count)}}})
    state = {"replicas": [2], "leader": -1, "isr": [2]}
    made_up = {f"a{number}": {"partitions": dict.fromkeys(range(count // 6), state)} for number in range(6)}
    absent = {"topics": dict.fromkeys(made_up, "absent")}
    views = dict.fromkeys(range(3), absent)
    return small_cluster.snapshot({"brokers": BROKERS, "topics": TOPICS | made_up, "views": views})


@pytest.mark.parametrize("party", ["broker", "zookeeper"])
def test_partitions_of_topics_that_one_party_lists_come_last(party):
    """None of the five was named."""
    view = cluster_view(snapshot(party, MADE_UP))
    states = view.differences.of(ReplicaState)
    assert len(states) == MOST_STATES
    first = view.partitions.of_kind("leaderless")[: len(HONEST)]
    assert {f"{state.topic}-{state.partition}" for state in first} == HONEST
    assert view.partitions.unlisted("leaderless") == MADE_UP + len(HONEST) - MOST_STATES, "the rest is counted"


def test_the_first_ten_of_an_observer():
    """A broker lacks a topic of all others, and what one other broker makes up."""
    kraft = {**small_cluster.KRAFT, "brokers": BROKERS | {3: "10.0.0.3:9092"}, "topics": TOPICS}
    seen = small_cluster.snapshot(kraft | {"views": {0: {"topics": {"payments": "absent"}}, 2: {"topics": by_broker(60)}}})
    rows = [row for row in cluster_view(seen).differences.of(ViewDifference) if row.name == "0" and "topic" in row.kind]
    assert rows
    assert {row.first[0] for row in rows} == {"payments"}
