from kafka_audit.checks import ClusterView, Judgements, Severity, check
from kafka_audit.checks.metadata.view_differences import holders, list_of, shown_by_each
from kafka_audit.cluster.answers.observers import Observer
from kafka_audit.cluster.view import Disagreement


@check(code="KA105", severity=Severity.HIGH, parts=("brokers", "views"))
def broker_missing_from_view(view: ClusterView) -> Judgements:
    """A broker does not list a broker that is registered in ZooKeeper, or lists no broker."""
    newest = holders(view)
    known = "registered broker that has the same listener" if newest is None else "broker of the newest view"
    for shown in shown_by_each(view, "broker"):
        difference = shown.difference
        empty = difference is not None and difference.empty
        yield shown.judgement(
            severity=Severity.CRITICAL if empty else None,
            count=difference and (len(view.brokers) if empty else difference.count),
            total=len(view.brokers),
            missing=difference and _missing_ids(view, difference),
            empty=empty,
            listeners=shown.listeners,
            holders=newest,
            known=known,
            whom=difference and _whom(shown.observer, difference),
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
