"""The connection type `kafka_audit`: its form, its hook, and what the button Test shows."""

import inspect
import json

import pytest

from collect.fakes import FakeBroker, refused, server
from collect.secured_fakes import SecuredBroker
from kafka_audit.airflow.connections import cluster_connection
from kafka_audit.airflow.hook import KafkaAuditHook, connection_result
from kafka_audit.airflow.provider_info import get_provider_info
from kafka_audit.model.cluster import Cluster, Oidc, Security, Tls
from kafka_audit.model.tables import Snapshot, SourceRead
from kafka_audit.settings import connection as form
from kafka_audit.settings.logins import MECHANISMS, PROTOCOLS

FORM = {
    "conn_type": "kafka_audit",
    "host": "b1:9092, b2:9092",
    "login": "auditor",
    "password": "hush",
    "extra": {"security_protocol": "SASL_SSL", "sasl_mechanism": "SCRAM-SHA-512", "ssl_ca_location": "/etc/ca.pem"},
}


def described(monkeypatch, **values):
    monkeypatch.setenv("AIRFLOW_CONN_KAFKA_PROD", json.dumps(FORM | values))
    return cluster_connection.with_airflow_connection(Cluster(name="prod", kafka_conn_id="kafka_prod"))


def test_the_form_says_what_a_connection_of_the_kafka_provider_says(monkeypatch):
    cluster, secrets = described(monkeypatch)
    assert cluster.bootstrap == ("b1:9092", "b2:9092")
    assert cluster.security == Security(
        protocol="SASL_SSL",
        mechanism="SCRAM-SHA-512",
        username="auditor",
        password_env="connection kafka_prod",  # noqa: S106 -- a name
        tls=Tls(ca_file="/etc/ca.pem"),
    )
    assert secrets["connection kafka_prod"] == "hush"


@pytest.mark.parametrize(
    ("host", "port", "bootstrap"),
    [
        ("b1,b2:9093", 9092, ("b1:9092", "b2:9093")),
        ("b1, [2001:db8::1] ,[2001:db8::2]:9093,", 9092, ("b1:9092", "[2001:db8::1]:9092", "[2001:db8::2]:9093")),
        ("b1:9092", None, ("b1:9092",)),
        ("b1:9092", 0, ("b1:9092",)),
        ("", 9092, ()),
    ],
)
def test_the_port_is_that_of_servers_without_one(monkeypatch, host, port, bootstrap):
    cluster, _ = described(monkeypatch, host=host, port=port)
    assert cluster.bootstrap == bootstrap


def test_keys_of_the_kafka_provider_in_the_extra_take_precedence(monkeypatch):
    cluster, _ = described(monkeypatch, extra={"security.protocol": "PLAINTEXT", "bootstrap.servers": "b3:9092"})
    assert (cluster.bootstrap, cluster.security) == (("b3:9092",), Security())


def test_the_form_takes_a_client_of_a_token_endpoint(monkeypatch):
    fields = {"sasl_mechanism": "OAUTHBEARER", "sasl_oauthbearer_token_endpoint_url": "https://login.example/token"}
    fields |= {"https_ca_location": "/etc/idp.pem", "sasl_oauthbearer_scope": "kafka", "sasl_oauthbearer_extensions": "pool=p"}
    cluster, secrets = described(monkeypatch, extra={"security_protocol": "SASL_SSL"} | fields)
    assert cluster.security == Security(
        protocol="SASL_SSL",
        mechanism="OAUTHBEARER",
        username="auditor",
        password_env="connection kafka_prod",  # noqa: S106 -- a name
        oidc=Oidc(
            token_endpoint="https://login.example/token",  # noqa: S106 -- a URL
            scope="kafka",
            extensions=(("pool", "p"),),
            ca_file="/etc/idp.pem",
        ),
    )
    assert secrets["connection kafka_prod"] == "hush"


