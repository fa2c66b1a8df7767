"""What fails for whom: by partition, by the broker whose view is empty, by user, and for the whole cluster."""

import pytest

from checks.cases import base, case_files
from checks.world import merged, snapshots
from cluster_views import cluster_view
from incidents.case_files import findings_of
from kafka_audit.checks import catalogue
from kafka_audit.checks.run import judge
from kafka_audit.report.impacts import impacts, who_is_hurt

LOST = {"replicas": [0, 1], "leader": -1, "isr": [1]}
OWN = {"topic_id": "own-id", "czxid": 500, "mzxid": 500}


def hurt(*codes, world=None, **now):
    snapshot, _ = snapshots(merged(base(), world or {}), "impacts", {"now": now})
    view = cluster_view(snapshot)
    checks = {code: check for code, check in catalogue().items() if code in codes}
    return impacts(findings_of(view, judge(view, checks), []), checks, view)


def functions(found):
    return [impact.function for impact in found]


def test_without_a_leader_nobody_reads_or_writes():
    found = hurt("KA601", topics={"orders": {"partitions": {0: LOST, 2: LOST}}})
    assert functions(found) == ["produce_acks_all", "produce", "consume"]
    assert {(impact.topics, impact.partitions) for impact in found} == {(("orders",), ("orders-0", "orders-2"))}
    assert who_is_hurt(found) == "Clients cannot write to or read from 2 partitions of topic orders."


SMALL = {"isr": [1], "leader": 1}


def test_what_has_no_leader_is_not_said_to_take_what_a_small_isr_takes():
    found = hurt("KA601", "KA602", topics={"orders": {"partitions": {0: LOST, 1: SMALL, 2: SMALL}}}, apis={0: [0, 16]})
    assert who_is_hurt(found) == (
        "Clients cannot write to or read from orders-0. Producers with acks=all fail at 2 partitions of topic orders."
    )


def test_of_several_topics_few_partitions_have_names():
    other = {"topic_id": "b", "czxid": 500, "mzxid": 500, "partitions": {0: {**LOST, "controller_epoch": 3, "state_mzxid": 510}}}
    found = hurt("KA601", topics={"orders": {"partitions": {0: LOST}}, "clicks": other})
    assert who_is_hurt(found) == "Clients cannot write to or read from clicks-0 and orders-0."


def test_what_a_broker_with_an_empty_view_leads_is_counted_once():
    """Of the four partitions broker 2 leads orders-2; that its ISR is too small is no second partition."""
    empty = {2: {"brokers": "none", "topics": "none", "controller_id": -1}}
    found = hurt("KA105", "KA602", views=empty, topics={"orders": {"partitions": {1: SMALL, 2: {"isr": [2]}}}})
    of_all, of_some = found[:2]
    assert (of_all.number, of_all.partitions, of_all.leaders) == (2, ("orders-1",), (2,))
    assert (of_some.number, of_some.partitions, of_some.leaders) == (1, None, (2,))
    assert who_is_hurt(found) == (
        "Clients cannot write to or read from 1 partition that broker 2 leads. Producers with acks=all fail at orders-1."
    )


def test_partitions_with_names_and_those_that_are_counted_are_told_apart():
    empty = {2: {"brokers": "none", "topics": "none", "controller_id": -1}}
    found = hurt("KA105", "KA601", views=empty, topics={"orders": {"partitions": {0: LOST}}})
    assert who_is_hurt(found) == "Clients cannot write to or read from orders-0, and 1 partition that broker 2 leads."


@pytest.mark.parametrize(
    ("topic", "function", "says"),
    [
        ("__consumer_offsets", "commit_offsets", "Consumer groups of __consumer_offsets-0 cannot commit or rebalance."),
        (
            "__transaction_state",
            "transactions",
            "Transactional producers of __transaction_state-0 cannot begin or end a transaction.",
        ),
    ],
)
def test_kafkas_own_topics_are_what_groups_and_transactions_need(topic, function, says):
    found = hurt("KA601", topics={topic: {**OWN, "partitions": {0: {**LOST, "controller_epoch": 3, "state_mzxid": 510}}}})
    assert functions(found) == [function]
    assert who_is_hurt(found) == says


LOST_ADDRESS = [
    {"vantage": "brokers", "from": [0, 1, 2], "to": [0, 1]},
    {"vantage": "brokers", "from": [0, 1, 2], "to": 2, "layer": "tcp", "error": "no route to host"},
]
FAILS = {"layer": "tcp", "error": "no route to host", "to": 2}


@pytest.mark.parametrize(
    ("probes", "topics", "says"),
    [
        ([*LOST_ADDRESS, FAILS], {"orders": {"partitions": {2: {"isr": [2]}}}}, "Clients cannot write to or read from orders-2."),
        ([*LOST_ADDRESS, FAILS], {}, "Clients cannot write to or read from 1 partition that broker 2 leads."),
        ([*LOST_ADDRESS, FAILS], {"orders": {"partitions": {2: {"leader": 0}}}}, ""),
        (  # its own host reaches it: clients elsewhere may, too
            [*LOST_ADDRESS, FAILS, {"vantage": "brokers", "from": 2, "to": 2}],
            {"orders": {"partitions": {2: {"isr": [2]}}}},
            "",
        ),
        ([LOST_ADDRESS[0], FAILS], {"orders": {"partitions": {2: {"isr": [2]}}}}, ""),  # asked from one place alone
    ],
    ids=["named", "counted", "it leads none", "reached from its host", "no vantage there"],
)
def test_what_a_broker_leads_whose_address_leads_nowhere_is_out_of_reach(probes, topics, says):
    kraft = {"info": {"mode": "kraft"}, "zookeeper": "none"}
    assert who_is_hurt(hurt("KA301", world=kraft, probes=probes, topics=topics)) == says


def test_a_replica_that_copies_stops_nothing():
    now = {"orders": {"partitions": {2: {"isr": [2]}}}}
    assert functions(hurt("KA604", topics=now)) == []


def test_of_a_healthy_cluster_nothing_fails():
    assert hurt(*catalogue()) == ()


def test_an_empty_view_stops_groups_and_transactions_whose_coordinator_it_is():
    own = {"controller_epoch": 3, "state_mzxid": 510, "replicas": [2], "leader": 2, "isr": [2]}
    topics = {"__consumer_offsets": {**OWN, "partitions": {0: own, 1: own}}}
    found = hurt("KA105", views={2: {"brokers": "none", "topics": "none", "controller_id": -1}}, topics=topics)
    of_clients, of_groups = found[0], found[-1]
    assert (functions(found)[-1], of_groups.number, of_groups.leaders) == ("commit_offsets", 2, (2,))
    assert of_clients.number != of_groups.number
    assert who_is_hurt(found).endswith(" Consumer groups whose coordinator is broker 2 cannot commit or rebalance.")


@pytest.mark.parametrize(("cut", "stopped"), [((0, 1, 2), ["create_topics", "elect_leader"]), ((0, 2), [])])
def test_without_a_way_to_any_controller_from_any_broker_nothing_is_changed(cut, stopped):
    _, raw = case_files()["KA216"]
    away = {"layer": "tcp", "outcome": "failed", "error": "timeout"}
    lost = {broker: {"c1:9093": away, "c2:9093": away} for broker in cut}
    quorum = {"observers": dict.fromkeys(cut, 60)}
    assert functions(hurt("KA216", world=raw["world"], quorum=quorum, controllers_from=lost)) == stopped
