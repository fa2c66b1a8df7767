"""What is refused, by which key; and by whose rules a version is judged."""

import pytest

from counted_work import counted_calls
from kafka_audit.configuration.definitions import VERSIONS, StartRule
from kafka_audit.configuration.starts import nearest_release, start_refusal
from testbed.differential.compare import configurations

BROKER = {"broker.id": "1", "zookeeper.connect": "zk:2181"}


@pytest.mark.parametrize(
    ("version", "settings", "key", "words"),
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
def test_the_key_to_blame(version, settings, key, words):
    found = start_refusal(BROKER | settings, version)
    assert found is not None
    assert found.key == key
    assert words in found.message


@pytest.mark.parametrize(
    ("version", "settings", "rule"),
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
def test_the_rule_that_refuses_is_told_apart(version, settings, rule):
    kraft = {"process.roles": "broker", "node.id": "1", "controller.listener.names": "C", "controller.quorum.voters": "2@c:9093"}
    found = start_refusal((kraft if version >= "4" else BROKER) | settings, version)
    assert (found and found.rule) is rule


@pytest.mark.parametrize(
    ("version", "key"), [("2.7.2", "zookeeper.connect"), ("3.9.1", "zookeeper.connect"), ("4.4.0", "process.roles")]
)
def test_a_required_key_without_a_value_has_its_rule(version, key):
    found = start_refusal({"broker.id": "1"}, version)
    assert (found.key, found.rule) == (key, StartRule.MISSING)


def test_of_two_names_for_one_id_the_one_in_the_file_is_to_blame():
    found = start_refusal({"node.id": "x", "zookeeper.connect": "zk:2181"}, "3.9.1")
    assert found is not None
    assert (found.key, found.message) == ("node.id", "Invalid value x for configuration broker.id: Not a number of type INT")


KRAFT = {"process.roles": "broker", "node.id": "1", "controller.listener.names": "C", "controller.quorum.voters": "2@c:9093"}
MIGRATING = BROKER | KRAFT | {"process.roles": "", "node.id": "1", "zookeeper.metadata.migration.enable": "true"}
SHARED_PORT = {"listeners": "PLAINTEXT://10.0.0.1:9092,SSL://[fe80::1%eth0]:9092"}
CHANGED = {  # a configuration; the newest release that refuses or accepts it, the next one that does the opposite
    "an overridden mechanism": (
        BROKER
        | {
            "listeners": "SASL_SSL://:1",
            "security.inter.broker.protocol": "SASL_SSL",
            "listener.name.sasl_ssl.sasl.enabled.mechanisms": "PLAIN",
        },
        *("1.0.2", "1.1.1"),
    ),
    "connections of some hosts": (
        BROKER | {"max.connections.per.ip": "0", "max.connections.per.ip.overrides": "h:5"},
        *("1.1.1", "2.0.1"),
    ),
    "zstd": (BROKER | {"compression.type": "zstd"}, "2.0.1", "2.1.1"),
    "a name of one limit": (BROKER | {"max.connections.per.ip.overrides": "my host:3"}, "2.0.1", "2.1.1"),
    "the control plane": (BROKER | {"control.plane.listener.name": "PLAINTEXT"}, "2.1.1", "2.2.2"),
    "an authorizer of 2.4": (BROKER | {"authorizer.class.name": "kafka.security.authorizer.None"}, "2.3.1", "2.4.1"),
    "one advertised port": (
        BROKER | {"listeners": "PLAINTEXT://:1,SSL://:2", "advertised.listeners": "PLAINTEXT://h:1,SSL://h:1"},
        *("2.6.3", "2.7.2"),
    ),
    "no ZooKeeper": ({"process.roles": "broker", "node.id": "1"}, "2.7.2", "2.8.2"),
    "a quorum": ({"process.roles": "broker", "node.id": "1"}, "2.8.2", "3.0.2"),
    "two ids": (BROKER | {"node.id": "2"}, "3.0.2", "3.1.2"),
    "an authorizer of 3.3": (BROKER | {"authorizer.class.name": "kafka.security.authorizer.None"}, "3.2.3", "3.3.2"),
    "listeners that start early": (BROKER | {"early.start.listeners": "SSL"}, "3.2.3", "3.3.2"),
    "an authorizer in the migration": (
        MIGRATING | {"authorizer.class.name": "kafka.security.authorizer.AclAuthorizer"},
        *("3.4.1", "3.5.2"),
    ),
    "two disks in the migration": (MIGRATING | {"log.dirs": "/a,/b", "inter.broker.protocol.version": "3.4"}, "3.4.1", "3.5.2"),
    "addresses of two families": (BROKER | SHARED_PORT, "3.5.2", "3.6.2"),
    "a name that is empty": (BROKER | {"listener.security.protocol.map": "PLAINTEXT:SSL,:SSL"}, "3.5.2", "3.6.2"),
    "two disks with the first tiers": (
        BROKER | {"log.dirs": "/a,/b", "remote.log.storage.system.enable": "true"},
        *("3.5.2", "3.6.2"),
    ),
    "a voter on all addresses": (
        KRAFT | {"process.roles": "controller", "controller.quorum.voters": "1@0.0.0.0:9093", "listeners": "C://:1"},
        *("4.1.2", "4.2.2"),
    ),
    "two disks with tiers": (BROKER | {"log.dirs": "/a,/b", "remote.log.storage.system.enable": "true"}, "3.7.2", "3.8.1"),
    "an assignor": (BROKER | {"group.consumer.assignors": "Nobody"}, "3.5.2", "3.6.2"),
    "consumers with ZooKeeper": (
        BROKER | {"group.coordinator.rebalance.protocols": "classic,consumer"},
        *("3.7.2", "3.8.1"),
    ),
    "the classic protocol": (BROKER | {"group.coordinator.rebalance.protocols": "consumer"}, "3.6.2", "3.7.2"),
    "text before a voter": (KRAFT | {"controller.quorum.voters": "2@$c:9093"}, "3.7.2", "3.8.1"),
    "the same in 3.9": (KRAFT | {"controller.quorum.voters": "2@$c:9093"}, "3.8.1", "3.9.1"),
    "a controller that advertises": (
        KRAFT
        | {"process.roles": "controller", "controller.quorum.voters": "1@c:1"}
        | {"listeners": "C://:1", "advertised.listeners": "C://h:1"},
        *("3.8.1", "3.9.1"),
    ),
    "no role": (KRAFT | {"process.roles": ""}, "4.1.2", "4.2.2"),
    "one letter case": (KRAFT | {"listener.security.protocol.map": "C:SSL,PLAINTEXT:SSL,plaintext:SSL"}, "4.0.2", "4.1.2"),
}


@pytest.mark.parametrize(("settings", "before", "since"), CHANGED.values(), ids=CHANGED.keys())
def test_a_rule_that_changed_between_two_releases(settings, before, since):
    assert (start_refusal(settings, before) is None) is not (start_refusal(settings, since) is None)


@pytest.mark.parametrize(
    ("before", "since", "settings", "words"),
    [
        ("2.7.2", "2.8.2", {"log.roll.ms": "0"}, ("must be equal or greater than 1", "must be greater than or equal to 1")),
        ("3.4.1", "3.5.2", {"offsets.topic.compression.codec": "9"}, ("9 is an unknown", "Unknown compression type id: 9")),
        ("4.2.2", "4.3.0", {"listeners": "C://:1,C://:2"}, ("requirement failed: Each", "from '[C://:1, C://:2]': Each")),
        ("4.3.0", "4.4.0", {"broker.id": "7"}, ("You must set `node.id`", "`node.id` and `broker.id` must be set")),
    ],
)
def test_words_that_changed_between_two_releases(before, since, settings, words):
    for version, reported in zip((before, since), words, strict=True):
        found = start_refusal((KRAFT if version >= "4" else BROKER) | settings, version)
        assert found is not None
        assert reported in found.message


@pytest.mark.parametrize(
    ("version", "judged"),
    [
        ("3.9.1", "3.9.1"),
        ("3.8.0", "3.8.1"),
        ("3.0.0", "3.0.2"),
        ("2.0", "2.0.1"),
        ("1.0.2", "1.0.2"),
        ("0.11.0.3", "1.0.2"),
        ("4.1.0", "4.1.2"),
        ("3.10.0", "3.9.1"),
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
    """A file of 15 settings takes some 3,000 lines and calls: a thousand of them less than a second."""
    cases = list(configurations("4.3.0", "kraft", 100, 1))
    start_refusal(cases[0], "4.3.0")
    work = [counted_calls(start_refusal, case, "4.3.0") for case in cases]
    assert sum(work) < 10_000 * len(work)
