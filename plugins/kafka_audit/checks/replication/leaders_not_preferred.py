"""KA607."""

from collections.abc import Iterator, Sequence

from kafka_audit.checks import check
from kafka_audit.checks.replication.partitions import NO_TOPIC
from kafka_audit.cluster.view import ClusterView
from kafka_audit.differences.tables import LISTED, BrokerShare
from kafka_audit.model.finding import Judgement, Severity, Status
from kafka_audit.model.tables import RegisteredPartition, RegisteredTopic


@check(
    code="KA607",
    severity=Severity.LOW,
    needs=(RegisteredTopic, RegisteredPartition),
    parts=("topics",),
    says={
        Status.FAIL: "Leaders are not where they are preferred: {brokers}",
        Status.PASS: "No broker lacks more than 10 % of the {led} partitions whose preferred leaders are in sync",
        Status.UNKNOWN: "Cannot determine whether leaders are where they are preferred ({error})",
        Status.NOT_APPLICABLE: "Leaders are not compared: {reason}",
    },
)
def leaders_not_preferred(view: ClusterView) -> Iterator[Judgement]:
    """Brokers do not lead what they are preferred for.

    ## Why it matters
    The first replica of a partition is its preferred leader, and that is how load is dealt out. After a restart the others carry
    the broker's share: it idles, they are hot, and the next one that stops moves twice as many leaders.

    ## Fails when
    A broker does not lead more than 10 % of the partitions whose first replica it is, though it is in their ISR: Kafka's own
    measure, `leader.imbalance.per.broker.percentage`. After a restart this is temporary, for as long as
    `leader.imbalance.check.interval.seconds` (300) at most, where `auto.leader.rebalance.enable` is true.

    ## Not known when
    Topics were not read.

    ## Passes only when
    No broker lacks so many.

    ## What to do
    Once no replica is missing (KA604), move the leaders back:
    `kafka-leader-election.sh --bootstrap-server <broker>:9092 --election-type preferred --all-topic-partitions`. If it comes
    again after every restart, set `auto.leader.rebalance.enable=true`, its default. First: {brokers}.

    ## References
    Kafka documentation, "Balancing leadership".
    """
    shares = view.partitions.shares.values()
    led = sum(share.preferred for share in shares)
    away = [share for share in shares if share.preferred_elsewhere * 10 > share.preferred]
    away.sort(key=lambda share: (-share.preferred_elsewhere / share.preferred, share.broker_id))
    if away:
        yield view.judge("KA607", "cluster", Status.FAIL, led=led, brokers=_named(away))
    elif view.kraft and not led:
        yield view.judge("KA607", "cluster", Status.UNKNOWN, NO_TOPIC, led=led)
    else:
        yield view.judge("KA607", "cluster", Status.PASS, led=led)


def _named(shares: Sequence[BrokerShare]) -> str:
    each = (
        f"broker {share.broker_id} does not lead {share.preferred_elsewhere} of the {share.preferred} that it is preferred for"
        for share in shares[:LISTED]
    )
    more = f"; and {len(shares) - LISTED} more brokers" if len(shares) > LISTED else ""
    return "; ".join(each) + more
