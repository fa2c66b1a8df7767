"""The cluster file as commands name it."""

import os

from kafka_audit import settings
from kafka_audit.checks import catalogue
from kafka_audit.model.cluster import Cluster
from kafka_audit.model.errors import UsageError
from kafka_audit.model.text import did_you_mean

DEFAULT_CONFIG = "clusters.yaml"


def cluster_file_path(config: str | None) -> str:
    """Return the cluster file: the one that is named, else the environment's, else the usual one."""
    return config or os.environ.get("KAFKA_AUDIT_CLUSTERS") or DEFAULT_CONFIG


def cluster_named(config: str | None, name: str) -> Cluster:
    """Return a cluster of the cluster file; raises `UsageError` with the nearest name where there is none like that."""
    file = cluster_file_path(config)
    clusters = settings.load(file, codes=catalogue())
    cluster = clusters.get(name)
    if cluster is None:
        near = did_you_mean(name, clusters) or f"; the clusters are {', '.join(clusters)}"
        msg = f"{file}: cluster {name!r} does not exist{near}"
        raise UsageError(msg)
    return cluster
