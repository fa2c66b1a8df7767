"""Whether a step may be taken now: audits the cluster into a store of its own, which is deleted."""

import logging
import secrets
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from kafka_audit import audit, settings
from kafka_audit.airflow import environment
from kafka_audit.airflow.connections import cluster_connection
from kafka_audit.bounds.scratch import Scratch
from kafka_audit.job import embedded_job
from kafka_audit.may.asking import answer_by
from kafka_audit.may.step import parse_step
from kafka_audit.store import Store

log = logging.getLogger(__name__)


def step_answer_now(cluster: str, words: Sequence[str]) -> dict[str, Any]:
    """Return what `kafka-audit may` has as JSON, and `cluster`.

    Raises:
        UsageError: the words are no step, or the cluster file or a connection is wrong.
        EngineError: a query failed.
    """
    step = parse_step(words)
    described, passwords = cluster_connection.with_airflow_connection(settings.load(environment.clusters_file())[cluster])
    described = replace(described, asked_topics=step.topics)
    with Scratch() as scratch:
        store, run_id = Store(scratch.path / "store"), f"step-{secrets.token_hex(3)}"
        store.prepare()
        snapshot_id = audit.publish_snapshot(described, store, log.info, secrets=passwords)
        audit.prepare_request(store, [snapshot_id], {snapshot_id: None}, run_id, clusters={cluster: described})
        embedded_job.answer(store, run_id)
        (document,) = audit.write_reports(store, run_id, {cluster: described})
        found = answer_by(store, document, step, bootstrap=described.bootstrap)
    return {"cluster": cluster, **found.to_plain()}
