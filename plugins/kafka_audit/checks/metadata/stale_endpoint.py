from kafka_audit.checks import ClusterView, Judgements, Severity, check
from kafka_audit.checks.metadata.view_differences import shown_by_each
from kafka_audit.cluster.view import Disagreement
from kafka_audit.model.text import brokers


@check(code="KA106", severity=Severity.HIGH, parts=("brokers", "views"))
def stale_endpoint(view: ClusterView) -> Judgements:
    """A broker reports an address for a broker that is not the registered one, or lists a broker that is not registered."""
    if view.kraft:
        yield view.not_applicable("cluster", "the cluster runs in KRaft mode, without ZooKeeper", who="any broker")
        return
    for addresses, others in zip(shown_by_each(view, "endpoint"), shown_by_each(view, "unregistered"), strict=True):
        rank = _WORST_FIRST.index
        shown = others if others.difference and rank(others.effect.state) < rank(addresses.effect.state) else addresses
        difference = shown.difference
        yield shown.judgement(
            count=difference and difference.count,
            total=len(view.brokers),
            subjects=difference and difference.brokers,
            zookeeper=difference and difference.reference,
            said=difference and difference.view,
            where=difference and _where(difference),
            listeners=shown.listeners,
        )


_WORST_FIRST = ("missing", "passing", "unknown", "works")


def _where(difference: Disagreement) -> str:
    if difference.kind == "unregistered":
        return f"{brokers(difference.brokers)}, which {'is' if difference.count == 1 else 'are'} not registered"
    subjects = ", ".join(map(str, difference.brokers))
    return f"an old address of broker {subjects}; {difference.reference} is registered, it reports {difference.view}"
