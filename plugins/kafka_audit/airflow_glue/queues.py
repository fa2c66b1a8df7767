"""What tasks do for queue vantages: errands go to workers elsewhere by XCom, and what they saw comes back and into a snapshot."""

import logging
from collections.abc import Iterable, Mapping
from typing import Any

from airflow.sdk.execution_time import task_runner

from kafka_audit import settings
from kafka_audit.airflow_glue import connections, environment, vantage_queues
from kafka_audit.collect import queues
from kafka_audit.collect.queues import Answer, Json

log = logging.getLogger(__name__)
_IN_PROCESS = "InProcessSupervisorComms"


def errands(clusters: Iterable[str]) -> dict[str, Json]:
    """Return by cluster what workers elsewhere are to probe; a cluster without queue vantages is left out.

    Raises:
        UsageError: the cluster file or a connection is wrong.
    """
    known = settings.load(environment.clusters_file())
    found = {}
    for name in clusters:
        if any(one.queue is not None for one in known[name].vantages):
            described, passwords = connections.completed(known[name])
            found[name] = queues.errand(described, passwords)
            log.info("%s: %d endpoints to be probed from other queues", name, len(found[name]["endpoints"]))
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
