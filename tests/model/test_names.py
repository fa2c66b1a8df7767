"""Names that clusters have, and names that none has."""

import pytest

from kafka_audit.model.names import LONGEST_TEXT, NameKind, RefusedNames, can_be_name, is_port

POSSIBLE = {
    NameKind.HOST: [
        *("b1", "Kafka-0.kafka_headless.NS.svc.cluster.local", "kafka_broker_1", "10.0.0.1", "::1", "[::1]", "fe80::1%eth0.100"),
        *("2001:DB8::10", "[fe80::1%en0]", "::ffff:10.0.0.1", "b1.example.", "a" * 255, "1", ""),
    ],
    NameKind.LISTENER: ["PLAINTEXT", "SASL_SSL", "internal-1", "client.external", "L0"],
    NameKind.TOPIC: ["orders", "__consumer_offsets", "a.b-c_D.9", "...", "t" * 249],
    NameKind.RACK: ["eu-west-1a", "Zürich / row 7", "ラック"],
    NameKind.GROUP: ["billing", "my group (old)", "große-gruppe", "consumer;group$x", "⚙"],
    NameKind.PRINCIPAL: ["User:CN=b1.kafka,OU=\\#x,O=Some\\, Inc", "User:ANONYMOUS", "User:*"],
    NameKind.PATH: ["/var/lib/kafka", "C:\\kafka logs"],
}
IMPOSSIBLE = {
    NameKind.HOST: ["x ;touch /tmp/P;#", "$(x)", "a\n", "b1/x", "b1,b2", "a" * 256, "höst", "[::1", "a@b", "`x`", "b1\x00", "{}"],
    NameKind.LISTENER: ["", "A B", "PLAIN:TEXT", "A,B", "L\n", "L" * 256, "$(x)", "A/B"],
    NameKind.TOPIC: ["", ".", "..", "t" * 250, "a b", "a/b", "ö", "a\n", "$(x)"],
    NameKind.RACK: ["a\nb", "\x1b[31m", "\u2028", "r" * (LONGEST_TEXT + 1)],
    NameKind.GROUP: ["a\x00", "a\r\nb", "\x9b2J", "\ud800"],
    NameKind.PRINCIPAL: ["User:a\nUser:b"],
    NameKind.PATH: ["/data\n"],
}


@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind, names in POSSIBLE.items() for name in names])
def test_what_kafka_allows_is_a_name(kind, name):
    assert can_be_name(kind, name)


@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind, names in IMPOSSIBLE.items() for name in names])
def test_what_no_cluster_has_is_none(kind, name):
    assert not can_be_name(kind, name)


def test_ports():
    assert [is_port(port) for port in (-1, 0, 9092, 65535, 65536)] == [False, True, True, True, False]


def test_what_was_refused_is_counted_and_the_first_is_shown_in_part():
    refused = RefusedNames()
    assert not refused
    assert refused.text is None
    assert not refused.address("b1", 9092)
    assert refused.address("x ;" + "y" * 32_000, 9092)
    assert refused.address("b1", 70_000)
    refused.add("topic", "..")
    refused.add("topic", "a b")
    assert refused
    shown = "x ;" + "y" * 57
    assert refused.text == f"1 host, 1 port, 2 topics that no cluster has, the first: '{shown}' of 32003 characters"
