"""What the checks of brokers' views have in common: the status of an observer in one matter, and what words they share."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from kafka_audit.checks import ClusterView, Judgement, Severity, Status
from kafka_audit.cluster.answers.observers import Observer
from kafka_audit.cluster.view import Disagreement
from kafka_audit.faults.edges import Effect
from kafka_audit.faults.facts import facts_of
from kafka_audit.model.text import listing

_LISTED = 9
"""How many holders of the newest view are named where there are more than ten."""


_STATUS = {"missing": Status.FAIL, "works": Status.PASS}


@dataclass(frozen=True, kw_only=True)
class ShownMatter:
    """What the view of one observer shows in one of `MATTERS`."""

    view: ClusterView
    observer: Observer
    effect: Effect

    @property
    def difference(self) -> Disagreement | None:
        """What differs, None where nothing does."""
        return self.effect.difference

    @property
    def listeners(self) -> tuple[str, ...] | None:
        """Where it differs, else where the observer answered; None for nowhere."""
        return (self.observer.listeners if self.difference is None else self.difference.listeners) or None

    def judgement(self, *, severity: Severity | None = None, **evidence: Any) -> Judgement:  # noqa: ANN401 -- values of evidence
        """Return what a check says of the observer; `severity`: of a failure, where it is not the check's own."""
        status = _STATUS.get(self.effect.state, Status.UNKNOWN)
        unknown = {"error": self.effect.error, "needs": self.effect.needs} if status is Status.UNKNOWN else {}
        name = self.observer.name
        return self.view.judge(
            self.observer.resource,
            status,
            {"holder_brokers": self.view.derived(_holder_ids), **evidence, **unknown},
            severity=severity if status is Status.FAIL else None,
            who=f"broker {name}",
            broker=int(name) if name.isdecimal() else name,
        )

    def partitions(self, reference: str) -> dict[str, Any]:
        """Return which partitions differ and the two sides of the first; `reference` is the key of the right side in KRaft."""
        if self.difference is None:
            return {}
        return {
            "count": self.difference.count,
            "partitions": self.difference.first,
            reference if self.view.kraft else "zookeeper": self.difference.reference,
            "said": self.difference.view,
        }


def shown_by_each(view: ClusterView, matter: str) -> Iterator[ShownMatter]:
    """Yield what the view of each observer shows."""
    edges = facts_of(view).edges
    return (ShownMatter(view=view, observer=one, effect=edges.shown(one, matter)) for one in view.observers)


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
