"""What a cluster view says of snapshots in which something differs, without Spark."""

from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from checks.world import World, snapshots
from kafka_audit.cluster.given import ages_needed, given
from kafka_audit.cluster.view import ClusterView
from kafka_audit.differences.found import Differences
from kafka_audit.differences.tables import (
    DIFFERENCES,
    ChosenSample,
    FormerLeader,
    KnownBroker,
    ListAge,
    ListCount,
    ObserverView,
    PartitionCount,
    Reassigned,
    ReferenceList,
    ViewDifference,
)
from kafka_audit.model.finding import Status
from kafka_audit.model.tables import BrokerView, Registry, Row, Snapshot, TopicConfig


@cache
def base() -> World:
    return yaml.load((Path(__file__).parents[1] / "checks" / "base.yaml").read_text(), yaml.CSafeLoader)


KRAFT = {"info": {"mode": "kraft"}, "zookeeper": "none"}


def view_of(case: dict[str, Any], *rows: Row) -> ClusterView:
    return ClusterView(*snapshots(base(), "case", case), Differences.from_rows((*DIFFERENCES, ListAge), rows))


def difference(kind: str, **values: Any) -> ViewDifference:
    unknown = dict.fromkeys(("leader", "leader_epoch", "replicas", "isr", "view_error", "view_leader", "view_leader_epoch"))
    more = {"name": "2", "kind": kind, "repeated": True, "brokers": (), "listeners": ("PLAINTEXT",), "view_replicas": None}
    return ViewDifference(**(unknown | more | {"view_isr": None} | values))


def given_of(case: dict[str, Any], table: type[Row], *ages: ListAge) -> list[Any]:
    return [row for row in given(*snapshots(base(), "case", case), ages) if type(row) is table]


def test_the_newest_sample_is_the_one_with_the_highest_number():
    view = view_of({"before": {"zookeeper": {"controller_epoch": 2}}, "previous": {"zookeeper": {"controller_epoch": 1}}})
    assert view.samples == (2, 1)
    assert [row.controller_epoch for row in view.newest(Registry)] == [3]
    assert [row.controller_epoch for row in view.before(Registry)] == [2]
    assert [row.controller_epoch for row in view.earlier(Registry)] == [1]
    assert (view.state.controller_epoch, view.state_before.controller_epoch, view.state_earlier.controller_epoch) == (3, 2, 1)
    assert view.newest(TopicConfig) == view.of(TopicConfig) != ()  # a table that knows no samples


@pytest.mark.parametrize(
    ("case", "steady"),
    [
        ({}, True),
        ({"samples": 1}, False),
        ({"before": {"zookeeper": {"controller_mzxid": 149}}}, False),
        ({"before": {"zookeeper": {"brokers_pzxid": 119}}}, False),
        ({"now": KRAFT}, True),
        ({"now": KRAFT, "before": {"views": {broker: {"brokers": {2: "absent"}} for broker in range(3)}}}, False),
    ],
)
def test_steady_means_that_neither_controller_nor_brokers_were_written_between_two_samples(case, steady):
    assert view_of(case).steady is steady


def test_without_rows_nothing_is_known_and_every_part_is_a_gap():
    view = ClusterView.of_files(Snapshot(snapshot_id="files", cluster="base", cluster_id="unknown:base", rows=()))
    assert (view.samples, view.state, view.steady, view.observers, view.advertised, view.probes) == (
        (None, None),
        None,
        False,
        (),
        (),
        (),
    )
    assert view.gap("brokers").status is Status.UNKNOWN
    assert view.gap_earlier("brokers").reason == "no previous snapshot"


def test_a_single_unread_znode_is_no_whole_gap():
    one_unread = {"observer": "zookeeper", "operation": "zookeeper /brokers/topics/payments", "error": "NoAuthError"}
    gap = view_of({"now": {"reads": [one_unread]}}).gap("topics")
    assert (gap.status, gap.whole, gap.error) == (Status.UNKNOWN, False, "ZooKeeper was not read: NoAuthError")
    none_read = {"now": {"reads": [one_unread | {"operation": "zookeeper /brokers/topics"}]}}
    gap = view_of(none_read).gap("topics")
    assert (gap.status, gap.whole, gap.needs) == (Status.UNKNOWN, True, "a ZooKeeper that answers")
    assert view_of(none_read).gap("brokers") is None


