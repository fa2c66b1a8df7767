from kafka_audit.checks import ClusterView, Judgements, Severity, check
from kafka_audit.checks.metadata.view_differences import holders, shown_by_each


@check(code="KA101", severity=Severity.CRITICAL, parts=("topics", "views"))
def stale_leader(view: ClusterView) -> Judgements:
    """A broker reports a leader that differs from ZooKeeper; in KRaft, one of an older leader epoch than other brokers have."""
    newest = holders(view)
    for shown in shown_by_each(view, "leader"):
        right = shown.difference and shown.difference.reference
        yield shown.judgement(
            **shown.partitions("newest_epoch"),
            total=shown.observer.partitions,
            listed=shown.observer.listed if shown.observer.answered else None,
            listeners=shown.observer.listeners or None,
            holders=newest,
            newest="ZooKeeper" if newest is None else f"the newest leader epoch ({newest})",
            first=right and (f"ZooKeeper has {right}" if newest is None else f"the newest epoch has {right}"),
            held="in ZooKeeper" if newest is None else "of the newest epoch of any broker",
        )
