from kafka_audit.checks import ClusterView, Judgements, Severity, check
from kafka_audit.checks.metadata.view_differences import holders, judgement, list_of, partition_evidence, view_effects


@check(code="KA107", severity=Severity.HIGH, parts=("topics", "views"))
def topic_missing_from_view(view: ClusterView) -> Judgements:
    """A topic, partition or replica set in ZooKeeper is missing or different in a broker's view."""
    newest = holders(view)
    for observer, effect in view_effects(view, "assignment"):
        difference = effect.difference
        yield judgement(
            view,
            observer,
            effect,
            **partition_evidence(view, difference, "newest_view"),
            total=observer.partitions,
            listeners=(observer.listeners if difference is None else difference.listeners) or None,
            holders=newest,
            holds="ZooKeeper has" if newest is None else f"{newest} {list_of(view)}",
            held="in ZooKeeper" if newest is None else "of the newest view",
        )
