"""Airflow connections: whether one exists, and what a cluster that names one gets from it."""

import dataclasses
from collections.abc import Mapping
from typing import Any

from airflow.sdk import Connection
from airflow.sdk.exceptions import AirflowNotFoundException

from kafka_audit.model.cluster import Cluster, Security
from kafka_audit.model.errors import UsageError


def find(conn_id: str) -> Connection | None:
    """Return a connection, None where there is none of that id."""
    try:
        found: Connection = Connection.get(conn_id)
    except AirflowNotFoundException:
        return None
    return found


def completed(cluster: Cluster) -> Cluster:
    """Return the cluster with what its `kafka_conn_id`, if it names one, says.

    Raises:
        UsageError: there is no such connection.
    """
    if cluster.kafka_conn_id is None:
        return cluster
    connection = find(cluster.kafka_conn_id)
    if connection is None:
        msg = f"{cluster.name}: Airflow has no connection {cluster.kafka_conn_id!r}, which kafka_conn_id names"
        raise UsageError(msg)
    return from_extra(cluster, connection.extra_dejson)


def from_extra(cluster: Cluster, extra: Mapping[str, Any]) -> Cluster:
    """Read the extra of a connection in the format of Airflow's Kafka provider, which is librdkafka's configuration."""
    own = (address.strip() for address in str(extra.get("bootstrap.servers", "")).split(","))
    return dataclasses.replace(
        cluster,
        security=Security(protocol=str(extra.get("security.protocol", "PLAINTEXT")).upper()),
        bootstrap=tuple(dict.fromkeys((*cluster.bootstrap, *filter(None, own)))),
    )
