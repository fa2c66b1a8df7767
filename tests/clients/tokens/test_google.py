"""Tokens of Google Cloud: Google's own library against endpoints of this machine, and the form that Google's clients make.

There is no Managed Service for Apache Kafka here that could accept or refuse one.
"""

import base64
import json
import logging
import threading
import time
from contextlib import contextmanager
from datetime import datetime

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from clients.tokens.cloud_endpoints import endpoints
from kafka_audit.clients.read_error import ReadError
from kafka_audit.clients.tokens import cloud
from kafka_audit.clients.tokens.access_token import TokenCache
from kafka_audit.clients.tokens.cloud import fetch_google_token, google_token

ACCOUNT = "auditor@project.iam.gserviceaccount.com"
METADATA = "/computeMetadata/v1/instance/service-accounts/default/"


@pytest.fixture
def google(monkeypatch, tmp_path):
    for name in ("GOOGLE_APPLICATION_CREDENTIALS", "GOOGLE_CLOUD_PROJECT", "GCE_METADATA_HOST", "GCE_METADATA_IP"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("CLOUDSDK_CONFIG", str(tmp_path / "gcloud"))
    monkeypatch.setenv("NO_GCE_CHECK", "true")
    monkeypatch.setenv("GOOGLE_CLOUD_PROJECT", "project")  # without it, the library runs gcloud
    return monkeypatch


@pytest.fixture(scope="module")
def private_key():
    pkcs8 = serialization.PrivateFormat.PKCS8
    made = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    return made.private_bytes(serialization.Encoding.PEM, pkcs8, serialization.NoEncryption()).decode()


def key_file(tmp_path, private_key, token_uri, **others):
    path = tmp_path / "key.json"
    account = {"type": "service_account", "client_email": ACCOUNT, "private_key": private_key, "token_uri": token_uri}
    path.write_text(json.dumps(account | {"project_id": "project", "private_key_id": "k1"} | others))
    return str(path)


def grant(server, lifetime_s=3600):
    """Return what a server answers with a new token."""
    return lambda _form: (200, {"access_token": server.issue("ya29.c-"), "expires_in": lifetime_s, "token_type": "Bearer"})


@contextmanager
def service_account(google, tmp_path, private_key, answer=None, lifetime_s=3600):
    """Let the environment name the key of a service account whose endpoint answers so, or with a new token; yields the server."""
    with endpoints({}) as server:
        server.answers["/token"] = answer or grant(server, lifetime_s)
        google.setenv("GOOGLE_APPLICATION_CREDENTIALS", key_file(tmp_path, private_key, f"http://{server.address}/token"))
        yield server


def decoded(token):
    parts = [base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)).decode() for part in token.split(".")]
    return json.loads(parts[0]), json.loads(parts[1]), parts[2]


def test_a_token_has_the_form_of_google_s_own_clients(google, tmp_path, private_key):
    with service_account(google, tmp_path, private_key) as server:
        began = int(time.time())
        token = fetch_google_token(600.0)
    header, claims, inner = decoded(token.value)
    assert header == {"typ": "JWT", "alg": "GOOG_OAUTH2_TOKEN"}
    assert claims.keys() == {"exp", "iat", "iss", "scope", "sub"}
    assert (claims["iss"], claims["scope"], claims["sub"]) == ("Google", "kafka", ACCOUNT)
    assert began <= claims["iat"] <= time.time()
    assert 3500 < claims["exp"] - claims["iat"] <= 3601
    assert [inner] == server.issued
    assert "=" not in token.value
    assert 3500 < token.lifetime_s <= 3600
    assert token.about == f"service account {ACCOUNT}"
    assert inner not in repr(token)
    ((_, _, form),) = server.requests
    assert form["grant_type"] == "urn:ietf:params:oauth:grant-type:jwt-bearer"
    _, assertion, _ = form["assertion"].split(".")
    assertion = json.loads(base64.urlsafe_b64decode(assertion + "=" * (-len(assertion) % 4)))
    assert assertion["scope"] == "https://www.googleapis.com/auth/cloud-platform"


def test_the_end_is_that_of_the_token_wherever_the_worker_is(google):
    google.setenv("TZ", "Asia/Kolkata")
    time.tzset()
    try:
        token = google_token("ya29.c", datetime(2027, 1, 31, 12, 0, 0), ACCOUNT)  # noqa: DTZ001 -- as the library gives it
    finally:
        google.delenv("TZ")
        time.tzset()
    assert decoded(token.value)[1]["exp"] == 1801396800


