from kafka_audit.checks import ClusterView, Judgements, Severity, check
from kafka_audit.checks.metadata.view_differences import holders, judgement, partition_evidence, view_effects


@check(code="KA101", severity=Severity.CRITICAL, parts=("topics", "views"))
def stale_leader(view: ClusterView) -> Judgements:
    """A broker reports a leader that differs from ZooKeeper; in KRaft, one of an older leader epoch than other brokers have."""
    newest = holders(view)
    for observer, effect in view_effects(view, "leader"):
        difference = effect.difference
        right = difference and difference.reference
        yield judgement(
            view,
            observer,
            effect,
            **partition_evidence(view, difference, "newest_epoch"),
            total=observer.partitions,
            listed=observer.listed if observer.answered else None,
            listeners=observer.listeners or None,
            holders=newest,
            newest="ZooKeeper" if newest is None else f"the newest leader epoch ({newest})",
            first=right and (f"ZooKeeper has {right}" if newest is None else f"the newest epoch has {right}"),
            held="in ZooKeeper" if newest is None else "of the newest epoch of any broker",
        )
