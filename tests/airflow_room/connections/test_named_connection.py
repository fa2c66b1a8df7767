"""An Airflow connection by its id."""

import json

from kafka_audit.airflow.connections.cluster_connection import find_connection


def test_a_connection_is_found_by_its_id(monkeypatch):
    monkeypatch.setenv("AIRFLOW_CONN_MAIL", json.dumps({"conn_type": "smtp", "host": "mail"}))
    assert find_connection("mail").host == "mail"


def test_a_missing_connection_is_none():
    assert find_connection("no_such_connection") is None