def test_the_service_account_of_the_machine_is_named_by_the_metadata_server(google):
    answers = {
        "/": (200, ""),
        METADATA: (200, {"email": ACCOUNT, "scopes": [], "aliases": ["default"]}),
        "/computeMetadata/v1/universe/universe-domain": (200, "googleapis.com"),
        "/computeMetadata/v1/project/project-id": (200, "project"),
    }
    with endpoints(answers) as server:
        server.answers[f"{METADATA}token"] = grant(server)
        google.delenv("NO_GCE_CHECK")
        google.setenv("GCE_METADATA_HOST", server.address)
        google.setenv("GCE_METADATA_IP", server.address)
        token = fetch_google_token(600.0)
    assert decoded(token.value)[1]["sub"] == ACCOUNT
    assert token.inner == server.issued[-1]


def test_a_new_token_is_fetched_before_the_last_one_ends(google, tmp_path, private_key):
    with service_account(google, tmp_path, private_key, lifetime_s=100) as server:
        cache = TokenCache(fetch_google_token)
        first, now = cache.token(600.0), time.monotonic()
        assert cache.token(600.0) is first
        google.setattr(time, "monotonic", lambda: now + 71.0)
        second = cache.token(600.0)
    assert second.value != first.value
    assert {first.inner, second.inner} == {*server.issued}
    assert {first.value, first.inner, second.value, second.inner} == {*cache.seen}, "no row may hold one of them"


def refused(words):
    return 400, {"error": "invalid_grant", "error_description": words}


def test_a_refusal_is_one_line_without_the_key_or_the_request(google, tmp_path, private_key, caplog):
    caplog.set_level(logging.DEBUG)

    def answer(form):
        return refused(f"Invalid JWT Signature.\n{form['assertion']}")

    with service_account(google, tmp_path, private_key, answer) as server, pytest.raises(ReadError) as caught:
        fetch_google_token(600.0)
    error = caught.value
    assert error.error == "token refused"
    assert error.message.startswith("no token with the Google credentials (invalid_grant: Invalid JWT Signature.")
    assert "\n" not in error.message
    assertion = server.requests[0][2]["assertion"]
    for secret in (assertion, assertion.split(".")[2], private_key.splitlines()[1]):
        assert secret not in f"{error} {error.message} {error.needs} {caplog.text}"
    assert error.__cause__ is None


def test_a_server_that_fails_is_asked_again_later(google, tmp_path, private_key):
    google.setattr("google.auth._exponential_backoff.time.sleep", lambda _seconds: None)
    with service_account(google, tmp_path, private_key, (503, {"error": "server_error"})), pytest.raises(ReadError) as caught:
        fetch_google_token(600.0)
    assert caught.value.error == "no token"


def test_no_token_is_in_a_log(google, tmp_path, private_key, caplog):
    caplog.set_level(logging.DEBUG)
    with service_account(google, tmp_path, private_key):
        token = fetch_google_token(600.0)
    assert caplog.records, "the libraries below do log"
    assert token.inner not in caplog.text
    assert token.value not in caplog.text


@pytest.mark.usefixtures("google")
def test_without_credentials_the_row_says_so():
    with pytest.raises(ReadError) as caught:
        fetch_google_token(600.0)
    assert caught.value.error == "no token"
    assert caught.value.message.startswith("no Google credentials (Your default credentials were not found.")
    assert "GOOGLE_APPLICATION_CREDENTIALS" in caught.value.needs


def test_a_file_that_is_not_there_is_named(google):
    google.setenv("GOOGLE_APPLICATION_CREDENTIALS", "/nowhere/key.json")
    with pytest.raises(ReadError, match=r"no token: no Google credentials \(File /nowhere/key.json was not found.\)"):
        fetch_google_token(600.0)


def test_a_person_s_credentials_have_no_service_account(google, tmp_path):
    path = tmp_path / "user.json"
    path.write_text(json.dumps({"type": "authorized_user", "client_id": "c", "client_secret": "s", "refresh_token": "r"}))
    google.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(path))
    with pytest.raises(ReadError, match="belong to no service account"):
        fetch_google_token(600.0)


def test_a_server_that_never_answers_costs_no_more_than_the_limit(google, tmp_path, private_key):
    asked, end = [], threading.Event()

    def hang(_form):
        asked.append(1)
        end.wait()
        return 200, {}

    with service_account(google, tmp_path, private_key) as server:
        fetch_google_token(600.0)  # the library is imported: the limit below is the server's alone
        server.answers["/token"] = hang
        with pytest.raises(ReadError, match=r"no token: Google credentials were not found, or gave no token, within 5\.0 s"):
            fetch_google_token(5.0)
        end.set()
    assert asked


def test_without_the_extra_it_is_named(google):
    google.setattr(cloud, "find_spec", lambda _name: None)
    with pytest.raises(ReadError, match="not supported: google_cloud requires google-auth, which is not installed") as caught:
        fetch_google_token(600.0)
    assert "pip install 'kafka-audit[google]'" in caught.value.needs
