"""Replication throttles: topics that name replicas to be held back, and brokers with a rate. Either alone holds back nothing."""

from kafka_audit.cluster.view import ClusterView
from kafka_audit.differences.tables import TopicSetting
from kafka_audit.model.tables import BrokerConfig, ControllerConfig

_DEFAULT = 5
"""Kafka's default of a setting. No rate has it: brokers know no such key, and hide its value."""


def throttled_topics(view: ClusterView) -> list[TopicSetting]:
    """Return the keys by which topics name replicas to be held back, with these topics."""
    return [row for row in view.differences.of(TopicSetting) if row.key.endswith("throttled.replicas") and row.filled]


def throttle_rates(view: ClusterView) -> list[BrokerConfig]:
    """Return the rates that brokers have, of leaders and of followers."""
    return [row for row in view.of(BrokerConfig) if is_rate(row)]


def is_rate(row: BrokerConfig | ControllerConfig) -> bool:
    """Return whether a setting of a broker is the rate of a throttle."""
    return row.key.endswith(".replication.throttled.rate") and row.source != _DEFAULT
