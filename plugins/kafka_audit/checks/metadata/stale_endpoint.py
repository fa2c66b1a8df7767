"""KA106."""

from collections.abc import Iterator

from kafka_audit.checks import check
from kafka_audit.checks.metadata.view_differences import judgement, view_effects
from kafka_audit.cluster.view import ClusterView, Disagreement
from kafka_audit.model.finding import Judgement, Severity, Status
from kafka_audit.model.text import brokers


@check(
    code="KA106",
    severity=Severity.HIGH,
    parts=("brokers",),
    says={
        Status.FAIL: "Clients of broker {broker} are sent to {where} (listener {listeners})",
        Status.PASS: "Broker {broker} reports the registered address of every broker that it lists ({listeners})",
        Status.UNKNOWN: "Cannot determine whether {who} reports old addresses ({error})",
        Status.NOT_APPLICABLE: "No registrations to compare with: {reason}",
    },
)
def stale_endpoint(view: ClusterView) -> Iterator[Judgement]:
    """A broker reports an address for a broker that is not the registered one, or lists a broker that is not registered.

    ## Why it matters
    Clients connect to the addresses in Metadata. A connection to an old address times out. If the address was given to another
    broker, that broker answers.

    ## Fails when
    The host or port of a broker in the Metadata response differs from its registration for the same listener, in two samples,
    and the registration did not change in between. The case of host names does not count. Or it lists a broker that is
    registered nowhere, and the list of registered brokers did not change in between.

    ## Not known when
    The broker returned no view or an empty one, it was read on a listener that no broker registers, ZooKeeper was not read, or
    the difference was seen once or changed.

    ## Passes only when
    The broker answered on a registered listener, and every broker in its view is registered, with the same host and port.

    ## What to do
    Find the stale side: compare `zookeeper-shell.sh ZOOKEEPER:2181 get /brokers/ids/{subjects}` with
    `advertised.listeners` on that broker. If the registration is correct, the controller could not update the broker that
    answered: see KA302 and KA401. Restart the stale side; it then registers again or fetches the current address.

    ## References
    KIP-103; KIP-226 (advertised addresses may change without a restart).
    """
    if view.kraft:
        reason = "the cluster runs in KRaft mode, without ZooKeeper"
        yield view.judge("KA106", "cluster", Status.NOT_APPLICABLE, who="any broker", reason=reason)
        return
    unregistered = {observer.name: effect for observer, effect in view_effects(view, "unregistered")}
    for observer, effect_on_addresses in view_effects(view, "endpoint"):
        others = unregistered[observer.name]
        rank = _WORST_FIRST.index
        effect = others if others.difference and rank(others.state) < rank(effect_on_addresses.state) else effect_on_addresses
        difference = effect.difference
        yield judgement(
            view,
            "KA106",
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
