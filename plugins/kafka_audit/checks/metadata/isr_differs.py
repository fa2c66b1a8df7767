"""KA108."""

from collections.abc import Iterator

from kafka_audit.checks import check
from kafka_audit.checks.metadata.view_differences import holders, judgement, partition_evidence, view_effects
from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.finding import Judgement, Severity


@check(code="KA108", severity=Severity.MEDIUM, parts=("topics", "views"))
def isr_differs(view: ClusterView) -> Iterator[Judgement]:
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