def test_without_a_previous_snapshot_nothing_can_be_compared():
    gap = view_of({}).previous_gap
    assert (gap.status, gap.reason) == (Status.NOT_APPLICABLE, "no previous snapshot")
    assert view_of({"previous": {}}).previous_gap is None


def test_in_kraft_mode_two_views_stand_in_for_the_registry():
    view = view_of({"now": KRAFT})
    assert view.kraft
    assert view.state.holders == ("0", "1", "2")
    assert (view.state.kafka_cluster_id, view.state.controller_id) == ("base-cluster-id", None)
    assert sorted(view.brokers) == [0, 1, 2]
    assert view.gap("brokers") is None
    assert view.gap("controller").reason == "the cluster runs in KRaft mode, without ZooKeeper"
    kraft = view_of({"now": KRAFT | {"views": {1: {"answers": False}, 2: {"answers": False}}}})
    assert (kraft.state, kraft.gap("brokers").error) == (None, "fewer than two brokers returned a view")


def test_a_broker_that_only_some_of_the_newest_lists_have_is_disputed():
    case = {"now": KRAFT | {"views": {0: {"answers": False}, 2: {"brokers": {0: "absent"}}}}}
    view = view_of(case)
    assert {broker: row.disputed for broker, row in view.brokers.items()} == {0: True, 1: False, 2: False}
    matter = view.disagreement("2", "broker")
    assert (matter.settled, matter.kind, matter.brokers) == (False, "broker_disputed", (0,))
    assert matter.doubt == "views differ, and it is unknown which one is newer"


def test_of_lists_of_topics_the_newer_by_leader_epochs_is_the_reference():
    case = {"now": KRAFT | {"views": {0: {"topics": {"orders": {"partitions": {0: {"leader_epoch": 9}}}}}}}}
    snapshot, previous = snapshots(base(), "case", case)
    assert ages_needed(snapshot, previous)
    assert [row.place for row in given_of(case, ReferenceList) if row.moment == "now"] == [1, 2]  # most brokers first
    digests = {row.broker_id: row.topics_digest for row in snapshot.of(BrokerView)}
    ages = [ListAge(moment=m, topics_digest=digests[b], age=a) for m in ("now", "before") for b, a in ((0, 20), (1, 18))]
    rows = [row for row in given_of(case, ReferenceList, *ages) if row.moment == "now"]
    assert [(row.topics_digest, row.place, row.tied) for row in rows] == [(digests[0], 1, 1), (digests[1], 2, 1)]
    assert view_of(case, *ages).state.holders == ("0",)
    assert not ages_needed(*snapshots(base(), "case", {"now": KRAFT}))


def test_an_observer_says_why_it_cannot_be_compared():
    counted = PartitionCount(
        topics=2,
        partitions=4,
        led=4,
        leaderless=0,
        deleting=0,
        incomplete=0,
        unregistered=0,
    )
    case = {
        "now": {
            "views": {
                1: {"answers": False, "error": "timeout"},
                2: {"topics": "none"},
                "10.0.0.99:9092": {"kafka_cluster_id": "other"},
            },
            "identities": [{"to": 0, "answered_by": 0}],
        }
    }
    digest = next(row.topics_digest for row in snapshots(base(), "case", case)[0].of(BrokerView) if row.broker_id == 2)
    missing = ListCount(topics_digest=digest, partitions=0, led=0, missing=4, brokers=())
    observers = {observer.name: observer for observer in view_of(case, counted, missing).observers}
    assert list(observers) == ["0", "1", "2", "10.0.0.99:9092"]
    assert (observers["0"].answered, observers["0"].listed, observers["0"].topics_gap[0]) == (True, 4, None)
    assert (observers["1"].answered, observers["1"].topics_gap[0], observers["1"].listed) == (False, "timeout", 0)
    assert observers["2"].topics_gap[0] == "its view lists none of 4 partitions"
    assert observers["2"].brokers_gap[0] is None
    foreign = observers["10.0.0.99:9092"]
    assert (foreign.answered, foreign.foreign, foreign.error) == (False, True, "its view belongs to cluster other")