def test_login_and_password_are_the_client_also_if_the_extra_has_the_key_of_librdkafka(monkeypatch):
    extra = {"security.protocol": "SASL_SSL", "sasl.mechanism": "OAUTHBEARER"}
    extra["sasl.oauthbearer.token.endpoint.url"] = "https://login.example/token"
    cluster, secrets = described(monkeypatch, extra=extra)
    assert (cluster.security.username, secrets["connection kafka_prod"]) == ("auditor", "hush")
    assert cluster.security.oidc == Oidc(token_endpoint="https://login.example/token")  # noqa: S106 -- a URL


def test_the_form_takes_a_region_of_amazon_msk(monkeypatch):
    fields = {"security_protocol": "SASL_SSL", "sasl_mechanism": "OAUTHBEARER", "msk_region": "eu-west-1"}
    cluster, _ = described(monkeypatch, login=None, password=None, extra=fields)
    assert cluster.security == Security(protocol="SASL_SSL", mechanism="OAUTHBEARER", msk_region="eu-west-1")


@pytest.mark.parametrize(
    ("field", "value", "expected"),
    [
        ("google_cloud", "true", {"google_cloud": True}),
        ("azure_scope", "api://kafka/.default", {"azure_scope": "api://kafka/.default"}),
    ],
)
def test_the_form_takes_the_identities_of_other_clouds(monkeypatch, field, value, expected):
    fields = {"security_protocol": "SASL_SSL", "sasl_mechanism": "OAUTHBEARER", field: value}
    cluster, secrets = described(monkeypatch, login=None, password=None, extra=fields)
    assert cluster.security == Security(protocol="SASL_SSL", mechanism="OAUTHBEARER", **expected)
    assert not secrets.own


def test_host_and_login_of_other_types_are_not_used(monkeypatch):
    cluster, _ = described(monkeypatch, conn_type="kafka", extra={"bootstrap.servers": "b3:9092"})
    assert (cluster.bootstrap, cluster.security) == (("b3:9092",), Security())


def test_every_field_of_the_form_is_read_and_offers_what_is_supported():
    (entry,) = get_provider_info()["connection-types"]
    fields = entry["conn-fields"]
    assert fields.keys() == form._FORM.keys()
    assert tuple(fields["security_protocol"]["schema"]["enum"]) == PROTOCOLS
    assert {*fields["sasl_mechanism"]["schema"]["enum"]} == {*MECHANISMS}
    assert entry["connection-type"] == KafkaAuditHook.conn_type
    assert entry["hook-name"] == KafkaAuditHook.hook_name
    assert entry["hook-class-name"] == f"{inspect.getmodule(KafkaAuditHook).__name__}.{KafkaAuditHook.__name__}"


def read(observer, operation, error=None, needs=None, *, sample=1):
    outcome = "failed" if error else "answered"
    return SourceRead(
        sample=sample, observer=observer, operation=operation, target="h:9092", outcome=outcome, error=error, needs=needs
    )


def result(reads):
    return connection_result(Snapshot(snapshot_id="s", cluster="prod", cluster_id="unknown:prod", rows=tuple(reads)))


HEALTHY = [read("broker:0", "ApiVersions"), read("broker:0", "Metadata"), read("broker:0", "DescribeLogDirs")]


def test_a_cluster_that_answers_everything_passes():
    assert result(HEALTHY) == (True, "1 of 1 broker answered: broker 0 at h:9092. No right is missing")


def test_no_broker_at_all_does_not_pass():
    assert result([])[0] is False


def test_a_reason_is_named_once_for_the_brokers_that_have_it():
    login = ("SASL_AUTHENTICATION_FAILED", "a user and password")
    reads = [
        SourceRead(sample=1, observer=f"broker@b{node}:9092", operation="ApiVersions", target=f"b{node}:9092", outcome="failed",
                   error=login[0] if node < 3 else "timeout", needs=login[1] if node < 3 else None)
        for node in (1, 2, 3)
    ]  # fmt: skip
    passed, text = result(reads)
    assert not passed
    assert text == (
        "0 of 3 brokers answered. No answer: broker at b1:9092 and broker at b2:9092 "
        "(SASL_AUTHENTICATION_FAILED; it needs a user and password); broker at b3:9092 (timeout)"
    )


