"""What becomes of a world of `checks.world` without some parties, measured by the embedded engine."""

import tempfile
from collections.abc import Sequence
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


def snapshot_of(case: World) -> Snapshot:
    return snapshots(base(), "case", case)[0]


def without(
    snapshot: Snapshot, *names: str, margin: int = 0, bootstrap: Sequence[str] = (), each: str | None = None
) -> tuple[ClusterView, tuple[Answer, ...]]:
    """Return the view and the answer to the loss of all of these; to each loss of a kind if `each` is given."""

    def asked(view: ClusterView) -> Sequence[Any]:
        return every(view, each) if each else [combined(loss_named(view, name) for name in names)]

    with tempfile.TemporaryDirectory() as folder:
        view = measured_view(snapshot, measure([snapshot], Path(folder)), asked, margin)
    return view, tuple(answer(view, loss, margin=margin, bootstrap=bootstrap) for loss in asked(view))
