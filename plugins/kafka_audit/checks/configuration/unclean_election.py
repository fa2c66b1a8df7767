"""KA704."""

from collections.abc import Iterator
from dataclasses import replace

from kafka_audit.checks import check
from kafka_audit.checks.configuration.effective import Effective, unknown, unread
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
        Status.FAIL: "Broker {broker} lets replicas out of the ISR become leaders and lose records; {key} is {value} ({source})",
        Status.PASS: "Broker {broker} makes no replica leader that is out of the ISR ({source})",
        Status.UNKNOWN: "Cannot determine whether {who} lets replicas out of the ISR become leaders ({error})",
    },
)
def unclean_election(view: ClusterView) -> Iterator[Judgement]:
    """Replicas out of the ISR may become leaders.

    ## Why it matters
    When the last replica in sync goes away, another one takes over with what it has. Records that were acknowledged, with
    `acks=all` too, are gone for good, and consumers are sent back to offsets that now hold other records.

    ## Fails when
    `unclean.leader.election.enable` in effect is set to true. The controller decides, so each broker that may become it counts.
    MEDIUM on a broker of KRaft without the role of a controller, whose own setting is not asked.

    ## Not known when
    Neither DescribeConfigs nor server.properties of the broker was read.

    ## Passes only when
    It is false, or not set: false is the default since Kafka 0.11. Topics may say otherwise for themselves; this is not read.

    ## What to do
    Take the line out, or turn it off at once for all brokers:
    `kafka-configs.sh --bootstrap-server <broker>:9092 --alter --entity-type brokers --entity-default --add-config {key}=false`.
    It was set on broker {broker} for a reason: for a topic where being there matters more than being complete, set it on that
    topic alone. For one partition in need: `kafka-leader-election.sh --election-type unclean`.

    ## References
    KIP-106 (the default became false); Kafka documentation, "Unclean leader election: What if they all die?".
    """
    effective = Effective(view)
    yield from unread(effective, "KA704")
    for broker in filter(effective.told, effective.brokers):
        found = effective.get(broker, _KEY)
        if not found.known:
            yield unknown(effective, "KA704", broker, f"{_KEY} was not told")
            continue
        words = {"broker": broker, "key": _KEY, "value": found.text or "false", "source": found.source}
        status = Status.FAIL if found.true and found.explicit else Status.PASS
        told = view.judge("KA704", f"broker/{broker}", status, words)
        alone = effective.settings.get(broker, "process.roles").value == "broker"
        yield replace(told, severity=Severity.MEDIUM) if alone and status is Status.FAIL else told