def test_a_missing_right_is_named_once_for_all_brokers():
    denied = [
        read(f"broker:{number}", operation, "CLUSTER_AUTHORIZATION_FAILED", "Describe on Cluster")
        for number in (0, 1)
        for operation in ("DescribeLogDirs", "DescribeAcls")
    ]
    passed, text = result([*HEALTHY[:2], read("broker:1", "Metadata"), *denied])
    assert not passed
    assert text.endswith(". Missing rights: Describe on Cluster (broker 0 and broker 1)")


def test_a_read_that_fails_is_no_missing_right():
    passed, text = result([*HEALTHY, read("broker:0", "DescribeAcls", "timeout")])
    assert (passed, text.partition(". ")[2]) == (False, "Failed reads: broker 0 (DescribeAcls: timeout)")


def test_the_newest_sample_counts():
    early = [read("broker:0", "Metadata", "timeout", sample=1), read("broker:0", "Metadata", sample=2)]
    assert result(early)[0]
    late = [read("broker:0", "Metadata", sample=1), read("broker:0", "Metadata", "timeout", sample=2)]
    assert result(late) == (False, "0 of 1 broker answered. No answer: broker 0 at h:9092 (timeout)")


@pytest.fixture
def tested(monkeypatch):
    def run(**values):
        monkeypatch.setenv("AIRFLOW_CONN_KAFKA_PROD", json.dumps({"conn_type": "kafka_audit"} | values))
        return KafkaAuditHook("kafka_prod").test_connection()

    return run


def test_each_broker_is_asked_and_one_that_refuses_is_named(tested):
    broker, gone = FakeBroker(0), refused()
    with server(broker) as address:
        broker.brokers = {0: address, 1: gone}
        passed, text = tested(host=f"{address[0]}:{address[1]}")
    assert not passed
    assert text.startswith(f"1 of 2 brokers answered: broker 0 at {address[0]}:{address[1]}. No answer: broker 1 at ")
    assert f"{gone[0]}:{gone[1]} (connection refused" in text


def test_a_right_that_a_broker_denies_is_named(tested):
    broker = FakeBroker(0)
    broker.may_describe_configs, broker.operations = False, 1 << 8
    with server(broker) as address:
        broker.brokers = {0: address}
        passed, text = tested(host=f"{address[0]}:{address[1]}")
    assert not passed
    assert "Missing rights: DescribeConfigs on Cluster (broker 0)" in text


def test_a_password_is_in_no_text_even_if_a_broker_repeats_it(tested):
    broker = SecuredBroker(0, users={"auditor": "right"})
    broker.echo = True
    with server(broker) as address:
        broker.brokers = {0: address}
        login = {"login": "auditor", "password": "hush-hush"}
        extra = {"security_protocol": "SASL_PLAINTEXT", "sasl_mechanism": "PLAIN"}
        passed, text = tested(host=f"{address[0]}:{address[1]}", extra=extra, **login)
    assert not passed
    assert "0 of 1 broker answered" in text
    assert "hush" not in text
    assert "kafka_prod" not in text, "Airflow gives the hook a random id in its place"
    assert ("PLAIN", "auditor", "hush-hush") in broker.passwords, "the broker did not receive it, so it could not repeat it"


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({}, "Bootstrap servers is empty: set at least one host:port"),
        (
            {"host": "b:1", "extra": {"security_protocol": "SASL_SSL"}, "password": "hush"},
            "sasl.mechanism is missing",
        ),
    ],
)
def test_a_form_that_is_incomplete_is_one_line(tested, values, message):
    passed, text = tested(**values)
    assert not passed
    assert text.startswith(message)
    assert "hush" not in text
