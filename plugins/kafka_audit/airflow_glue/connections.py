"""Airflow connections: whether one exists, and what a cluster that names one gets from it."""

import os

from airflow.sdk import Connection
from airflow.sdk.exceptions import AirflowNotFoundException

from kafka_audit.model.cluster import Cluster
from kafka_audit.model.errors import UsageError
from kafka_audit.model.secrets import Secrets
from kafka_audit.settings import connection as settings


def find(conn_id: str) -> Connection | None:
    """Return a connection, None where there is none of that id."""
    try:
        found: Connection = Connection.get(conn_id)
    except AirflowNotFoundException:
        return None
    return found


def completed(cluster: Cluster) -> tuple[Cluster, Secrets]:
    """Return the cluster with what its `kafka_conn_id`, if it names one, says, and the passwords apart from it.

    Raises:
        UsageError: there is no such connection, or it cannot work.
    """
    if cluster.kafka_conn_id is None:
        return cluster, Secrets({}, os.environ)
    connection = find(cluster.kafka_conn_id)
    if connection is None:
        msg = f"{cluster.name}: Airflow has no connection {cluster.kafka_conn_id!r}, which kafka_conn_id names"
        raise UsageError(msg)
    described, own = settings.completed(cluster, connection.extra_dejson)
    return described, Secrets(own, os.environ)
