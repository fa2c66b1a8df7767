"""Addresses that a plan gives to brokers: how they are worded, where they belong, what trials say of them."""

import re

import pytest

import small_cluster
from kafka_audit.checks import catalogue
from kafka_audit.checks.run import judge
from kafka_audit.migration import addresses
from kafka_audit.model.errors import UsageError
from kafka_audit.model.finding import Status

CLUSTER = {
    "brokers": {
        n: {"listeners": {"CLIENT": f"PLAINTEXT://10.99.0.{10 + n}:9092", "INTERNAL": f"PLAINTEXT://10.99.0.{10 + n}:9094"}}
        for n in range(3)
    },
    "configs": {"inter.broker.listener.name": "INTERNAL"},
}
KRAFT = {"brokers": {0: "k:9092"}, **small_cluster.KRAFT}


def proposed(*lines, cluster=CLUSTER):
    view = small_cluster.view(cluster)
    return addresses.proposed_registrations(addresses.parse_addresses(lines), view.inter_broker.brokers, view)


def told(endpoints):
    return [(endpoint.broker_id, endpoint.listener, addresses.endpoint_text(endpoint)) for endpoint in endpoints]


def test_a_line_is_about_one_broker_or_about_all():
    found = proposed("CLIENT://kafka-{broker_id}.example.com:9092", "1: CLIENT://other:9192, INTERNAL://[fe80::1]:9094", "")
    assert told(found) == [
        (0, "CLIENT", "kafka-0.example.com:9092"),
        (1, "CLIENT", "other:9192"),
        (1, "INTERNAL", "[fe80::1]:9094"),
        (2, "CLIENT", "kafka-2.example.com:9092"),
    ]


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("kafka-0:9092", "line 1: 'kafka-0:9092' must have the form N: LISTENER://HOST:PORT"),
        ("0: CLIENT://kafka-0", "must have the form"),
        ("0: CLIENT://kafka-0:99999", "must have the form"),
        ("0: CLIENT://kafka 0:1", "must have the form"),
        ("0: CLIENT://$(id):1", "must have the form"),
        ("CLIENT://kafka-0:9092", "sets one address for all brokers"),
        ("0: CLIENT://a:1,CLIENT://b:1", "broker 0 has two addresses for listener CLIENT"),
    ],
)
def test_a_line_that_makes_no_sense_is_named(line, says):
    with pytest.raises(UsageError, match=re.escape(says)):
        addresses.parse_addresses([line])


def test_what_is_advertised_already_is_nothing_new():
    view = small_cluster.view(CLUSTER)
    found = proposed("0: CLIENT://10.99.0.10:9092", "1: CLIENT://10.99.0.11:9192")
    assert told(addresses.new_endpoints(found, view)) == [(1, "CLIENT", "10.99.0.11:9192")]
    assert addresses.afterwards(found, view) == (
        ["Broker 1 does not advertise the proposed CLIENT://10.99.0.11:9192."],
        [],
    )


def test_names_of_hosts_and_listeners_have_no_case():
    found = proposed("0: client://K0.Example.COM:9092")
    cluster = CLUSTER | {"brokers": CLUSTER["brokers"] | {0: {"listeners": {"CLIENT": "PLAINTEXT://k0.example.com:9092"}}}}
    assert addresses.new_endpoints(found, small_cluster.view(cluster)) == ()
    assert found[0].listener == "CLIENT"


def test_what_nobody_told_is_not_called_undone():
    found = proposed("0: CLIENT://k:9092", cluster=KRAFT)
    not_done, not_known = addresses.afterwards(found, small_cluster.view(KRAFT))
    assert not_done == []
    assert [gap["message"] for gap in not_known] == ["Cannot determine whether broker 0 advertises the proposed CLIENT://k:9092"]


@pytest.mark.parametrize("cluster", [CLUSTER, KRAFT | {"configs": {0: {"advertised.listeners": "CLIENT://k:9092"}}}])
def test_checks_of_registrations_judge_what_is_proposed_with_and_without_zookeeper(cluster):
    view = small_cluster.view(cluster)
    after = addresses.view_with_proposed(proposed("0: CLIENT://k:9092", "0: INTERNAL://0.0.0.0:9094", cluster=cluster), (), view)
    failed = {
        judgement.resource for judgement in judge(after, {"KA303": catalogue()["KA303"]}) if judgement.status is Status.FAIL
    }
    assert "broker/0/listener/INTERNAL" in failed


def test_without_zookeeper_an_address_that_a_silent_broker_has_is_taken():
    cluster = KRAFT | {"brokers": {0: "k:9092", 2: "k2:9092"}, "views": {2: {"answers": False}}}
    view = small_cluster.view(cluster)
    after = addresses.view_with_proposed(proposed("0: PLAINTEXT://k2:9092", cluster=cluster), (), view)
    failed = {
        judgement.resource for judgement in judge(after, {"KA304": catalogue()["KA304"]}) if judgement.status is Status.FAIL
    }
    assert "broker/2/listener/PLAINTEXT" in failed


def test_two_addresses_for_one_listener_of_a_broker_are_a_blocker():
    two = (*proposed("0: CLIENT://a:9092"), *proposed("0: CLIENT://b:9092"), *proposed("1: CLIENT://c:9092"))
    (line,) = addresses.contradictions((*two, *two))
    assert (line.heading, line.item.message) == ("blockers", "Broker 0 has 2 addresses for CLIENT: a:9092 and b:9092")


def test_without_zookeeper_settings_tell_what_is_advertised():
    cluster = KRAFT | {"configs": {0: {"advertised.listeners": "CLIENT://k:9092,INTERNAL://k:9094"}}}
    found = proposed("0: CLIENT://k:9092, INTERNAL://elsewhere:9094", cluster=cluster)
    assert told(addresses.new_endpoints(found, small_cluster.view(cluster))) == [(0, "INTERNAL", "elsewhere:9094")]


def test_a_broker_or_a_listener_that_is_not_there_is_a_blocker():
    found = proposed("7: CLIENT://a:9092", "0: EXTERNAL://a:9093", "1: CLIENT://a:9092")
    seven, external = sorted(addresses.misplaced(found, small_cluster.view(CLUSTER)), key=lambda line: line.item.resource)[::-1]
    assert {seven.heading, external.heading} == {"blockers"}
    assert seven.item.message == "Broker 7 is not in the cluster and cannot advertise a:9092"
    assert external.item.message.startswith("Broker 0 advertises CLIENT and INTERNAL, not EXTERNAL")
