from kafka_audit.checks import ClusterView, Judgements, Severity, check
from kafka_audit.checks.metadata.view_differences import holders, list_of, shown_by_each


@check(code="KA107", severity=Severity.HIGH, parts=("topics", "views"))
def topic_missing_from_view(view: ClusterView) -> Judgements:
    """A topic, partition or replica set in ZooKeeper is missing or different in a broker's view."""
    newest = holders(view)
    for shown in shown_by_each(view, "assignment"):
        yield shown.judgement(
            **shown.partitions("newest_view"),
            total=shown.observer.partitions,
            listeners=shown.listeners,
            holders=newest,
            holds="ZooKeeper has" if newest is None else f"{newest} {list_of(view)}",
            held="in ZooKeeper" if newest is None else "of the newest view",
        )
