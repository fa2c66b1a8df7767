"""KA108."""

from collections.abc import Iterator

from kafka_audit.checks import check
from kafka_audit.checks.metadata.view_differences import holders, judgement, partition_evidence
from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.finding import Judgement, Severity, Status
from kafka_audit.model.tables import BrokerView, RegisteredPartition, RegisteredTopic


@check(
    code="KA108",
    severity=Severity.MEDIUM,
    needs=(RegisteredTopic, RegisteredPartition, BrokerView),
    parts=("topics",),
    says={
        Status.FAIL: "Broker {broker} shows another ISR for {count} of {total} partitions ({partitions}): {held} has {zookeeper},"
        " the broker says {said}",
        Status.PASS: "Broker {broker} shows the ISR that {held} has, as far as its leaders and epochs are the same",
        Status.UNKNOWN: "Cannot determine whether {who} shows the right ISR ({error})",
        Status.NOT_APPLICABLE: "No ISR to compare with: {reason}",
    },
)
def isr_differs(view: ClusterView) -> Iterator[Judgement]:
    """A broker shows another ISR than the one in force.

    ## Why it matters
    Clients are not misled by it, they follow the leader. But tools and alerts that ask this broker count replicas as in sync that
    are not, or the reverse; and whatever keeps the ISR from it keeps the next leader from it, too.

    ## Fails when
    Leader and leader epoch of a broker's answer are those of ZooKeeper's `state` (KRaft: of the newest view) and the ISR is
    another, in two samples, unchanged in between. Another leader is KA101.

    ## Not known when
    The broker gave no view, topics were not read, or the difference was seen once: the controller tells changes of the ISR some
    seconds late.

    ## Passes only when
    The broker's view lists partitions, and no ISR differs.

    ## What to do
    `grep -E 'isr_change|AlterPartition' controller.log state-change.log`: does the controller hear of changes, and tell broker
    {broker}? A broker that lags in this way for long is restarted, or the controller moved, as for KA101.

    ## References
    KIP-497 (AlterPartition); before it, `/isr_change_notification` in ZooKeeper.
    """
    newest = holders(view)
    for observer in view.observers:
        difference = view.disagreement(observer.name, "isr")
        yield judgement(
            view,
            "KA108",
            observer,
            difference,
            error=observer.topics_error,
            needs=observer.topics_needs,
            **partition_evidence(view, difference, "zookeeper"),
            total=observer.partitions,
            held="ZooKeeper" if newest is None else f"the newest view, of {newest}",
        )
