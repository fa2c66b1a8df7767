"""Which texts name one host, and which do not."""

import pytest

from kafka_audit.compare.addresses import (
    address_text,
    canonical_address,
    canonical_host,
    canonical_text,
    is_among,
    is_in_network,
    java_address,
    same_address,
    same_host,
)

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


# What CidrUtils of Kafka 4.4.0 answers.
IN_NETWORK = [
    ("10.0.0.0", "10.0.0.0/8"),
    ("10.255.255.255", "10.9.9.9/8"),
    ("10.0.0.1", "010.0.0.0/08"),
    ("10.0.0.1", "0.0.0.0/0"),
    ("::ffff:10.0.0.1", "10.0.0.1/32"),
    ("2001:db8::1", "2001:DB8::5/032"),
    ("2001:db8:0:0:0:0:0:1", "[2001:db8::]/+32"),
    ("fe80::1%eth0", "fe80::/10"),
]
NOT_IN_NETWORK = [
    ("11.0.0.0", "10.0.0.0/8"),
    ("10.0.0.1", "10.0.0.0/33"),
    ("10.0.0.1", "10.0.0/8"),
    ("10.0.0.1", "10.0.0.256/8"),
    ("10.0.0.1", "10.0.0.0/255.0.0.0"),
    ("10.0.0.1", " 10.0.0.0/8"),
    ("10.0.0.1", "10.0.0.1"),
    ("10.0.0.1", "::/0"),
    ("10.0.0.1", "::ffff:10.0.0.0/104"),
    ("::1", "0.0.0.0/0"),
    ("2001:db8::1", "2001:db8::/129"),
    ("2001:db8::1", "2001:db8::/32/1"),
    ("b0.example", "10.0.0.0/8"),
    ("10.0.0.1", "b0.example/8"),
    ("", "0.0.0.0/0"),
]


def test_networks_are_kafkas():
    assert [pair for pair in IN_NETWORK if not is_in_network(*pair)] == []
    assert [pair for pair in NOT_IN_NETWORK if is_in_network(*pair)] == []


def test_an_address_as_java_writes_it():
    assert java_address("2001:DB8::10") == "2001:db8:0:0:0:0:0:10"
    assert java_address("::ffff:10.0.0.1") == java_address("10.0.0.1") == "10.0.0.1"
    assert java_address("b0.example") == "b0.example"
