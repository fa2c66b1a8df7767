"""Which keys are taken for a misspelt one of Kafka's, and which for a plugin's."""

import pytest

from kafka_audit.configuration.definitions import VERSIONS, definitions
from kafka_audit.configuration.near_keys import foreign_keys, known_keys, nearest_keys

MISSPELT = {
    "log.retention.hour": "log.retention.hours",
    "log.retnetion.hours": "log.retention.hours",
    "log.retention.houra": "log.retention.hours",
    "log.retention_hours": "log.retention.hours",
    "LOG.RETENTION.HOURS": "log.retention.hours",
    "advertised.listener": "advertised.listeners",
    "offset.topic.replication.factor": "offsets.topic.replication.factor",
    "auto.create.topic.enable": "auto.create.topics.enable",
    "min.insync.replica": "min.insync.replicas",
    "process.role": "process.roles",
    "metrics.reporters": "metric.reporters",
    "super.user": "super.users",
    "retention.ms": "log.retention.ms",
    "sasl.enabled.mechanism": "sasl.enabled.mechanisms",
    "segment.bytes": "log.segment.bytes",
    "cleanup.policy": "log.cleanup.policy",
}

OF_OTHERS = [
    "listener.name.external.sasl.enabled.mechanism",
    "plain.sasl.jaas.conf",
    "confluent.log.retention.hour",
    "rsm.config.log.retention.hour",
    "config.providers.file.clas",
    "kafka.metrics.reporter",
    "my.plugin.retention.hours",
    "log.retention.hours.override",
    "bootstrap.servers",
    "group.id",
    "opts",
    "create.topics",
    "broker.id.command",
    "logs.dir",
    "broker.zone",
]


@pytest.mark.parametrize(("key", "meant"), MISSPELT.items())
def test_a_misspelt_key_is_named_with_the_right_one(key, meant):
    assert list(nearest_keys({key: "1"})) == [(key, meant)]


@pytest.mark.parametrize("key", OF_OTHERS)
def test_a_key_of_a_plugin_is_not_taken_for_a_misspelt_one(key):
    assert list(nearest_keys({key: "1"})) == []


@pytest.mark.parametrize("version", VERSIONS)
def test_no_key_of_any_release_is_misspelt(version):
    assert list(nearest_keys(dict.fromkeys((*definitions(version), *known_keys()), "1"))) == []


def test_keys_of_a_class_of_the_users_own_are_its_business():
    own = {"client.quota.callback.clas": "x", "client.quota.callback.class": "com.example.Quotas"}
    assert list(nearest_keys(own)) == []
    kafkas = own | {"client.quota.callback.class": "org.apache.kafka.server.Quotas"}
    assert list(nearest_keys(kafkas)) == [("client.quota.callback.clas", "client.quota.callback.class")]
    tiered = {"remote.log.storage.manager.impl.prefix": "min.insync.", "min.insync.replica": "1"}
    assert list(nearest_keys(tiered)) == []


FOREIGN = {
    "zookeeper.connect": ("4.4.0", "Kafka 4.4.0 does not have it; 1.0.2 to 3.9.1 do"),
    "advertised.host.name": ("3.9.1", "Kafka 3.9.1 does not have it; 1.0.2 to 2.8.2 do"),
    "max.request.size": ("3.9.1", "it is a key of clients"),
    "my.plugin.retention": ("3.9.1", "Kafka has no such key"),
}


@pytest.mark.parametrize(("key", "release", "why"), [(key, *rest) for key, rest in FOREIGN.items()])
def test_a_key_that_the_release_does_not_have_is_foreign(key, release, why):
    assert list(foreign_keys({key: "1", "broker.id": "1"}, release)) == [(key, why)]


@pytest.mark.parametrize(
    "settings",
    [
        {"zookeeper.connect": "zk:2181"},
        {"my.plugin.retention": "1", "metric.reporters": "com.example.Reporter"},
        {"confluent.balancer.enable": "true", "super.users": "User:a", "listener.name.a.plain.sasl.jaas.config": "x"},
    ],
)
def test_a_key_of_the_release_or_of_a_plugin_is_not_foreign(settings):
    assert list(foreign_keys(settings, "3.9.1")) == []
    assert list(foreign_keys({"zookeeper.connect": "zk:2181"}, None)) == []
    assert list(foreign_keys({"config.providers": "env"}, "3.9.1")) == []


def test_ten_thousand_keys_take_no_time():
    many = {f"a{number}.{'retention.' * 9}": "1" for number in range(10_000)}
    assert list(nearest_keys(many)) == []
