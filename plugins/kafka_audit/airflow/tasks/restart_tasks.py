"""What stops if parties of a cluster are stopped now: reads the cluster into a store of its own, which is deleted."""

import logging
from collections.abc import Sequence
from typing import Any

from kafka_audit import audit, settings
from kafka_audit.airflow import environment
from kafka_audit.airflow.connections import cluster_connection
from kafka_audit.bounds.scratch import Scratch
from kafka_audit.job.losses import answers
from kafka_audit.model.text import our_line
from kafka_audit.progress.rows import progress_of
from kafka_audit.progress.words import summary
from kafka_audit.report.on_its_way import SHOWN, shown_rows
from kafka_audit.report.what_if import losses
from kafka_audit.store import Store
from kafka_audit.what_if.losses import combined, loss_named

log = logging.getLogger(__name__)

_LONGEST = 500


def answer_now(cluster: str, parties: Sequence[str], margin: int) -> dict[str, Any]:
    """Return `cluster`, `without`, `safe` (None: not decided), `sentence`, `raises_margin`, `not_known` and `on_its_way`.

    Nothing is left in the store: a snapshot without a report each minute would be in the way of the next audit.

    Raises:
        UsageError: the cluster file or a connection is wrong, or the cluster has no such party.
        EngineError: a query failed.
    """
    described, passwords = cluster_connection.with_airflow_connection(settings.load(environment.clusters_file())[cluster])
    with Scratch() as scratch:
        store = Store(scratch.path / "store")
        store.prepare()
        snapshot_id = audit.publish_snapshot(described, store, log.info, secrets=passwords)
        view, (found,) = answers(
            store,
            snapshot_id,
            lambda view: [combined(loss_named(view, party) for party in parties)],
            margin=margin,
            bootstrap=described.bootstrap,
        )
    unknown = [
        {"what": our_line(question.what, _LONGEST), "needs": our_line(question.needs, _LONGEST)} for question in found.not_known
    ]
    sentence = our_line(losses.loss_sentence(found), _LONGEST)
    better = [our_line(text, _LONGEST) for text, _ in losses.ways_with_commands(found, view)]
    moving = [our_line(summary(row), _LONGEST) for row in shown_rows(progress_of(view).all)[:SHOWN]]
    judged = {"safe": found.safe, "sentence": sentence, "raises_margin": better, "not_known": unknown, "on_its_way": moving}
    return {"cluster": cluster, "without": [*parties], **judged}
