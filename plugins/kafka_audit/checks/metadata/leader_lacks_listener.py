"""KA103."""

from collections.abc import Iterator

from kafka_audit.checks import check
from kafka_audit.checks.metadata.view_differences import judgement, partition_evidence, view_effects
from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.finding import Judgement, Severity


@check(code="KA103", severity=Severity.HIGH, parts=("brokers", "topics"))
def leader_lacks_listener(view: ClusterView) -> Iterator[Judgement]:
    """A partition's leader does not have the listener that clients use."""
    for observer, effect in view_effects(view, "listener"):
        difference = effect.difference
        yield judgement(
            view,
            "KA103",
            observer,
            effect,
            **partition_evidence(view, difference, "newest_epoch"),
            total=observer.partitions,
            leaders=difference and difference.brokers,
            listeners=(observer.listeners if difference is None else difference.listeners) or None,
        )
