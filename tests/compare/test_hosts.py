"""Which texts name one host, and which do not."""

import pytest

from kafka_audit.compare.addresses import address_text, canonical_address, canonical_text, is_among, same_address
from kafka_audit.compare.hosts import canonical_host, same_host

SAME = [
    ("Kafka-0.corp", "kafka-0.corp"),
    ("kafka-0.corp.", "kafka-0.corp"),
    ("2001:DB8:0:0::10", "2001:db8::10"),
    ("[2001:db8::10]", "2001:db8::10"),
    ("::ffff:10.0.0.1", "10.0.0.1"),
    ("::ffff:a00:1", "10.0.0.1"),
    ("b\u00fccher.corp", "xn--bcher-kva.corp"),
    ("B\u00dcCHER.corp.", "xn--bcher-kva.CORP"),
    ("kafka-0\u3002corp", "kafka-0.corp"),
    ("", ""),
    ("not a host ", "not a host "),
    ("\ud800.corp", "\ud800.corp"),
    ("A" * 300, "A" * 300),
]
OTHER = [
    ("kafka-0.corp", "kafka-1.corp"),
    ("kafka-0.corp", "kafka-0"),
    ("kafka-0", "kafka_0"),
    ("10.0.0.1", "10.0.0.10"),
    ("10.0.0.1", "::10.0.0.1"),
    ("64:ff9b::a00:1", "10.0.0.1"),
    ("fe80::1%eth0", "fe80::1%eth1"),
    ("2001:db8::1", "2001:db8::10"),
    ("localhost", "127.0.0.1"),
    ("bucher.corp", "b\u00fccher.corp"),
    ("kafka..corp", "kafka.corp"),
    ("kafka", ""),
]


@pytest.mark.parametrize(("host", "other"), SAME)
def test_one_host_in_two_spellings(host, other):
    assert same_host(host, other)
    assert same_host(other, host)
    assert canonical_host(canonical_host(host)) == canonical_host(host)


@pytest.mark.parametrize(("host", "other"), OTHER)
def test_two_hosts(host, other):
    assert not same_host(host, other)
    assert canonical_host(host) != canonical_host(other)


def test_an_address_is_a_host_and_a_port():
    assert same_address(("Kafka-0.corp", 9092), ("kafka-0.corp.", 9092))
    assert not same_address(("kafka-0.corp", 9092), ("kafka-0.corp", 9093))
    assert canonical_address("[::FFFF:10.0.0.1]", 9092) == ("10.0.0.1", 9092)
    assert is_among(("B0", 9092), [("b1", 9092), ("b0", 9092)])
    assert not is_among(("b0", 9092), [])


def test_an_address_as_text():
    assert address_text("2001:db8::1", 9092) == "[2001:db8::1]:9092"
    assert address_text("b0", 9092) == "b0:9092"
    assert canonical_text("[2001:DB8::1]:9092") == canonical_text("2001:db8::1:9092")
    assert canonical_text("B0.corp.:9092") == "b0.corp:9092"
    assert canonical_text("b0:9092") != canonical_text("b0:9093")
