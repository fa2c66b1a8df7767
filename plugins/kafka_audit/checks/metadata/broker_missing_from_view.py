"""KA105."""

from collections.abc import Iterator

from kafka_audit.checks import check
from kafka_audit.checks.metadata.view_differences import holders, judgement, list_of, view_effects
from kafka_audit.cluster.view import ClusterView, Disagreement, Observer
from kafka_audit.model.finding import Judgement, Severity, Status


@check(
    code="KA105",
    severity=Severity.HIGH,
    parts=("brokers",),
    says={
        Status.FAIL: "{whom}: {lacks}",
        Status.PASS: "Broker {broker} lists every {known} ({listeners})",
        Status.UNKNOWN: "Cannot determine whether {who} lists every registered broker ({error})",
        Status.NOT_APPLICABLE: "Nothing to compare views with: {reason}",
    },
)
def broker_missing_from_view(view: ClusterView) -> Iterator[Judgement]:
    """A broker does not list a broker that is registered in ZooKeeper, or lists no broker.

    ## Why it matters
    If the list is empty, no client can bootstrap at this broker and every request times out (`kcat -L`, every AdminClient
    tool). If one broker is missing from the list, no client of this broker connects to it. Tools that read only ZooKeeper or
    another broker do not show the fault.

    ## Fails when
    A registered broker that has the same listener is missing from this broker's Metadata response in two samples, or the
    response lists no broker, and the registrations did not change in between. CRITICAL if the list is empty.

    In KRaft mode: a broker of the newest view (see KA107) is missing, or this broker answers and the newest view does not list
    it. In the second case the broker is fenced, and the finding is about this broker only.

    ## Not known when
    The broker returned no view, ZooKeeper was not read (KRaft: no other broker returned a view, or the views do not show which
    is newer), or the difference was seen once or changed (a broker has just started).

    ## Passes only when
    The broker answered, and on every listener that was read it lists all brokers that are registered with that listener (KRaft:
    all brokers of the newest view).

    ## What to do
    The controller sends the list of live brokers to each broker. If the list is empty, the controller never succeeded: see
    KA302 (it cannot reach the address that broker {broker} advertises), KA401 (it has no right there) and KA412 (it cannot log
    in), and read `controller.log` on the controller's host. Do not rely on `kafka-topics.sh --zookeeper` (up to Kafka 2.8): it
    does not read from brokers.

    In KRaft mode the heartbeats of a fenced broker do not reach the controllers, or it has not caught up with their metadata:
    run `grep -iE 'heartbeat|registration|fenced' server.log | tail` on broker {broker}, and `nc -vz CONTROLLER 9093` from its
    host.

    ## References
    UpdateMetadata (API 6) in ZooKeeper mode; `kafka.controller.ControllerBrokerRequestBatch`. KIP-631 (fenced brokers).
    """
    newest = holders(view)
    known = "registered broker that has the same listener" if newest is None else "broker of the newest view"
    for observer, effect in view_effects(view, "broker"):
        difference = effect.difference
        empty = difference is not None and difference.empty
        yield judgement(
            view,
            "KA105",
            observer,
            effect,
            severity=Severity.CRITICAL if empty else None,
            count=difference and (len(view.brokers) if empty else difference.count),
            total=len(view.brokers),
            missing=difference and _missing_ids(view, difference),
            empty=empty,
            listeners=(observer.listeners if difference is None else difference.listeners) or None,
            holders=newest,
            known=known,
            whom=difference and _whom(observer, difference),
            lacks=difference and _lacks(view, difference, newest),
        )


def _missing_ids(view: ClusterView, difference: Disagreement) -> tuple[int, ...] | None:
    """Return the first ten brokers that the view misses; None where it misses none."""
    return tuple(sorted(view.brokers)[:10] if difference.empty else difference.brokers) or None


def _missing(difference: Disagreement) -> str | None:
    """Return what the view misses; None where it misses nothing, and the newest views do not list its broker."""
    if difference.empty:
        return "any"
    return f"broker {', '.join(map(str, difference.brokers))}" if difference.brokers else None


def _whom(observer: Observer, difference: Disagreement) -> str:
    if difference.unlisted:
        return f"Clients miss broker {observer.name}"
    return f"Clients of broker {observer.name} miss brokers"


def _lacks(view: ClusterView, difference: Disagreement, newest: str | None) -> str:
    if difference.unlisted:
        do = "do" if list_of(view) == "list" else "does"
        return f"it answers, but {newest} {do} not list it, so the controller has fenced it"
    others = "are registered in ZooKeeper" if newest is None else f"{newest} {list_of(view)}"
    return f"it does not list {_missing(difference)} of the {len(view.brokers)} brokers that {others}"
