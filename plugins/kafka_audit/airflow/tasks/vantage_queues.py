"""The queues that vantages name, and the executor that serves them: what parsing the DAG needs, without a client library.

An executor without queues would run a task somewhere else, silently. Under such an executor there is no task for a queue,
and what its vantage would see is unknown.
"""

import re

from kafka_audit import settings
from kafka_audit.airflow import environment
from kafka_audit.airflow.moved import conf
from kafka_audit.model.errors import UsageError

_WITH_QUEUES = re.compile(r"(?:Celery|Edge)\w{0,100}Executor$")


def executor() -> str | None:
    """Return the name of the first executor that honours queues, as tasks give it; None where there is none.

    Several may be set up, separated by commas, and each may have an alias in front: `edge:module.EdgeExecutor`.
    """
    for entry in conf.get("core", "executor").split(","):
        alias, _, path = entry.strip().rpartition(":")
        if _WITH_QUEUES.search(path):
            return alias or path
    return None


def tasks() -> dict[str, str]:
    """Return queue by task id; none where no executor honours queues, or the cluster file cannot be read, as its task says."""
    if executor() is None:
        return {}
    try:
        clusters = settings.load(environment.clusters_file())
    except UsageError:
        return {}
    queues = sorted({vantage.queue for cluster in clusters.values() for vantage in cluster.vantages if vantage.queue is not None})
    return {f"probe_{re.sub(r'[^A-Za-z0-9_.-]', '_', queue)}": queue for queue in queues}
