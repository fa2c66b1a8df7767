"""What a cluster that names an Airflow connection gets from it."""

import os

from airflow.sdk import Connection
from airflow.sdk.exceptions import AirflowRuntimeError

from kafka_audit.airflow.moved import AirflowNotFoundException
from kafka_audit.model.cluster import Cluster
from kafka_audit.model.errors import UsageError
from kafka_audit.model.secrets import Secrets
from kafka_audit.settings import connection as settings


def find_connection(conn_id: str) -> Connection | None:
    """Return a connection, None where there is none of that id."""
    try:
        connection: Connection = Connection.get(conn_id)
    except AirflowNotFoundException:
        return None
    return connection


TYPE = "kafka_audit"
"""The connection type whose form the provider adds; other types have the Kafka provider's format in their extra."""


def with_airflow_connection(cluster: Cluster) -> tuple[Cluster, Secrets]:
    """Return the cluster with what its `kafka_conn_id`, if it names one, says, and the passwords apart from it.

    Raises:
        UsageError: there is no such connection, or it cannot work.
    """
    if cluster.kafka_conn_id is None:
        return cluster, Secrets({}, os.environ)
    return _with(cluster, find_connection(cluster.kafka_conn_id))


async def with_airflow_connection_async(cluster: Cluster) -> tuple[Cluster, Secrets]:
    """Return the same in a trigger, whose loop must not wait for Airflow.

    Raises:
        UsageError: as above, and where Airflow does not answer: the watch asks again later.
    """
    if cluster.kafka_conn_id is None:
        return cluster, Secrets({}, os.environ)
    try:
        connection: Connection | None = await Connection.async_get(cluster.kafka_conn_id)
    except AirflowNotFoundException:
        connection = None
    except (AirflowRuntimeError, OSError) as error:
        msg = f"{cluster.name}: the Airflow connection {cluster.kafka_conn_id!r} cannot be read now ({type(error).__name__})"
        raise UsageError(msg) from None
    return _with(cluster, connection)


def _with(cluster: Cluster, connection: Connection | None) -> tuple[Cluster, Secrets]:
    if connection is None:
        msg = f"{cluster.name}: the Airflow connection {cluster.kafka_conn_id!r} of kafka_conn_id does not exist"
        raise UsageError(msg)
    extra = connection.extra_dejson
    if connection.conn_type == TYPE:
        extra = settings.extra_of_form(connection.host, connection.port, connection.login, connection.password, extra)
    described, passwords = settings.with_connection(cluster, extra)
    return described, Secrets(passwords, os.environ)
