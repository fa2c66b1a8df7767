"""What tasks do for queue vantages: errands go to workers elsewhere by XCom, and their probes come back and into a snapshot."""

import logging
import time
from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

from kafka_audit import settings
from kafka_audit.airflow import environment, internals
from kafka_audit.airflow.connections import cluster_connection
from kafka_audit.airflow.tasks import vantage_queues
from kafka_audit.clients.parallel import side_by_side
from kafka_audit.clients.read_error import ReadError
from kafka_audit.collect import queue_vantages
from kafka_audit.collect.queue_vantages import Json, QueueAnswer

log = logging.getLogger(__name__)
_MOST_AT_ONCE = 64


def errands(clusters: Iterable[str]) -> dict[str, Json]:
    """Return by cluster what workers elsewhere are to probe; a cluster without queue vantages is left out.

    Raises:
        UsageError: the cluster file or a connection is wrong.
    """
    known = settings.load(environment.clusters_file())
    asked = {
        name: cluster_connection.with_airflow_connection(known[name])
        for name in clusters
        if any(vantage.queue is not None for vantage in known[name].vantages)
    }
    # Side by side: a cluster whose parties hang costs itself a minute, and no other anything.
    jobs = [partial(queue_vantages.errand, described, passwords) for described, passwords in asked.values()]
    until = time.monotonic() + max((described.limits.audit_s for described, _ in asked.values()), default=0.0)
    by_cluster = {}
    for name, errand in zip(asked, side_by_side(jobs, _MOST_AT_ONCE, until), strict=True):
        if errand is None or isinstance(errand, ReadError):
            log.warning("%s: no endpoint is probed from other queues: %s", name, errand or "its sources did not answer in time")
            continue
        by_cluster[name] = errand
        log.info("%s: %d endpoints to be probed from other queues", name, len(errand["endpoints"]))
    return by_cluster


def probe(queue: str, asked: Mapping[str, Json]) -> dict[str, list[str]] | None:
    """Probe from the worker that this runs on for the clusters that name its queue.

    Returns:
        Two samples by cluster; None where this is no worker of that queue.
    """
    if internals.runs_in_one_process():
        log.warning("this is a test run in one process, not a worker of queue %s, so no endpoint is probed", queue)
        return None
    return queue_vantages.probe_errands(queue_vantages.errands_of_queue(queue, asked))


def pulled(instance: Any, cluster: str) -> dict[str, QueueAnswer]:  # noqa: ANN401 -- Airflow's own, of which tests give another
    """Return what the queue vantages of a cluster saw in this run, by vantage; an answer without samples where no worker came."""
    ids = {queue: task_id for task_id, queue in vantage_queues.tasks().items()}
    vantages = [vantage for vantage in settings.load(environment.clusters_file())[cluster].vantages if vantage.queue in ids]
    if not vantages:
        return {}
    asked = instance.xcom_pull(task_ids="errands") or {}
    endpoints = asked.get(cluster, {}).get("endpoints", ())
    answers = {}
    for vantage in vantages:
        samples = instance.xcom_pull(task_ids=ids[vantage.queue or ""]) or {}
        answers[vantage.name] = QueueAnswer(endpoints=endpoints, samples=samples.get(cluster, ()))
    return answers
