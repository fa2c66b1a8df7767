"""Addresses that a plan gives to brokers: how they are worded, where they belong, what trials say of them."""

import re

import pytest

import small_cluster
from kafka_audit.change import addresses
from kafka_audit.model.errors import UsageError
from kafka_audit.model.tables import Probe

CLUSTER = {
    "brokers": {n: {"CLIENT": f"10.99.0.{10 + n}:9092", "INTERNAL": f"10.99.0.{10 + n}:9094"} for n in range(3)},
    "configs": {n: {"inter.broker.listener.name": "INTERNAL"} for n in range(3)},
}
KRAFT = {"brokers": {0: "k:9092"}, "views": {0: "full"}, "mode": "kraft", "zookeeper": False}


def proposed(*lines, cluster=CLUSTER):
    return addresses.endpoints(addresses.parse(lines), small_cluster.snapshot(cluster))


def told(endpoints):
    return [(one.broker_id, one.listener, addresses.written(one)) for one in endpoints]


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
        ("kafka-0:9092", "line 1: 'kafka-0:9092' is not of the form N: LISTENER://HOST:PORT"),
        ("0: CLIENT://kafka-0", "is not of the form"),
        ("0: CLIENT://kafka-0:99999", "is not of the form"),
        ("0: CLIENT://kafka 0:1", "is not of the form"),
        ("0: CLIENT://$(id):1", "is not of the form"),
        ("CLIENT://kafka-0:9092", "gives all brokers one address"),
        ("0: CLIENT://a:1,CLIENT://b:1", "broker 0 is given two for listener CLIENT"),
    ],
)
def test_a_line_that_makes_no_sense_is_named(line, says):
    with pytest.raises(UsageError, match=re.escape(says)):
        addresses.parse([line])


def test_what_is_advertised_already_is_nothing_new():
    snapshot = small_cluster.snapshot(CLUSTER)
    found = proposed("0: CLIENT://10.99.0.10:9092", "1: CLIENT://10.99.0.11:9192")
    assert told(addresses.new(found, snapshot)) == [(1, "CLIENT", "10.99.0.11:9192")]
    assert [*addresses.not_advertised(found, snapshot)] == [
        "Broker 1 does not advertise CLIENT://10.99.0.11:9192, as was proposed."
    ]


def test_without_zookeeper_settings_tell_what_is_advertised():
    cluster = KRAFT | {"configs": {0: {"advertised.listeners": "CLIENT://k:9092,INTERNAL://k:9094"}}}
    found = proposed("0: CLIENT://k:9092, INTERNAL://elsewhere:9094", cluster=cluster)
    assert told(addresses.new(found, small_cluster.snapshot(cluster))) == [(0, "INTERNAL", "elsewhere:9094")]


def test_a_broker_or_a_listener_that_is_not_there_is_a_blocker():
    found = proposed("7: CLIENT://a:9092", "0: EXTERNAL://a:9093", "1: CLIENT://a:9092")
    seven, external = sorted(addresses.misplaced(found, small_cluster.snapshot(CLUSTER)), key=lambda one: one.item.resource)[::-1]
    assert {seven.heading, external.heading} == {"blockers"}
    assert seven.item.message == "Broker 7 is to advertise a:9092, and is not in the cluster"
    assert external.item.message.startswith("Broker 0 advertises CLIENT and INTERNAL, not EXTERNAL")


def probe(layer, outcome, *, listener="CLIENT", vantage="dmz", start=None, **more):
    more = {"error": None, "detail": None, "needs": None} | more
    return Probe(
        sample=0,
        vantage=vantage,
        role="client" if start is None else "broker",
        from_broker=start,
        broker_id=0,
        listener=listener,
        protocol="PLAINTEXT",
        host="new",
        port=9092,
        via=None,
        layer=layer,
        outcome=outcome,
        **more,
    )


@pytest.mark.parametrize(
    ("last", "heading", "code", "message"),
    [
        (
            probe("dns", "failed", error="name or service not known"),
            "blockers",
            "KA301",
            "dmz does not reach new:9092, which broker 0 is to advertise: dns, name or service not known",
        ),
        (probe("tcp", "failed", error="timeout"), "blockers", "KA301", "dmz does not reach new:9092, .*: tcp, timeout"),
        (probe("tcp", "failed", error="connection refused"), "warnings", "KA301", "Nothing listens yet at new:9092"),
        (probe("identity", "ok", detail="2"), "blockers", "KA111", "new:9092, .* leads dmz to broker 2"),
        (probe("identity", "ok", detail="0"), "information", "KA301", "dmz reaches new:9092, .*, and that broker answers"),
        (probe("identity", "unknown", error="not allowed"), "information", "KA301", "dmz reaches new:9092, .* advertise$"),
        (probe("dns", "unknown", error="timeout", needs="ssh"), "not_known", "KA301", "Not known: whether dmz reaches new:9092"),
    ],
)
def test_the_last_layer_of_a_walk_decides(last, heading, code, message):
    walk = [probe("dns", "ok"), last] if last.layer != "dns" else [last]
    (one,) = addresses.tried(proposed("0: CLIENT://new:9092"), walk, ["dmz"], small_cluster.snapshot(CLUSTER))
    assert (one.heading, one.item.code, one.item.resource) == (heading, code, "broker/0/listener/CLIENT")
    assert re.search(message, one.item.message)


def test_who_was_to_reach_it_and_did_not_try_is_an_open_question():
    (one,) = addresses.tried(proposed("0: CLIENT://new:9092"), [], ["dmz"], small_cluster.snapshot(CLUSTER))
    assert (one.heading, one.item.source) == ("not_known", "vantage dmz")


def test_an_address_between_brokers_is_tried_from_brokers():
    """The controller that cannot reach what a broker advertises is the dearest of all mistakes, and no client sees it."""
    found, snapshot = proposed("0: INTERNAL://new:9094"), small_cluster.snapshot(CLUSTER)
    worker = probe("identity", "ok", listener="INTERNAL", vantage="worker", detail="0")
    reached, unknown = addresses.tried(found, [worker], [], snapshot)
    assert (reached.heading, unknown.heading) == ("information", "not_known")
    assert unknown.item.message.startswith("Not known: whether the other brokers reach new:9094")
    cut = probe("tcp", "failed", listener="INTERNAL", vantage="hosts", start=1, error="no route to host")
    _, one = addresses.tried(found, [worker, cut], ["hosts"], snapshot)
    assert (one.heading, one.item.message.split(" does")[0]) == ("blockers", "broker 1")
