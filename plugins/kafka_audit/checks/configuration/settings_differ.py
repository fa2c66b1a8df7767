from collections.abc import Iterator, Mapping

from kafka_audit.checks import ClusterView, Judgement, Judgements, Severity, Status, check
from kafka_audit.checks.configuration.effective import (
    Effective,
    Value,
    commonest,
    comparable_values,
    each_broker,
    unknown_judgement,
)
from kafka_audit.model.text import brokers

_MANAGED = (
    *("auto.create.topics.enable", "auto.leader.rebalance.enable", "compression.type", "controlled.shutdown.enable"),
    *("default.replication.factor", "delete.topic.enable", "log.cleanup.policy", "log.message.timestamp.type"),
    *("log.retention.bytes", "log.retention.hours", "log.segment.bytes", "message.max.bytes", "min.insync.replicas"),
    *("num.partitions", "offsets.retention.minutes", "offsets.topic.replication.factor", "principal.builder.class"),
    *("replica.fetch.max.bytes", "replica.lag.time.max.ms", "replica.selector.class", "sasl.enabled.mechanisms"),
    *("sasl.kerberos.principal.to.local.rules", "ssl.client.auth", "ssl.principal.mapping.rules"),
    *("transaction.state.log.min.isr", "transaction.state.log.replication.factor", "unclean.leader.election.enable"),
)
"""Settings that must be equal on all brokers. Settings of a host (threads, directories, addresses) may differ."""


@check(code="KA701", severity=Severity.MEDIUM, by_files=True)
def settings_differ(view: ClusterView) -> Judgements:
    """Brokers have different values of a setting that must be the same on all."""
    effective = Effective(view)
    reported = [broker for broker in effective.brokers if effective.was_read(broker)]
    if len(reported) == len(effective.brokers) == 1:
        yield view.not_applicable("cluster", "a single broker is known")
        return
    values = {key: {broker: effective.get(broker, key) for broker in reported} for key in _MANAGED}
    found: dict[int, list[Judgement]] = {broker: [] for broker in reported}
    for key in _MANAGED:
        for broker, judgement in _drifting_brokers(view, key, values[key]):
            found[broker].append(judgement)

    def judged(broker: int) -> Judgements:
        yield from found[broker]
        hidden = [key for key in _MANAGED if not values[key][broker].known]
        if len(reported) == 1:
            yield unknown_judgement(effective, broker, "no settings of another broker were read")
        elif hidden:
            yield unknown_judgement(effective, broker, f"{', '.join(hidden)} unknown")
        elif not found[broker]:
            count = len(_MANAGED)
            yield view.judge(f"broker/{broker}", Status.PASS, broker=broker, count=count)

    yield from each_broker(effective, judged)


def _drifting_brokers(view: ClusterView, key: str, values: Mapping[int, Value]) -> Iterator[tuple[int, Judgement]]:
    """Yield brokers that have another value than most; KA703 covers defaults of different versions."""
    known = {broker: value for broker, value in values.items() if value.known}
    plain = comparable_values(key, known)
    usual = commonest(plain) if plain else ""
    others = [broker for broker, text in plain.items() if text == usual]
    explicit = any(known[broker].explicit for broker in others)
    have: dict[str, object] = {"usual": usual, "others": brokers(others), "have": "has" if len(others) == 1 else "have"}
    have["other_brokers"] = tuple(sorted(others))
    for broker, value in known.items():
        if plain[broker] != usual and (explicit or value.explicit):
            setting = "log.retention.ms" if key == "log.retention.hours" else key
            evidence = {
                "broker": broker,
                "key": value.key,
                "setting": setting,
                "value": plain[broker],
                **have,
                "source": value.source,
            }
            yield broker, view.judge(f"broker/{broker}/config/{key}", Status.FAIL, evidence)
