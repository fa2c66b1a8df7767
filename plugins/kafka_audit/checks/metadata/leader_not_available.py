from kafka_audit.checks import ClusterView, Judgements, Severity, check
from kafka_audit.checks.metadata.view_differences import holders, shown_by_each


@check(code="KA102", severity=Severity.CRITICAL, parts=("brokers", "topics", "views"))
def leader_not_available(view: ClusterView) -> Judgements:
    """A broker reports no leader for a partition whose leader is registered."""
    newest = holders(view)
    right, held = "ZooKeeper has a registered leader", "ZooKeeper has a registered leader"
    if newest is not None:
        right, held = f"the newest view ({newest}) has a leader and lists it", "the newest view has a leader"
    for shown in shown_by_each(view, "no_leader"):
        difference = shown.difference
        yield shown.judgement(
            **shown.partitions("newest_epoch"),
            total=shown.observer.partitions,
            listed=shown.observer.listed if shown.observer.answered else None,
            leaders=difference and difference.brokers,
            listeners=shown.observer.listeners or None,
            holders=newest,
            first=difference and difference.reference,
            right=right,
            held=held,
        )
