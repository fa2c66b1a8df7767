"""What is refused, by which key; and by whose rules a version is judged."""

import time

import pytest

from kafka_audit.configuration.definitions import VERSIONS, StartRule
from kafka_audit.configuration.starts import nearest_release, start_refusal
from testbed.differential.generate import configurations

BROKER = {"broker.id": "1", "zookeeper.connect": "zk:2181"}


@pytest.mark.parametrize(
    ("version", "told", "key", "words"),
    [
        ("3.9.1", {"listeners": "PLAINTEXT://:9092,SSL://:9092"}, "listeners", "must have a different port"),
        ("3.9.1", {"listeners": "LAN://:9092"}, "listeners", "No security protocol defined for listener LAN"),
        ("2.8.2", {"listeners": "SSL://:9093"}, "listeners", "inter.broker.listener.name must be a listener name"),
        ("2.8.2", {"advertised.listeners": "PLAINTEXT://0.0.0.0:1"}, "advertised.listeners", "nonroutable meta-address"),
        ("1.1.1", {"compression.type": "zstd"}, "compression.type", "zstd is not valid"),
        ("3.9.1", {"controller.listener.names": "C"}, "controller.listener.names", "must be empty when not running in KRaft"),
        (
            "3.9.1",
            {
                "listeners": "SASL_SSL://:9092",
                "security.inter.broker.protocol": "SASL_SSL",
                "listener.name.sasl_ssl.sasl.enabled.mechanisms": "PLAIN",
            },
            "listener.name.sasl_ssl.sasl.enabled.mechanisms",
            "sasl.mechanism.inter.broker.protocol must be included",
        ),
    ],
)
def test_the_key_to_blame(version, told, key, words):
    found = start_refusal(BROKER | told, version)
    assert found is not None
    assert found.key == key
    assert words in found.message


@pytest.mark.parametrize(
    ("version", "told", "rule"),
    [
        ("1.1.1", {"listeners": "SSL://:9093"}, StartRule.NOT_ADVERTISED),
        ("4.4.0", {"inter.broker.listener.name": "LAN"}, StartRule.NOT_MAPPED),
        ("2.8.2", {"security.inter.broker.protocol": "SASL_SSL", "listeners": "SASL_SSL://:9092"}, None),
        (
            "2.8.2",
            {"listeners": "SASL_SSL://:1", "security.inter.broker.protocol": "SASL_SSL", "sasl.enabled.mechanisms": "PLAIN"},
            StartRule.MECHANISM_NOT_ENABLED,
        ),
        ("3.9.1", {"num.io.threads": "many"}, StartRule.VALUE),
        ("3.9.1", {"listeners": "LAN://:9092"}, None),
    ],
)
def test_the_rule_that_refuses_is_told_apart(version, told, rule):
    kraft = {"process.roles": "broker", "node.id": "1", "controller.listener.names": "C", "controller.quorum.voters": "2@c:9093"}
    found = start_refusal((kraft if version >= "4" else BROKER) | told, version)
    assert (found and found.rule) is rule


def test_of_two_names_for_one_id_the_one_in_the_file_is_to_blame():
    found = start_refusal({"node.id": "x", "zookeeper.connect": "zk:2181"}, "3.9.1")
    assert found is not None
    assert (found.key, found.message) == ("node.id", "Invalid value x for configuration broker.id: Not a number of type INT")


def test_an_address_of_each_family_may_share_a_port_since_3_8():
    both = BROKER | {"listeners": "PLAINTEXT://10.0.0.1:9092,SSL://[fe80::1%eth0]:9092"}
    assert start_refusal(both, "3.9.1") is None
    assert start_refusal(both, "2.8.2") is not None


@pytest.mark.parametrize(
    ("version", "judged"),
    [
        ("3.9.1", "3.9.1"),
        ("3.8.0", "3.9.1"),
        ("3.0.0", "3.9.1"),
        ("2.0", "2.8.2"),
        ("1.0.2", "1.1.1"),
        ("0.11.0.3", "1.1.1"),
        ("4.1.0", "4.3.0"),
        ("4.4.0", "4.4.0"),
        ("5.0.0", VERSIONS[-1]),
    ],
)
def test_a_version_is_judged_by_the_nearest_one(version, judged):
    assert nearest_release(version) == judged


@pytest.mark.parametrize("text", ["", "latest", "3.x", "3..1", "9999.1"])
def test_what_is_no_version(text):
    with pytest.raises(ValueError, match="is not a Kafka version"):
        nearest_release(text)


def test_a_thousand_files_take_no_time():
    cases = list(configurations("4.3.0", "kraft", 1000, 1))
    start_refusal(cases[0], "4.3.0")
    started = time.process_time()
    for one in cases:
        start_refusal(one, "4.3.0")
    assert time.process_time() - started < 1
