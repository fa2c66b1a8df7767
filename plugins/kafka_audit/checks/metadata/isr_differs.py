"""KA108."""

from collections.abc import Iterator

from kafka_audit.checks import check
from kafka_audit.checks.metadata.view_differences import holders, judgement, partition_evidence, view_effects
from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.finding import Judgement, Severity, Status


@check(
    code="KA108",
    severity=Severity.MEDIUM,
    parts=("topics",),
    says={
        Status.FAIL: "Broker {broker} reports a different ISR for {count} of {total} partitions ({partitions}); {held} has "
        "{zookeeper}, the broker reports {said}",
        Status.PASS: "Broker {broker} reports the ISR that {held} has, for partitions with the same leader and epoch",
        Status.UNKNOWN: "Cannot determine whether {who} reports the current ISR ({error})",
        Status.NOT_APPLICABLE: "No ISR to compare with: {reason}",
    },
)
def isr_differs(view: ClusterView) -> Iterator[Judgement]:
    """A broker reports an ISR that is not the current one.

    ## Why it matters
    Clients follow the leader, so this does not misdirect them. But tools and alerts that read this broker count replicas as in
    sync that are not, or the reverse. The cause that delays the ISR also delays the next leader change.

    ## Fails when
    The leader and leader epoch in the broker's view equal those of ZooKeeper's `state` (KRaft: of the newest view), and the ISR
    differs, in two samples, unchanged in between. A different leader is KA101.

    ## Not known when
    The broker returned no view, topics were not read, or the difference was seen once: the controller sends ISR changes with a
    delay of some seconds.

    ## Passes only when
    The broker's view lists partitions, and no ISR differs.

    ## What to do
    Check whether the controller receives the changes and sends them to broker {broker}: `grep -E 'isr_change|AlterPartition'
    controller.log state-change.log`. If the broker stays behind, restart it or move the controller, as for KA101.

    ## References
    KIP-497 (AlterPartition); before it, `/isr_change_notification` in ZooKeeper.
    """
    newest = holders(view)
    for observer, effect in view_effects(view, "isr"):
        difference = effect.difference
        yield judgement(
            view,
            "KA108",
            observer,
            effect,
            **partition_evidence(view, difference, "zookeeper"),
            total=observer.partitions,
            held="ZooKeeper" if newest is None else f"the newest view ({newest})",
        )
