"""KA102."""

from collections.abc import Iterator

from kafka_audit.checks import check
from kafka_audit.checks.metadata.view_differences import holders, judgement, partition_evidence, view_effects
from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.finding import Judgement, Severity, Status


@check(
    code="KA102",
    severity=Severity.CRITICAL,
    parts=("brokers", "topics"),
    says={
        Status.FAIL: "Clients of broker {broker} find no leader for {count} of {total} partitions ({partitions}); it returns "
        "error 5 LEADER_NOT_AVAILABLE although {right} (first: {first})",
        Status.PASS: "Broker {broker} reports a leader wherever {held} (it lists {listed} of {total} partitions)",
        Status.UNKNOWN: "Cannot determine whether {who} reports every leader ({error})",
        Status.NOT_APPLICABLE: "Nothing to compare views with: {reason}",
    },
)
def leader_not_available(view: ClusterView) -> Iterator[Judgement]:
    """A broker reports no leader for a partition whose leader is registered.

    ## Why it matters
    Clients that use this broker retry until they time out and log `LEADER_NOT_AVAILABLE` warnings. The same client with another
    bootstrap address works. One such warning after the first use of a topic that is created automatically is normal.

    ## Fails when
    A broker returns error 5 for a partition in two samples, and ZooKeeper has a registered leader for it. Below Metadata v6 a
    leader without the client's listener also returns error 5; if the registration shows that, the finding is KA103. In KRaft
    mode: the newest view has a leader that it lists.

    ## Not known when
    The broker returned no view, its view is empty (KA107), ZooKeeper was not read (KRaft: no other broker returned a view), or
    the difference was seen once or changed. If ZooKeeper has no leader for the partition, error 5 is correct and this check
    does not report it.

    ## Passes only when
    The broker answered, and no partition in its view has error 5 while its leader is registered.

    ## What to do
    This broker does not know that the leader is alive: it did not receive the controller's update. On the controller's host run
    `grep '(id: {broker} rack.*unsuccessful' controller.log`. For the causes see KA302, KA401 and KA412; for the brokers missing
    from its view see KA105. In KRaft mode the broker no longer fetches metadata: see KA101.

    ## References
    KIP-226 (Metadata v6 separates errors 5 and 72); `kafka.server.metadata.ZkMetadataCache.getPartitionMetadata`.
    """
    newest = holders(view)
    right, held = "ZooKeeper has a registered leader", "ZooKeeper has a registered leader"
    if newest is not None:
        right, held = f"the newest view ({newest}) has a leader and lists it", "the newest view has a leader"
    for observer, effect in view_effects(view, "no_leader"):
        difference = effect.difference
        yield judgement(
            view,
            "KA102",
            observer,
            effect,
            **partition_evidence(view, difference, "newest_epoch"),
            total=observer.partitions,
            listed=observer.listed if observer.answered else None,
            leaders=difference and difference.brokers,
            listeners=observer.listeners or None,
            holders=newest,
            first=difference and difference.reference,
            right=right,
            held=held,
        )
