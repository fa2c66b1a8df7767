"""KA705."""

from collections.abc import Iterator

from kafka_audit.checks import check
from kafka_audit.checks.configuration.effective import Effective, unknown, unread
from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.finding import Judgement, Severity, Status
from kafka_audit.model.tables import BrokerConfig, BrokerProperty, DynamicConfig, RegisteredBroker

_KEY = "auto.create.topics.enable"


@check(
    code="KA705",
    severity=Severity.LOW,
    needs=(BrokerConfig, BrokerProperty, DynamicConfig, RegisteredBroker),
    by_files=True,
    says={
        Status.FAIL: "Broker {broker} creates topics that clients merely ask for: {key} is true ({why})",
        Status.PASS: "Broker {broker} creates no topic that nobody ordered ({source})",
        Status.UNKNOWN: "Cannot determine whether {who} creates topics that clients merely ask for ({error})",
    },
)
def topics_created_by_use(view: ClusterView) -> Iterator[Judgement]:
    """Topics come into being because a client names them.

    ## Why it matters
    A misspelt name becomes a topic with the brokers' default of partitions and replicas, and nobody notices that records go
    there. A topic that was deleted while clients still use it comes back, empty.

    ## Fails when
    `auto.create.topics.enable` in effect is true, which is the default.

    ## Not known when
    Neither DescribeConfigs nor server.properties of the broker was read.

    ## Passes only when
    It is false.

    ## What to do
    See that whoever relies on it creates topics by other means (Kafka Streams and Connect do so themselves). Then set
    `{key}=false` on all brokers, broker {broker} among them, and restart them one at a time: it is not dynamic.

    ## References
    KIP-361 (consumers may refrain from it); Kafka documentation, "Broker Configs".
    """
    effective = Effective(view)
    yield from unread(effective, "KA705")
    for broker in filter(effective.told, effective.brokers):
        found = effective.get(broker, _KEY)
        if not found.known:
            yield unknown(effective, "KA705", broker, f"{_KEY} was not told")
            continue
        why = f"set, says {found.source}" if found.explicit else "Kafka's default"
        words = {"broker": broker, "key": _KEY, "why": why, "source": found.source}
        yield view.judge("KA705", f"broker/{broker}", Status.FAIL if found.true else Status.PASS, words)
