"""What becomes of a world of `checks.world` without some parties, measured by the embedded engine."""

import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from checks.cases import base
from checks.world import World, snapshots
from kafka_audit.cluster.view import ClusterView
from kafka_audit.job.losses import measured_view
from kafka_audit.model.tables import Snapshot
from kafka_audit.what_if.answer import Answer, answer
from kafka_audit.what_if.losses import combined, every, loss_named
from testbed.cluster_views import measure


def snapshot_of(case: World, name: str = "case") -> Snapshot:
    return snapshots(base(), name, case)[0]


def without(
    snapshot: Snapshot, *names: str, margin: int = 0, bootstrap: Sequence[str] = (), each: str | None = None
) -> tuple[ClusterView, tuple[Answer, ...]]:
    """Return the view and the answer to the loss of all of these; to each loss of a kind if `each` is given."""

    def asked(view: ClusterView) -> Sequence[Any]:
        return every(view, each) if each else [combined(loss_named(view, name) for name in names)]

    with tempfile.TemporaryDirectory() as folder:
        view = measured_view(snapshot, measure([snapshot], Path(folder)), asked, margin)
    return view, tuple(answer(view, loss, margin=margin, bootstrap=bootstrap) for loss in asked(view))


class _LaterError(Exception):
    """What is asked is kept, to be measured with the rest."""


class _Together:
    """The measuring of many snapshots in one pass of the engine: what each is given is asked twice, before it and after."""

    def __init__(self) -> None:
        self.given: dict[str, Any] = {}
        self.tables: Any = None
        self.found: dict[str, Any] = {}

    def differences(self, given: Mapping[str, Any], tables: Any) -> dict[str, Any]:
        if not self.found:
            self.given |= given
            self.tables = tables
            raise _LaterError
        return {name: self.found[name] for name in given}


def each_without(
    asked: Mapping[str, tuple[Snapshot, Sequence[str], int, Sequence[str]]],
) -> dict[str, tuple[ClusterView, Answer]]:
    """Return the view and the answer by name: of a snapshot of that name, the loss of some parties, a margin, the bootstrap."""
    together = _Together()

    def view_of(name: str) -> ClusterView:
        snapshot, lost, margin, _ = asked[name]
        return measured_view(snapshot, together, lambda view: [combined(loss_named(view, one) for one in lost)], margin)

    for name in asked:
        with suppress(_LaterError):
            view_of(name)
    with tempfile.TemporaryDirectory() as folder:
        together.found = measure([snapshot for snapshot, *_ in asked.values()], Path(folder)).differences(
            together.given, together.tables
        )
    answers = {}
    for name, (_, lost, margin, bootstrap) in asked.items():
        view = view_of(name)
        loss = combined(loss_named(view, one) for one in lost)
        answers[name] = view, answer(view, loss, margin=margin, bootstrap=bootstrap)
    return answers
