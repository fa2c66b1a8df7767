"""Clusters that name an Airflow connection."""

import asyncio
import json

import pytest
from airflow.sdk import Connection
from airflow.sdk.exceptions import AirflowRuntimeError, ErrorType
from airflow.sdk.execution_time.comms import ErrorResponse

from kafka_audit.airflow.connections import cluster_connection
from kafka_audit.model.cluster import Cluster, Oidc, Security, Tls
from kafka_audit.model.errors import UsageError


def test_a_cluster_without_a_connection_stays_as_it_is(monkeypatch):
    monkeypatch.setenv("AUDITOR", "hush")
    cluster = Cluster(name="prod", bootstrap=("b1:9092",))
    completed, secrets = cluster_connection.with_airflow_connection(cluster)
    assert completed is cluster
    assert secrets["AUDITOR"] == "hush"
    assert "hush" not in repr(secrets)


def completed(monkeypatch, extra):
    monkeypatch.setenv("AIRFLOW_CONN_KAFKA_PROD", json.dumps({"conn_type": "kafka", "extra": extra}))
    return cluster_connection.with_airflow_connection(Cluster(name="prod", bootstrap=("b1:9092",), kafka_conn_id="kafka_prod"))


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


OIDC = {
    "bootstrap.servers": "b2:9092",
    "security.protocol": "SASL_SSL",
    "sasl.mechanism": "OAUTHBEARER",
    "sasl.oauthbearer.method": "OIDC",
    "sasl.oauthbearer.client.id": "auditor",
    "sasl.oauthbearer.client.secret": "hush",
    "sasl.oauthbearer.scope": "kafka",
    "sasl.oauthbearer.extensions": "logicalCluster=lkc-1, identityPoolId=pool-1",
    "sasl.oauthbearer.token.endpoint.url": "https://login.example/token",
    "https.ca.location": "/etc/idp.pem",
    "ssl.ca.location": "probe",
}


def test_tokens_of_a_token_endpoint_by_the_names_of_librdkafka(monkeypatch):
    cluster, secrets = completed(monkeypatch, OIDC)
    assert cluster.security == Security(
        protocol="SASL_SSL",
        mechanism="OAUTHBEARER",
        username="auditor",
        password_env="connection kafka_prod",  # noqa: S106 -- a name
        oidc=Oidc(
            token_endpoint="https://login.example/token",  # noqa: S106 -- a URL
            scope="kafka",
            extensions=(("logicalCluster", "lkc-1"), ("identityPoolId", "pool-1")),
            ca_file="/etc/idp.pem",
        ),
    )
    assert secrets["connection kafka_prod"] == "hush"
    assert "hush" not in repr(cluster)
    other = {key: value for key, value in OIDC.items() if ".client." not in key}
    other |= {
        f"sasl.oauthbearer.client.credentials.client.{key}": OIDC[f"sasl.oauthbearer.client.{key}"] for key in ("id", "secret")
    }
    assert completed(monkeypatch, other)[0] == cluster


MSK = {"security.protocol": "SASL_SSL", "sasl.mechanism": "OAUTHBEARER"}


@pytest.mark.parametrize(
    ("servers", "region"),
    [
        (
            "b-1.demo.abcde1.c2.kafka.us-east-1.amazonaws.com:9098,b-2.demo.abcde1.c2.kafka.us-east-1.amazonaws.com:9098",
            "us-east-1",
        ),
        ("boot-abcde1.c2.kafka-serverless.EU-WEST-1.amazonaws.com:9098", "eu-west-1"),
        ("b-1.demo.abcde1.c2.kafka.cn-north-1.amazonaws.com.cn:9098", "cn-north-1"),
    ],
)
def test_amazon_msk_is_known_by_its_addresses_as_airflow_s_provider_knows_it(monkeypatch, servers, region):
    cluster, secrets = completed(monkeypatch, MSK | {"bootstrap.servers": servers})
    assert cluster.security == Security(protocol="SASL_SSL", mechanism="OAUTHBEARER", msk_region=region)
    assert not secrets.own


def test_the_region_of_amazon_msk_behind_other_names(monkeypatch):
    cluster, _ = completed(monkeypatch, MSK | {"bootstrap.servers": "kafka.corp.example:9098", "msk.region": "eu-west-1"})
    assert cluster.security.msk_region == "eu-west-1"


GOOGLE = "bootstrap.prod.europe-west1.managedkafka.my-project.cloud.goog:9092"


@pytest.mark.parametrize(
    ("extra", "expected"),
    [
        ({"bootstrap.servers": GOOGLE}, {"google_cloud": True}),
        ({"bootstrap.servers": "kafka.corp.example:9092", "google.cloud": "True"}, {"google_cloud": True}),
        (
            {"bootstrap.servers": "space.servicebus.windows.net:9093"},
            {"azure_scope": "https://space.servicebus.windows.net/.default"},
        ),
        (
            {"bootstrap.servers": "kafka.corp.example:9092", "azure.scope": "api://kafka/.default"},
            {"azure_scope": "api://kafka/.default"},
        ),
        ({"bootstrap.servers": GOOGLE, "azure.scope": "api://kafka/.default"}, {"azure_scope": "api://kafka/.default"}),
    ],
)
def test_the_services_of_google_and_azure_are_known_by_their_addresses_or_a_key(monkeypatch, extra, expected):
    cluster, secrets = completed(monkeypatch, MSK | extra)
    assert cluster.security == Security(protocol="SASL_SSL", mechanism="OAUTHBEARER", **expected)
    assert not secrets.own


