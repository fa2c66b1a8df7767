"""KA701."""

from collections.abc import Iterator

from kafka_audit.checks import check
from kafka_audit.checks.configuration.drift import MANAGED, drifting_brokers
from kafka_audit.checks.configuration.effective import Effective, unknown_judgement, unread_judgements
from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.finding import Judgement, Severity, Status
from kafka_audit.model.tables import BrokerConfig, BrokerProperty, DynamicConfig, RegisteredBroker


@check(
    code="KA701",
    severity=Severity.MEDIUM,
    needs=(BrokerConfig, BrokerProperty, DynamicConfig, RegisteredBroker),
    by_files=True,
    says={
        Status.FAIL: "Broker {broker} has {setting}={value}, but {others} {have} {usual} ({source})",
        Status.PASS: "Broker {broker} has the same settings as the other brokers ({count} compared)",
        Status.UNKNOWN: "Cannot determine whether {who} has the same settings as the others ({error})",
        Status.NOT_APPLICABLE: "No settings to compare: {reason}",
    },
)
def settings_differ(view: ClusterView) -> Iterator[Judgement]:
    """Brokers have different values of a setting that must be the same on all.

    ## Why it matters
    The behaviour of a topic then depends on its leader, on the broker that creates it and on the controller: a record is
    accepted today and rejected after the next leader change, or a topic is kept for a week or a day.

    ## Fails when
    One of 27 settings in effect (`message.max.bytes`, `log.retention.*`, `min.insync.replicas`, `num.partitions`,
    `unclean.leader.election.enable`, ...) is set, and not the same on all brokers. `log.retention.ms`, `.minutes` and `.hours`
    count as one. Other checks compare listeners, authorizers, super users and versions.

    ## Not known when
    The settings of the broker were not read (DescribeConfigs or server.properties), or no other broker's settings were read.

    ## Passes only when
    The broker has the same values as most brokers in all compared settings. An unset key equals its default, in any notation.

    ## What to do
    Decide which value is intended: {value} as on broker {broker}, or {usual} as on {others}. Set {setting} to the same value on
    all brokers. If it is not dynamic, a broker applies it at its next restart.

    ## References
    Kafka documentation, "Broker Configs"; KIP-226 (dynamic broker configuration).
    """
    effective = Effective(view)
    yield from unread_judgements(effective, "KA701")
    reported = [broker for broker in effective.brokers if effective.was_read(broker)]
    if len(reported) == 1:
        alone = "a single broker is known" if len(effective.brokers) == 1 else None
        if alone is None:
            yield unknown_judgement(effective, "KA701", reported[0], "no settings of another broker were read")
        else:
            yield view.judge("KA701", "cluster", Status.NOT_APPLICABLE, reason=alone)
        return
    values = {key: {broker: effective.get(broker, key) for broker in reported} for key in MANAGED}
    found: dict[int, list[Judgement]] = {broker: [] for broker in reported}
    for key in MANAGED:
        for broker, judgement in drifting_brokers(view, key, values[key]):
            found[broker].append(judgement)
    for broker in reported:
        yield from found[broker]
        hidden = [key for key in MANAGED if not values[key][broker].known]
        if hidden:
            yield unknown_judgement(effective, "KA701", broker, f"{', '.join(hidden)} unknown")
        elif not found[broker]:
            count = len(MANAGED)
            yield view.judge("KA701", f"broker/{broker}", Status.PASS, broker=broker, count=count)
