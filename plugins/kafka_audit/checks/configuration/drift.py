"""The settings of KA701, and the comparison of the value of one broker with the others."""

from collections.abc import Iterator, Mapping

from kafka_audit.checks.configuration.effective import Value, commonest, comparable_values
from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.finding import Judgement, Status
from kafka_audit.model.text import brokers

MANAGED = (
    *("auto.create.topics.enable", "auto.leader.rebalance.enable", "compression.type", "controlled.shutdown.enable"),
    *("default.replication.factor", "delete.topic.enable", "log.cleanup.policy", "log.message.timestamp.type"),
    *("log.retention.bytes", "log.retention.hours", "log.segment.bytes", "message.max.bytes", "min.insync.replicas"),
    *("num.partitions", "offsets.retention.minutes", "offsets.topic.replication.factor", "principal.builder.class"),
    *("replica.fetch.max.bytes", "replica.lag.time.max.ms", "replica.selector.class", "sasl.enabled.mechanisms"),
    *("sasl.kerberos.principal.to.local.rules", "ssl.client.auth", "ssl.principal.mapping.rules"),
    *("transaction.state.log.min.isr", "transaction.state.log.replication.factor", "unclean.leader.election.enable"),
)
"""Settings that must be equal on all brokers. Settings of a host (threads, directories, addresses) may differ."""


def drifting_brokers(view: ClusterView, key: str, values: Mapping[int, Value]) -> Iterator[tuple[int, Judgement]]:
    """Yield brokers that have another value than most; KA703 covers defaults of different versions."""
    known = {broker: value for broker, value in values.items() if value.known}
    plain = comparable_values(key, known)
    usual = commonest(plain) if plain else ""
    others = [broker for broker, text in plain.items() if text == usual]
    explicit = any(known[broker].explicit for broker in others)
    have: dict[str, object] = {"usual": usual, "others": brokers(others), "have": "has" if len(others) == 1 else "have"}
    have["other_brokers"] = tuple(sorted(others))
    for broker, own in known.items():
        if plain[broker] != usual and (explicit or own.explicit):
            setting = "log.retention.ms" if key == "log.retention.hours" else key
            evidence = {
                "broker": broker,
                "key": own.key,
                "setting": setting,
                "value": plain[broker],
                **have,
                "source": own.source,
            }
            yield broker, view.judge("KA701", f"broker/{broker}/config/{key}", Status.FAIL, evidence)
