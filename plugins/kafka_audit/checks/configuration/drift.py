"""KA701's settings, and how one broker's value of one is weighed against the others'."""

from collections.abc import Mapping

from kafka_audit.checks.configuration.effective import Value, alike, commonest
from kafka_audit.checks.rows import judge
from kafka_audit.model.finding import Judgement, Status
from kafka_audit.model.tables import Snapshot
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
"""Settings by which brokers decide alike. What suits one host (threads, directories, addresses) may differ."""


def fault(snapshot: Snapshot, broker: int, key: str, values: Mapping[int, Value]) -> Judgement | None:
    """Return where a broker has another value than most; defaults of several versions are KA703's matter."""
    known = {one: value for one, value in values.items() if value.known}
    plain = alike(key, known)
    usual = commonest(plain) if plain else ""
    others = [one for one, text in plain.items() if text == usual]
    if broker not in plain or plain[broker] == usual or not any(known[one].explicit for one in (broker, *others)):
        return None
    own = known[broker]
    words = {"key": own.key, "setting": "log.retention.ms" if key == "log.retention.hours" else key, "value": plain[broker]}
    words |= {"usual": usual, "others": brokers(others), "have": "has" if len(others) == 1 else "have", "source": own.source}
    return judge(snapshot, "KA701", f"broker/{broker}/config/{key}", Status.FAIL, broker=str(broker), **words)
