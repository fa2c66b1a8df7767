"""What tasks do for queue vantages: errands go to workers elsewhere by XCom, and what they saw comes back and into a snapshot."""

import logging
import time
from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

from airflow.sdk.execution_time import task_runner

from kafka_audit import settings
from kafka_audit.airflow_glue import connections, environment, vantage_queues
from kafka_audit.collect import queues
from kafka_audit.collect.lanes import side_by_side
from kafka_audit.collect.queues import Answer, Json
from kafka_audit.collect.reads import ReadError

log = logging.getLogger(__name__)
_LANES = 64
_IN_PROCESS = "InProcessSupervisorComms"


def errands(clusters: Iterable[str]) -> dict[str, Json]:
    """Return by cluster what workers elsewhere are to probe; a cluster without queue vantages is left out.

    Raises:
        UsageError: the cluster file or a connection is wrong.
    """
    known = settings.load(environment.clusters_file())
    asked = {
        name: connections.completed(known[name])
        for name in clusters
        if any(one.queue is not None for one in known[name].vantages)
    }
    # Side by side: a cluster whose parties hang costs itself a minute, and no other anything.
    jobs = [partial(queues.errand, described, passwords) for described, passwords in asked.values()]
    until = time.monotonic() + max((one.limits.audit_s for one, _ in asked.values()), default=0.0)
    found = {}
    for name, told in zip(asked, side_by_side(jobs, _LANES, until), strict=True):
        if told is None or isinstance(told, ReadError):
            log.warning("%s: nothing is probed from other queues: %s", name, told or "its parties did not answer in time")
            continue
        found[name] = told
        log.info("%s: %d endpoints to be probed from other queues", name, len(told["endpoints"]))
    return found


def probe(queue: str, asked: Mapping[str, Json]) -> dict[str, list[str]] | None:
    """Probe from the worker that this runs on; return two looks by cluster, None where this is no worker of that queue."""
    if type(getattr(task_runner, "SUPERVISOR_COMMS", None)).__name__ == _IN_PROCESS:
        log.warning("this is a test run in one process and no worker of queue %s, so nothing is probed", queue)
        return None
    return queues.run(asked)


def pulled(instance: Any, cluster: str) -> dict[str, Answer]:  # noqa: ANN401 -- Airflow's own, of which tests give another
    """Return what the queue vantages of a cluster saw in this run, by vantage; an answer without looks where no worker came."""
    ids = {queue: task_id for task_id, queue in vantage_queues.tasks().items()}
    vantages = [one for one in settings.load(environment.clusters_file())[cluster].vantages if one.queue in ids]
    if not vantages:
        return {}
    asked = instance.xcom_pull(task_ids="errands") or {}
    endpoints = asked.get(cluster, {}).get("endpoints", ())
    found = {}
    for one in vantages:
        told = instance.xcom_pull(task_ids=ids[one.queue or ""]) or {}
        found[one.name] = Answer(endpoints=endpoints, looks=told.get(cluster, ()))
    return found
