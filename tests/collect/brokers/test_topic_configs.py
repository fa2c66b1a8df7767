"""What topics set for themselves, asked of a fake KRaft broker, and what becomes of refusals."""

import pytest

from collect.fakes import FakeBroker, server
from collect.taken import target
from kafka_audit.clients.protocol.conversation import ClientOptions, Conversation
from kafka_audit.clients.read_error import ReadError
from kafka_audit.collect.brokers import configs
from kafka_audit.collect.rows.topic_config_columns import KEYS, MOST, PLACEMENT
from kafka_audit.model.tables import TopicConfig
from kafka_audit.store import parquet


@pytest.fixture
def broker():
    return FakeBroker(0)


def asked(broker, topics):
    with server(broker) as (host, port), Conversation(host, port, ClientOptions(read_s=60.0)) as talk:
        return tuple(parquet.rows_of(TopicConfig, configs.ask_topic_configs(talk, target((host, port)), topics)))


def test_only_what_a_topic_sets_for_itself_is_a_row(broker):
    broker.topic_configs = {"orders": {"min.insync.replicas": "1"}}
    assert asked(broker, ("orders", "payments")) == (
        TopicConfig(observer="broker:0", topic="orders", key="min.insync.replicas", value="1"),
    )


def test_only_the_keys_that_checks_need_are_asked_for(broker):
    broker.topic_configs = {"orders": {"flush.ms": "1", "leader.replication.throttled.replicas": "0:1," * MOST}}
    (row,) = asked(broker, ("orders",))
    assert row.key in KEYS
    assert len(row.value) == MOST


@pytest.mark.parametrize(
    ("placement", "stored"),
    [
        ('{"version":1,"replicas":[{"count":2}],"observers":[{"count":1,"constraints":{"rack":"b"}},{"count":2}]}', ["3"]),
        ('{"version":1,"replicas":[{"count":3}]}', []),
        ('{"observers":[{"count":"many"},3]}', []),
        ("[1", []),
    ],
)
def test_of_a_placement_only_the_number_of_observers_is_kept(broker, placement, stored):
    broker.topic_configs = {"orders": {PLACEMENT: placement}}
    assert [row.value for row in asked(broker, ("orders",))] == stored


def test_many_topics_are_asked_for_page_by_page(broker):
    broker.topic_configs = {f"t{n}": {"min.insync.replicas": "1"} for n in range(1001)}
    assert len(asked(broker, tuple(broker.topic_configs))) == 1001
    assert len(broker.asked(32)) == 3


def test_a_topic_that_may_not_be_described_fails_the_read(broker):
    broker.topic_configs = {"secret": 29}
    with pytest.raises(ReadError, match="1 of 2 topics") as caught:
        asked(broker, ("orders", "secret"))
    assert (caught.value.error, caught.value.needs) == ("TOPIC_AUTHORIZATION_FAILED", "DescribeConfigs on Topic")


def test_a_topic_that_was_deleted_meanwhile_is_none(broker):
    broker.topic_configs = {"gone": 3}
    assert asked(broker, ("gone",)) == ()


def test_without_topics_nothing_is_asked(broker):
    assert asked(broker, ()) == ()
    assert broker.asked(32) == []
