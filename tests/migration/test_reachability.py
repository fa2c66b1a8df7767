"""What the walks to proposed addresses say."""

import re

import pytest

from kafka_audit.migration import reachability
from kafka_audit.model.tables import Probe, RegisteredEndpoint
from made_rows import made

INTERNAL = frozenset({(0, "INTERNAL")})


def end(listener="CLIENT", protocol="PLAINTEXT"):
    return RegisteredEndpoint(sample=0, broker_id=0, listener=listener, protocol=protocol, host="new", port=9092)


def probe(layer, outcome, *, listener="CLIENT", vantage="dmz", start=None, **more):
    origin = {"vantage": vantage, "role": "client" if start is None else "broker", "from_broker": start}
    return made(Probe, sample=0, **origin, broker_id=0, listener=listener, host="new", layer=layer, outcome=outcome, **more)


WAYS = {
    "no_name": (
        [probe("dns", "failed", error="no such name")],
        "blockers",
        "KA301",
        "dmz does not reach new:9092, .*: dns, no such",
    ),
    "no_way": ([probe("dns", "ok"), probe("tcp", "failed", error="timeout")], "blockers", "KA301", "dmz does not reach .*: tcp"),
    "nothing_yet": (
        [probe("tcp", "failed", error="connection refused")],
        "warnings",
        "KA301",
        "No process listens yet at new:9092",
    ),
    "another": ([probe("identity", "ok", answered_by=2)], "blockers", "KA111", "new:9092, .* leads dmz to broker 2"),
    "itself": (
        [probe("identity", "ok", answered_by=0)],
        "information",
        "KA301",
        "dmz reaches new:9092, .*, and that broker answers",
    ),
    "no_right": (
        [probe("identity", "unknown", error="not allowed")],
        "warnings",
        "KA301",
        "the broker that answers is unknown$",
    ),
    "login": ([probe("sasl", "ok"), probe("api", "ok")], "warnings", "KA301", "the broker that answers is unknown$"),
    "not_run": (
        [probe("dns", "unknown", error="timeout", needs="ssh")],
        "not_known",
        "KA301",
        "Cannot determine whether dmz reaches",
    ),
    "not_trusted": (
        [probe("tcp", "ok"), probe("tls", "unknown", needs="a ca_file"), probe("api", "ok")],
        "not_known",
        "KA301",
        "Cannot determine whether dmz reaches new:9092, .*: tls, not decided",
    ),
}


@pytest.mark.parametrize(("way", "heading", "code", "message"), WAYS.values(), ids=WAYS)
def test_the_first_layer_that_does_not_work_decides(way, heading, code, message):
    (line,) = reachability.reachability_items([end()], way, ["dmz"], ())
    assert (line.heading, line.item.code, line.item.resource) == (heading, code, "broker/0/listener/CLIENT")
    assert re.search(message, line.item.message)


def test_behind_tcp_nothing_was_asked_where_the_protocol_is_not_known():
    (line,) = reachability.reachability_items([end(protocol="")], [probe("tcp", "ok")], ["dmz"], ())
    assert line.heading == "not_known"


def test_who_was_to_reach_it_and_did_not_try_is_an_open_question():
    (line,) = reachability.reachability_items([end()], [], ["dmz"], ())
    assert (line.heading, line.item.source) == ("not_known", "vantage dmz")
    (line,) = reachability.reachability_items([end()], [], [], ())
    assert (line.heading, line.item.source) == ("not_known", "proposed addresses")


def test_the_worker_need_not_reach_what_others_must():
    way = [probe("dns", "failed", vantage="worker", error="name or service not known"), probe("identity", "ok", answered_by=0)]
    assert {line.heading for line in reachability.reachability_items([end()], way, ["dmz"], ())} == {"warnings", "information"}
    assert [line.heading for line in reachability.reachability_items([end()], way[:1], [], ())] == ["blockers"]
    another = [probe("identity", "ok", vantage="worker", answered_by=2), way[1]]
    assert [line.heading for line in reachability.reachability_items([end()], another, ["dmz"], ())] == [
        "blockers",
        "information",
    ]


def test_an_address_between_brokers_is_tried_from_brokers():
    """The controller that cannot reach what a broker advertises is the dearest of all mistakes, and no client sees it."""
    worker = probe("identity", "ok", listener="INTERNAL", vantage="worker", answered_by=0)
    reached, unknown = reachability.reachability_items([end("INTERNAL")], [worker], [], INTERNAL)
    assert (reached.heading, unknown.heading) == ("information", "not_known")
    assert unknown.item.message.startswith("Cannot determine whether the other brokers reach new:9092")
    cut = probe("tcp", "failed", listener="INTERNAL", vantage="hosts", start=1, error="no route to host")
    _, line = reachability.reachability_items([end("INTERNAL")], [worker, cut], ["hosts"], INTERNAL)
    assert (line.heading, line.item.message.split(" does")[0]) == ("blockers", "broker 1")


def test_brokers_need_not_reach_an_address_for_clients():
    worker = probe("identity", "ok", vantage="worker", answered_by=0)
    cut = probe("tcp", "failed", vantage="hosts", start=1, error="no route to host")
    assert [line.heading for line in reachability.reachability_items([end()], [worker, cut], ["hosts"], INTERNAL)] == [
        "information"
    ]
