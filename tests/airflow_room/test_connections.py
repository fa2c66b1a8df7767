"""Airflow connections and the clusters that name them."""

import json

import pytest

from kafka_audit.airflow import connections
from kafka_audit.model.cluster import Cluster, Security, Tls
from kafka_audit.model.errors import UsageError


def test_a_missing_connection_is_none():
    assert connections.find_connection("no_such_connection") is None


def test_a_cluster_without_a_connection_stays_as_it_is(monkeypatch):
    monkeypatch.setenv("AUDITOR", "hush")
    cluster = Cluster(name="prod", bootstrap=("b1:9092",))
    completed, secrets = connections.with_airflow_connection(cluster)
    assert completed is cluster
    assert secrets["AUDITOR"] == "hush"
    assert "hush" not in repr(secrets)


def completed(monkeypatch, extra):
    monkeypatch.setenv("AIRFLOW_CONN_KAFKA_PROD", json.dumps({"conn_type": "kafka", "extra": extra}))
    return connections.with_airflow_connection(Cluster(name="prod", bootstrap=("b1:9092",), kafka_conn_id="kafka_prod"))


def test_a_connection_in_the_kafka_providers_format_adds_addresses_and_says_how_to_speak(monkeypatch):
    extra = {
        "bootstrap.servers": "b1:9092, b2:9092",
        "security.protocol": "sasl_ssl",
        "sasl.mechanism": "SCRAM-SHA-512",
        "sasl.username": "auditor",
        "sasl.password": "hush",
        "ssl.ca.location": "/etc/ca.pem",
        "group.id": "ignored",
    }
    cluster, secrets = completed(monkeypatch, extra)
    assert cluster.bootstrap == ("b1:9092", "b2:9092")
    assert cluster.security == Security(
        protocol="SASL_SSL",
        mechanism="SCRAM-SHA-512",
        username="auditor",
        password_env="connection kafka_prod",  # noqa: S106 -- a name
        tls=Tls(ca_file="/etc/ca.pem"),
    )
    assert secrets[cluster.security.password_env] == "hush"
    assert "hush" not in f"{cluster!r} {secrets!r} {secrets} {secrets.own!r}"


def test_a_connection_without_security_speaks_plaintext(monkeypatch):
    cluster, _ = completed(monkeypatch, {"bootstrap.servers": "b2:9092"})
    assert cluster.security == Security()


WRONG = {
    "protocol": ({"security.protocol": "SASL_TLS"}, "security.protocol 'SASL_TLS' is not one of PLAINTEXT, .*mean SASL_SSL"),
    "no mechanism": ({"security.protocol": "SASL_SSL"}, "sasl.mechanism is missing; set it to one of PLAIN,"),
    "mechanism": ({"security.protocol": "SASL_SSL", "sasl.mechanism": "SCRAM"}, "sasl.mechanism 'SCRAM' is not one of PLAIN"),
    "no user": (
        {"security.protocol": "SASL_SSL", "sasl.mechanisms": "PLAIN", "sasl.password": "hush"},
        "sasl.username is missing; sasl.mechanism PLAIN requires it",
    ),
    "no password": (
        {"security.protocol": "SASL_SSL", "sasl.mechanisms": "PLAIN", "sasl.username": "u"},
        "sasl.password is missing",
    ),
    "key alone": ({"security.protocol": "SSL", "ssl.key.location": "/k"}, "ssl.key.location requires ssl.certificate"),
    "key in the connection": ({"security.protocol": "SSL", "ssl.key.pem": "hush"}, "ssl.key.pem is not supported; use PEM files"),
}


@pytest.mark.parametrize(("extra", "says"), WRONG.values(), ids=WRONG)
def test_a_connection_that_cannot_work_is_one_line_without_secrets(monkeypatch, extra, says):
    with pytest.raises(UsageError, match=f"prod: the Airflow connection 'kafka_prod': {says}") as error:
        completed(monkeypatch, extra)
    assert "hush" not in str(error.value)
    assert "\n" not in str(error.value)


def test_a_connection_that_is_not_there_is_named():
    with pytest.raises(UsageError, match=r"prod: the Airflow connection 'nope' of kafka_conn_id does not exist"):
        connections.with_airflow_connection(Cluster(name="prod", kafka_conn_id="nope"))
