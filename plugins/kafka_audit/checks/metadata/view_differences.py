"""What the checks of brokers' views have in common: the status of an observer in one matter, and what words they share."""

from collections.abc import Iterator
from typing import Any

from kafka_audit.checks import ClusterView, Judgement, Severity, Status
from kafka_audit.cluster.answers.observers import Observer
from kafka_audit.cluster.view import Disagreement
from kafka_audit.faults.edges import Effect
from kafka_audit.faults.facts import facts_of
from kafka_audit.model.text import listing

_LISTED = 9
"""How many holders of the newest view are named where there are more than ten."""


def view_effects(view: ClusterView, matter: str) -> Iterator[tuple[Observer, Effect]]:
    """Yield each observer with what its view shows in one of `MATTERS`."""
    edges = facts_of(view).edges
    return ((observer, edges.shown(observer, matter)) for observer in view.observers)


_STATUS = {"missing": Status.FAIL, "works": Status.PASS}


def judgement(
    view: ClusterView,
    observer: Observer,
    effect: Effect,
    *,
    severity: Severity | None = None,
    **evidence: Any,  # noqa: ANN401 -- values of evidence
) -> Judgement:
    """Return what a check says of one observer.

    Args:
        view: the judged snapshot.
        observer: whose view it is.
        effect: what its view shows in the matter of the check.
        severity: of a failure, where it is not the check's own.
        evidence: what the check's messages are made of.
    """
    status = _STATUS.get(effect.state, Status.UNKNOWN)
    unknown = {"error": effect.error, "needs": effect.needs} if status is Status.UNKNOWN else {}
    return view.judge(
        observer.resource,
        status,
        {"holder_brokers": view.derived(_holder_ids), **evidence, **unknown},
        severity=severity if status is Status.FAIL else None,
        who=f"broker {observer.name}",
        broker=int(observer.name) if observer.name.isdecimal() else observer.name,
    )


def partition_evidence(view: ClusterView, difference: Disagreement | None, reference: str) -> dict[str, Any]:
    """Return which partitions differ and the two sides of the first; `reference` is the key of the right side in KRaft."""
    if difference is None:
        return {}
    return {
        "count": difference.count,
        "partitions": difference.first,
        reference if view.kraft else "zookeeper": difference.reference,
        "said": difference.view,
    }


def holders(view: ClusterView) -> str | None:
    """Return who holds the newest view in KRaft, `brokers 0, 1 and 2`; None with ZooKeeper."""
    names = None if view.state is None else view.state.holders
    if names is None:
        return None
    if len(names) == 1:
        return f"broker {names[0]}"
    return f"brokers {listing(names, _LISTED) if len(names) > _LISTED + 1 else listing(names)}"


def _holder_ids(view: ClusterView) -> tuple[int, ...] | None:
    """Return the ids of the holders of the newest view in KRaft; None with ZooKeeper, or where no id is known."""
    names = None if view.state is None else view.state.holders
    return tuple(int(name) for name in names or () if name.isdecimal()) or None


def list_of(view: ClusterView) -> str:
    """Return the verb after `holders`: one broker lists, several list."""
    names = () if view.state is None else view.state.holders or ()
    return "list" if len(names) > 1 else "lists"