@pytest.mark.parametrize(
    "servers",
    ["evil.example:9092", "managedkafka.cloud.goog.evil.example:9092", "space.servicebus.windows.net.evil.example:9093"],
)
def test_names_that_only_look_like_those_of_a_cloud_get_no_token_of_it(monkeypatch, servers):
    with pytest.raises(UsageError, match=r"sasl.oauthbearer.method is missing"):
        completed(monkeypatch, MSK | {"bootstrap.servers": servers})


def test_event_hubs_take_their_connection_string_as_a_password(monkeypatch):
    string = "Endpoint=sb://space.servicebus.windows.net/;SharedAccessKeyName=audit;SharedAccessKey=aGFzaA=="
    login = {"sasl.mechanism": "PLAIN", "sasl.username": "$ConnectionString", "sasl.password": string}
    cluster, secrets = completed(monkeypatch, {"security.protocol": "SASL_SSL"} | login)
    assert (cluster.security.username, secrets["connection kafka_prod"]) == ("$ConnectionString", string)


def without(key):
    return {name: value for name, value in OIDC.items() if name != key}


TLS = {"security.protocol": "SSL"}
KERBEROS = {"security.protocol": "SASL_SSL", "sasl.mechanism": "GSSAPI"}
WRONG = {
    "no method": (MSK | {"bootstrap.servers": "b:9092"}, "sasl.oauthbearer.method is missing; set it to oidc, with sasl.oauthb"),
    "no endpoint": (without("sasl.oauthbearer.token.endpoint.url"), "sasl.oauthbearer.token.endpoint.url is missing; sasl.oauth"),
    "no client": (without("sasl.oauthbearer.client.id"), "sasl.oauthbearer.client.id is missing"),
    "no client secret": (without("sasl.oauthbearer.client.secret"), "sasl.oauthbearer.client.secret is missing"),
    "a login in the URL": (
        OIDC | {"sasl.oauthbearer.token.endpoint.url": "https://u:hush@h/t"},
        "sasl.oauthbearer.token.endpoint.url contains a login",
    ),
    "an extension": (OIDC | {"sasl.oauthbearer.extensions": "hush"}, "sasl.oauthbearer.extensions: an entry has a value with"),
    "a key instead of a secret": (
        OIDC | {"sasl.oauthbearer.grant.type": "urn:ietf:params:oauth:grant-type:jwt-bearer"},
        "sasl.oauthbearer.grant.type is not supported, except client_credentials: the auditor uses a client secret",
    ),
    "an identity of the machine": (
        OIDC | {"sasl.oauthbearer.metadata.authentication.type": "azure_imds"},
        "sasl.oauthbearer.metadata.authentication.type is not supported, except none: .* set azure.scope instead of sasl.oauthb",
    ),
    "two clouds": (
        MSK | {"google.cloud": "true", "azure.scope": "api://kafka/.default"},
        "google.cloud and azure.scope exclude each other; remove all but one",
    ),
    "a scope that is none": (MSK | {"azure.scope": "kafka"}, "azure.scope is not a scope such as https://NAMESPACE"),
    "a word for a switch": (MSK | {"google.cloud": "yes"}, "google.cloud 'yes' is not one of true"),
    "a callback": (MSK | {"oauth_cb": "my.token"}, "oauth_cb is not supported; the auditor runs no code that a connection names"),
    "no verification": (
        TLS | {"enable.ssl.certificate.verification": False},
        "enable.ssl.certificate.verification is not supported, except true: the auditor sends a login only to a verified broker",
    ),
    "no names": (
        TLS | {"ssl.endpoint.identification.algorithm": "none"},
        "ssl.endpoint.identification.algorithm is not supported, except https",
    ),
    "a keytab": (KERBEROS | {"sasl.kerberos.keytab": "/k"}, "sasl.kerberos.keytab is not supported; the auditor uses the ticket"),
    "another service": (
        KERBEROS | {"sasl.kerberos.service.name": "bus"},
        "sasl.kerberos.service.name is not supported, except k",
    ),
    "revoked certificates": (
        TLS | {"ssl.crl.location": "/etc/crl.pem"},
        "ssl.crl.location is not supported; the auditor reads no lists of revoked certificates",
    ),
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
        cluster_connection.with_airflow_connection(Cluster(name="prod", kafka_conn_id="nope"))


def test_airflow_that_does_not_answer_a_trigger_is_one_line_for_the_watch_to_try_again(monkeypatch):
    async def unanswered(_):
        raise AirflowRuntimeError(ErrorResponse(error=ErrorType.API_SERVER_ERROR, detail={"said": "hush"}))

    monkeypatch.setattr(Connection, "async_get", unanswered)
    with pytest.raises(UsageError, match=r"'kafka_prod' cannot be read now \(AirflowRuntimeError\)\Z"):
        asyncio.run(cluster_connection.with_airflow_connection_async(Cluster(name="prod", kafka_conn_id="kafka_prod")))
