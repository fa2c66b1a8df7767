"""Airflow connections and the clusters that name them."""

import json

import pytest

from kafka_audit.airflow_glue import connections
from kafka_audit.model.cluster import Cluster, Security
from kafka_audit.model.errors import UsageError


def test_a_missing_connection_is_none():
    assert connections.find("no_such_connection") is None


def test_a_cluster_without_a_connection_stays_as_it_is():
    cluster = Cluster(name="prod", bootstrap=("b1:9092",))
    assert connections.completed(cluster) is cluster


def test_a_connection_in_the_kafka_providers_format_adds_addresses_and_says_how_to_speak(monkeypatch):
    extra = {"bootstrap.servers": "b1:9092, b2:9092", "security.protocol": "sasl_ssl", "sasl.password": "hush"}
    monkeypatch.setenv("AIRFLOW_CONN_KAFKA_PROD", json.dumps({"conn_type": "kafka", "extra": extra}))
    completed = connections.completed(Cluster(name="prod", bootstrap=("b1:9092",), kafka_conn_id="kafka_prod"))
    assert completed.bootstrap == ("b1:9092", "b2:9092")
    assert completed.security == Security(protocol="SASL_SSL")
    assert "hush" not in repr(completed)


def test_a_connection_that_is_not_there_is_named():
    with pytest.raises(UsageError, match=r"prod: Airflow has no connection 'nope'"):
        connections.completed(Cluster(name="prod", kafka_conn_id="nope"))
