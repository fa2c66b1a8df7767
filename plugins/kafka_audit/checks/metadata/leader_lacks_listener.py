"""KA103."""

from collections.abc import Collection, Iterator

from kafka_audit.checks import check
from kafka_audit.checks.metadata.view_differences import judgement, partition_evidence, view_effects
from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.finding import Judgement, Severity
from kafka_audit.model.text import named_nodes


@check(code="KA103", severity=Severity.HIGH, parts=("brokers", "topics", "views"))
def leader_lacks_listener(view: ClusterView) -> Iterator[Judgement]:
    """A partition's leader does not have the listener that clients use."""
    for observer, effect in view_effects(view, "listener"):
        difference = effect.difference
        leaders = () if difference is None else difference.brokers
        if difference is not None and not leaders:  # no view names the leader with error 72
            leaders = tuple(sorted(set().union(*(view.lacking.get(listener, ()) for listener in difference.listeners))))
        yield judgement(
            view,
            observer,
            effect,
            **partition_evidence(view, difference, "newest_epoch"),
            total=observer.partitions,
            leaders=leaders or ("whose id is unknown" if difference else None),
            who_lacks=_who_lacks(leaders),
            listeners=(observer.listeners if difference is None else difference.listeners) or None,
        )


def _who_lacks(leaders: Collection[int]) -> str:
    return f"{named_nodes('leader', leaders)} {'has' if len(leaders) == 1 else 'have'}" if leaders else "their leaders have"
