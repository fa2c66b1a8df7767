from kafka_audit.checks import ClusterView, Judgements, Severity, check
from kafka_audit.checks.metadata.view_differences import holders, judgement, partition_evidence, view_effects


@check(code="KA108", severity=Severity.MEDIUM, parts=("topics", "views"))
def isr_differs(view: ClusterView) -> Judgements:
    """A broker reports an ISR that is not the current one."""
    newest = holders(view)
    for observer, effect in view_effects(view, "isr"):
        difference = effect.difference
        yield judgement(
            view,
            observer,
            effect,
            **partition_evidence(view, difference, "zookeeper"),
            total=observer.partitions,
            held="ZooKeeper" if newest is None else f"the newest view ({newest})",
        )