def test_an_unregistered_address_is_the_broker_that_answers_there():
    case = {"now": {"views": {"b9:9092": {}}, "identities": [{"to": "b9:9092", "answered_by": 2}]}}
    assert [(view.name, view.broker_id) for view in view_of(case).held_views if view.row.broker_id < 0] == [("2", 2)]


def test_an_empty_view_is_settled_once_two_samples_show_it():
    matter = view_of({"now": {"views": {2: {"brokers": "none"}}}}).disagreement("2", "broker")
    assert (matter.settled, matter.kind, matter.count, matter.empty) == (True, "empty_view", 3, True)
    matter = view_of({"samples": 1, "now": {"views": {2: {"brokers": "none"}}}}).disagreement("2", "broker")
    assert (matter.settled, matter.doubt) == (False, "in motion")
    assert view_of({}).disagreement("2", "broker") is None


def test_a_missing_broker_is_in_motion_when_its_registration_was_written_in_between():
    case = {"now": {"views": {2: {"brokers": {1: "absent"}}}}}
    matter = view_of(case).disagreement("2", "broker")
    assert (matter.settled, matter.brokers, matter.reference, matter.view) == (True, (1,), "10.0.0.11:9092", "not listed")
    matter = view_of(case | {"before": {"brokers": {1: {"mzxid": 109}}}}).disagreement("2", "broker")
    assert matter.settled is False


def test_what_a_broker_does_not_say_never_settles():
    case = {"now": {"views": {2: {"controller_id": None, "kafka_cluster_id": None}}}}
    view = view_of(case)
    for matter in ("controller", "cluster"):
        assert view.disagreement("2", matter).doubt == "it reports none"
    difference = view_of({"now": {"views": {2: {"controller_id": -1}}}}).disagreement("2", "controller")
    assert (difference.settled, difference.reference, difference.view) == (True, "controller 0", "controller -1")


def test_partitions_count_by_kind_and_what_is_settled_hides_what_is_not():
    counted = {"leader": 1, "leader_epoch": 6, "view_leader": 2, "view_leader_epoch": 5}
    rows = (
        difference("leader", partitions=12, first=("orders-2", "orders-10"), **counted),
        difference("leader", repeated=False, partitions=3, first=("a-0",), **counted),
        difference("leader_ahead", partitions=1, first=("z-0",), **counted),
    )
    matter = view_of({}, *rows).disagreement("2", "leader")
    assert (matter.settled, matter.count, matter.first) == (True, 12, ("orders-2", "orders-10"))
    assert (matter.reference, matter.view) == ("leader 1, epoch 6", "leader 2, epoch 5")
    matter = view_of({"samples": 1}, *rows).disagreement("2", "leader")
    assert (matter.settled, matter.count, matter.first) == (False, 15, ("a-0", "orders-2", "orders-10"))
    matter = view_of({}, rows[2]).disagreement("2", "leader")
    assert matter.doubt == "its leader epoch is above the one in ZooKeeper"


def test_topics_and_partitions_are_listed_together_in_their_order():
    rows = (
        difference("topic_missing", partitions=3, first=("a-1", "c")),
        difference("replicas", partitions=2, first=("a-0", "b-7"), replicas=(2, 0), view_replicas=(0, 1)),
    )
    matter = view_of({}, *rows).disagreement("2", "assignment")
    assert (matter.count, matter.first, matter.kind) == (5, ("a-0", "a-1", "b-7", "c"), "replicas")
    assert (matter.reference, matter.view) == ("replicas 0, 2", "replicas 0, 1")


