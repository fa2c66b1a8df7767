"""KA704."""

from collections.abc import Iterator
from dataclasses import replace

from kafka_audit.checks import check
from kafka_audit.checks.configuration.effective import Effective, unknown_judgement, unread_judgements
from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.finding import Judgement, Severity, Status
from kafka_audit.model.tables import BrokerConfig, BrokerProperty, DynamicConfig, RegisteredBroker

_KEY = "unclean.leader.election.enable"


@check(
    code="KA704",
    severity=Severity.HIGH,
    needs=(BrokerConfig, BrokerProperty, DynamicConfig, RegisteredBroker),
    by_files=True,
    says={
        Status.FAIL: "Broker {broker} allows unclean leader elections, which lose records; {key} is {value} ({source})",
        Status.PASS: "Broker {broker} does not allow unclean leader elections ({source})",
        Status.UNKNOWN: "Cannot determine whether {who} allows unclean leader elections ({error})",
    },
)
def unclean_election(view: ClusterView) -> Iterator[Judgement]:
    """Replicas that are not in the ISR may become leaders.

    ## Why it matters
    If the last in-sync replica fails, another replica becomes leader with the records that it has. Acknowledged records,
    including those with `acks=all`, are lost, and consumers return to offsets that now contain other records.

    ## Fails when
    `unclean.leader.election.enable` in effect is set to true. The controller decides, so every broker that may become the
    controller counts. MEDIUM on a KRaft broker without the controller role, whose own setting is not used.

    ## Not known when
    The settings of the broker were not read (DescribeConfigs or server.properties).

    ## Passes only when
    It is false or not set: false is the default since Kafka 0.11. Topics may override it: KA711 reports those that do.

    ## What to do
    Remove the line, or disable it immediately on all brokers: `kafka-configs.sh --bootstrap-server BROKER:9092 --alter
    --entity-type brokers --entity-default --add-config {key}=false`. It was set on broker {broker} for a reason: if a topic
    needs availability more than complete data, set it on that topic only. For a single partition use `kafka-leader-election.sh
    --election-type unclean`.

    ## References
    KIP-106 (the default became false); Kafka documentation, "Unclean leader election: What if they all die?".
    """
    effective = Effective(view)
    yield from unread_judgements(effective, "KA704")
    for broker in filter(effective.was_read, effective.brokers):
        found = effective.get(broker, _KEY)
        if not found.known:
            yield unknown_judgement(effective, "KA704", broker, f"{_KEY} is unknown")
            continue
        evidence = {"broker": broker, "key": _KEY, "value": found.text or "false", "source": found.source}
        status = Status.FAIL if found.true and found.explicit else Status.PASS
        judgement = view.judge("KA704", f"broker/{broker}", status, evidence)
        alone = effective.settings.get(broker, "process.roles").value == "broker"
        yield replace(judgement, severity=Severity.MEDIUM) if alone and status is Status.FAIL else judgement
