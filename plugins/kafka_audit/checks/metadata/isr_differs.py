from kafka_audit.checks import ClusterView, Judgements, Severity, check
from kafka_audit.checks.metadata.view_differences import holders, shown_by_each


@check(code="KA108", severity=Severity.MEDIUM, parts=("topics", "views"))
def isr_differs(view: ClusterView) -> Judgements:
    """A broker reports an ISR that is not the current one."""
    newest = holders(view)
    for shown in shown_by_each(view, "isr"):
        yield shown.judgement(
            **shown.partitions("zookeeper"),
            total=shown.observer.partitions,
            held="ZooKeeper" if newest is None else f"the newest view ({newest})",
        )