def test_a_probe_is_closed_only_when_both_samples_failed():
    closed = {"now": {"probes": [{"to": 2, "layer": "tcp", "error": "timeout"}]}}
    closed_probe = next(probe for probe in view_of(closed).probes if probe.broker_id == 2)
    assert (closed_probe.state, closed_probe.network, closed_probe.failed.layer, closed_probe.passed) == (
        "closed",
        "closed",
        "tcp",
        ("dns",),
    )
    closed_probe = next(
        probe for probe in view_of(closed | {"before": {"brokers": {2: {"mzxid": 119}}}}).probes if probe.broker_id == 2
    )
    assert (closed_probe.state, closed_probe.network) == ("moving", "moving")
    late = view_of({"now": {"probes": [{"to": 2, "layer": "api", "outcome": "unknown"}]}}).probes
    assert [(late_probe.state, late_probe.network) for late_probe in late if late_probe.broker_id == 2] == [("unknown", "open")]


def test_endpoints_are_what_is_probed_where_nothing_is_registered():
    assert [endpoint.resource for endpoint in view_of({}).advertised] == [
        f"broker/{broker}/listener/PLAINTEXT" for broker in range(3)
    ]
    assert view_of({"now": {"zookeeper": "none"}}).advertised == view_of({}).advertised


def test_queries_are_given_the_samples_brokers_and_views():
    case = {"previous": {"brokers": {2: {"mzxid": 90}}}, "now": {"views": {"x:1": {"kafka_cluster_id": "other"}}}}
    chosen = given_of(case, ChosenSample)
    assert [(row.moment, row.source_id, row.sample) for row in chosen] == [
        ("now", "case", 2),
        ("before", "case", 1),
        ("previous", "case-previous", 1),
    ]
    assert (chosen[0].steady, chosen[0].minutes, chosen[0].controller_epoch, chosen[0].first_zxid) == (True, 60.0, 3, 1000)
    brokers = [row for row in given_of(case, KnownBroker) if row.moment == "now"]
    assert [(row.broker_id, row.min_isr, row.capped, row.returned) for row in brokers] == [
        (0, 2, False, False),
        (1, 2, False, False),
        (2, 2, False, True),
    ]
    views = [row for row in given_of(case, ObserverView) if row.moment == "now"]
    assert [(row.name, row.filled, row.hides, row.old_metadata, row.registered_listener) for row in views] == [
        (name, True, False, False, True) for name in ("0", "1", "2")
    ]


def test_queries_are_given_reassignments_and_former_leaders():
    case = {
        "now": {
            "reassigning": [{"topic": "orders", "partition": 0, "adding": [2], "removing": [0]}],
            "leadership": {"answers": [{"broker": 0, "of": "orders-1", "error": 56}]},
        }
    }
    moves = given_of(case, Reassigned)
    assert [(row.moment, row.topic, row.partition, row.adding, row.removing) for row in moves] == [
        ("now", "orders", 0, (2,), (0,))
    ]
    assert [(row.broker_id, row.topic, row.partition) for row in given_of(case, FormerLeader)] == [(0, "orders", 1)]


def test_min_isr_is_unknown_where_topics_settings_were_not_read():
    unread = {"reads": [{"observer": "zookeeper", "operation": "zookeeper /config/topics", "error": "NoAuthError"}]}
    gap = view_of({"now": unread}).min_isr_gap
    assert (gap.whole, gap.topics_unread) == (True, True)
    assert {row.min_isr for row in given_of({"now": unread}, KnownBroker)} == {None}
    assert view_of({}).min_isr_gap is None
    differing = {"now": {"configs": {0: {"min.insync.replicas": "1"}, 2: {"min.insync.replicas": None}}}}
    assert view_of(differing).min_isr_gap.error == "not every broker reported min.insync.replicas"


def test_a_judgement_keeps_types_and_leaves_out_what_is_none():
    judged = view_of({}).judge("broker/2", Status.FAIL, count=3, brokers=[1, 2], error=None)
    assert (judged.snapshot_id, dict(judged.evidence)) == ("case", {"count": 3, "brokers": (1, 2)})
