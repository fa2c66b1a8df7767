"""Listeners' names where nobody registers them."""

import pytest

from kafka_audit.clients.targets import UNREGISTERED
from kafka_audit.collect.brokers.listener_names import with_listener_names
from kafka_audit.model.tables import BOOTSTRAP, BrokerConfig, BrokerIdentity, BrokerView, Probe, ViewBroker
from made_rows import made


def config(value, key="advertised.listeners", broker=1):
    return made(BrokerConfig, broker_id=broker, key=key, value=value)


def probe(host="K1.example.com", port=9092, broker=1, listener=BOOTSTRAP, via="127.0.0.1:1"):
    return made(Probe, broker_id=broker, listener=listener, host=host, port=port, via=via)


def identity(broker=1, address="127.0.0.1:1"):
    return made(BrokerIdentity, broker_id=broker, listener=BOOTSTRAP, address=address, answered_by=1)


def view(broker=1, address="127.0.0.1:1"):
    return made(BrokerView, broker_id=broker, listener=BOOTSTRAP, address=address)


def names(*rows):
    return [row.listener for row in with_listener_names(rows) if hasattr(row, "listener")]


def test_settings_tell_the_listener_of_an_address():
    advertised = config("client://k1.example.com:9092,INTERNAL://k1.example.com:9094")
    assert names(advertised, probe(), probe(port=9094)) == ["CLIENT", "INTERNAL"]
    assert names(advertised, probe(), view(), identity()) == ["CLIENT", "CLIENT", "CLIENT"]


def test_where_two_listeners_were_asked_the_dialled_address_tells_which():
    advertised = config("CLIENT://k1.example.com:9092,INTERNAL://k1.example.com:9094")
    inside = "K1.example.com:9094"
    rows = (advertised, probe(), probe(port=9094, via=None), view(), view(address=inside), identity(address=inside))
    assert names(*rows) == ["CLIENT", "INTERNAL", "CLIENT", "INTERNAL", "INTERNAL"]


def test_one_address_that_was_dialled_for_two_listeners_tells_neither():
    advertised = config("CLIENT://k1.example.com:9092,INTERNAL://k1.example.com:9094")
    assert names(advertised, probe(), probe(port=9094), view()) == ["CLIENT", "INTERNAL", BOOTSTRAP]


@pytest.mark.parametrize("value", [":9092", "0.0.0.0:9092", "[::]:9092"])
def test_a_listener_without_a_host_is_known_by_its_port(value):
    assert names(config(f"CLIENT://{value}", "listeners"), probe()) == ["CLIENT"]
    assert names(config(f"CLIENT://{value}", "listeners"), probe(port=9093)) == [BOOTSTRAP]


def test_ipv6():
    assert names(config("CLIENT://[fd00::1]:9092"), probe("fd00::1")) == ["CLIENT"]


@pytest.mark.parametrize(
    "rows", [[], [config(None)], [config("CLIENT://elsewhere:9092")], [config("CLIENT://k1.example.com:9092", broker=2)]]
)
def test_what_nobody_told_stays_without_a_name(rows):
    assert names(*rows, probe(), view()) == [BOOTSTRAP, BOOTSTRAP]


def test_registered_listeners_and_unknown_brokers_stay_as_they_are():
    advertised = config("CLIENT://k1.example.com:9092")
    assert names(advertised, probe(listener="OTHER"), probe(broker=UNREGISTERED)) == ["OTHER", BOOTSTRAP]


def test_a_broker_that_told_nothing_has_the_name_from_those_that_list_it():
    advertised = config("CLIENT://k1.example.com:9092,INTERNAL://k1.example.com:9094")
    listed = ViewBroker(brokers_digest="b", broker_id=2, host="localhost", port=9092, rack=None)
    assert names(advertised, probe(), view(), listed, probe("localhost", broker=2)) == ["CLIENT", "CLIENT", "CLIENT"]
    # The view has no name where two listeners of its broker were asked, and nobody lists the other address.
    assert names(advertised, probe(), probe(port=9094), view(), listed, probe("localhost", broker=2))[-1] == BOOTSTRAP
    assert names(advertised, probe(), view(), listed, probe("elsewhere", broker=2))[-1] == BOOTSTRAP
