from kafka_audit.checks import ClusterView, Judgements, Severity, check
from kafka_audit.checks.metadata.view_differences import judgement, view_effects
from kafka_audit.cluster.view import Disagreement
from kafka_audit.model.text import brokers


@check(code="KA106", severity=Severity.HIGH, parts=("brokers", "views"))
def stale_endpoint(view: ClusterView) -> Judgements:
    """A broker reports an address for a broker that is not the registered one, or lists a broker that is not registered."""
    if view.kraft:
        yield view.not_applicable("cluster", "the cluster runs in KRaft mode, without ZooKeeper", who="any broker")
        return
    unregistered = {observer.name: effect for observer, effect in view_effects(view, "unregistered")}
    for observer, effect_on_addresses in view_effects(view, "endpoint"):
        others = unregistered[observer.name]
        rank = _WORST_FIRST.index
        effect = others if others.difference and rank(others.state) < rank(effect_on_addresses.state) else effect_on_addresses
        difference = effect.difference
        yield judgement(
            view,
            observer,
            effect,
            count=difference and difference.count,
            total=len(view.brokers),
            subjects=difference and difference.brokers,
            zookeeper=difference and difference.reference,
            said=difference and difference.view,
            where=difference and _where(difference),
            listeners=(observer.listeners if difference is None else difference.listeners) or None,
        )


_WORST_FIRST = ("missing", "passing", "unknown", "works")


def _where(difference: Disagreement) -> str:
    if difference.kind == "unregistered":
        return f"{brokers(difference.brokers)}, which {'is' if difference.count == 1 else 'are'} not registered"
    subjects = ", ".join(map(str, difference.brokers))
    return f"an old address of broker {subjects}; {difference.reference} is registered, it reports {difference.view}"
