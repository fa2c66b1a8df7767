"""Tokens of Microsoft Entra ID: Azure's own library against endpoints of this machine. There is no Azure here."""

import json
import logging
import ssl
import time
from contextlib import contextmanager

import jwt
import pytest

from clients.tokens.cloud_endpoints import endpoints
from kafka_audit.clients.read_error import ReadError
from kafka_audit.clients.tokens import cloud
from kafka_audit.clients.tokens.access_token import TokenCache
from kafka_audit.clients.tokens.cloud import fetch_azure_token
from testbed.certificates import Authority

SCOPE, RESOURCE = "https://space.servicebus.windows.net/.default", "https://space.servicebus.windows.net"
ISSUER, SECRET = "https://sts.windows.net/tenant/", "right-secret-1234"


@pytest.fixture
def azure(monkeypatch, tmp_path):
    for name in ("CLIENT_ID", "TENANT_ID", "CLIENT_SECRET", "USERNAME", "PASSWORD", "FEDERATED_TOKEN_FILE", "AUTHORITY_HOST"):
        monkeypatch.delenv(f"AZURE_{name}", raising=False)
    for name in ("IDENTITY_ENDPOINT", "IDENTITY_HEADER", "MSI_ENDPOINT", "MSI_SECRET", "AZURE_TOKEN_CREDENTIALS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AZURE_CONFIG_DIR", str(tmp_path / "az"))
    monkeypatch.setenv("PATH", str(tmp_path))  # no az there
    return monkeypatch


class Issuer:
    def __init__(self, lifetime_s=3600):
        self.lifetime_s, self.issued = lifetime_s, []

    def token(self, audience=RESOURCE):
        now = int(time.time())
        claims = {"iss": ISSUER, "aud": audience, "sub": "auditor", "iat": now, "exp": now + self.lifetime_s}
        self.issued.append(jwt.encode(claims | {"jti": str(len(self.issued))}, "x" * 32, algorithm="HS256"))
        return self.issued[-1]

    def managed_identity(self, form):
        token = self.token(form["resource"])
        return 200, {"access_token": token, "expires_on": str(int(time.time()) + self.lifetime_s), "token_type": "Bearer"}

    def client_credentials(self, form):
        if form["client_secret"] != SECRET:
            words = f"AADSTS7000215: Invalid client secret provided: {form['client_secret']}."
            return 401, {"error": "invalid_client", "error_description": words}
        return 200, {"access_token": self.token(), "expires_in": self.lifetime_s, "token_type": "Bearer"}


def machine(azure, server):
    """Let the managed identity of App Service be that of the server."""
    azure.setenv("IDENTITY_ENDPOINT", f"http://{server.address}/msi/token")
    azure.setenv("IDENTITY_HEADER", "header-secret-1234")


def test_a_managed_identity_gives_a_token_for_the_namespace(azure):
    issuer = Issuer()
    with endpoints({"/msi/token": issuer.managed_identity}) as server:
        machine(azure, server)
        token = fetch_azure_token(SCOPE, 600.0)
    assert [token.value] == issuer.issued
    assert jwt.decode(token.value, options={"verify_signature": False})["aud"] == RESOURCE
    assert 3500 < token.lifetime_s <= 3600
    assert token.about == f"issuer {ISSUER}, audience {RESOURCE}, subject auditor"
    ((_, headers, form),) = server.requests
    assert form["resource"] == RESOURCE
    assert headers["X-IDENTITY-HEADER"] == "header-secret-1234"


def test_a_new_token_is_fetched_before_the_last_one_ends(azure):
    issuer = Issuer(lifetime_s=100)
    with endpoints({"/msi/token": issuer.managed_identity}) as server:
        machine(azure, server)
        cache = TokenCache(lambda seconds: fetch_azure_token(SCOPE, seconds))
        first, now = cache.token(600.0), time.monotonic()
        assert cache.token(600.0) is first
        azure.setattr(time, "monotonic", lambda: now + 71.0)
        second = cache.token(600.0)
    assert [first.value, second.value] == issuer.issued
    assert cache.seen == (first.value, second.value)


@contextmanager
def authority(azure, tmp_path, answer):
    """Run an endpoint with TLS, as the library demands, of a tenant of AD FS, for which it asks no endpoint of Microsoft's."""
    made = Authority(tmp_path)
    pair = made.issue("login", ("127.0.0.1",))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pair.certificate, pair.key)
    azure.setenv("REQUESTS_CA_BUNDLE", str(made.ca_file))
    with endpoints({"/adfs/token": answer}, context) as server:
        base = f"https://{server.address}/adfs"
        document = {"issuer": base, "authorization_endpoint": f"{base}/authorize", "token_endpoint": f"{base}/token"}
        server.answers["/adfs/.well-known/openid-configuration"] = (200, document)
        azure.setenv("AZURE_AUTHORITY_HOST", f"https://{server.address}")
        azure.setenv("AZURE_TENANT_ID", "adfs")
        azure.setenv("AZURE_CLIENT_ID", "auditor")
        yield server


def test_a_client_secret_of_the_environment_gives_a_token(azure, tmp_path):
    issuer = Issuer()
    azure.setenv("AZURE_CLIENT_SECRET", SECRET)
    with authority(azure, tmp_path, issuer.client_credentials):
        token = fetch_azure_token(SCOPE, 600.0)
    assert [token.value] == issuer.issued


def test_a_refused_secret_is_in_no_row_and_no_log(azure, tmp_path, caplog):
    caplog.set_level(logging.DEBUG)
    azure.setenv("AZURE_CLIENT_SECRET", "wrong-secret-9999")
    with authority(azure, tmp_path, Issuer().client_credentials), pytest.raises(ReadError) as caught:
        fetch_azure_token(SCOPE, 600.0)
    error = caught.value
    assert error.error == "no token"
    assert "EnvironmentCredential" in error.message
    assert "AADSTS7000215" in error.message
    assert "\n" not in error.message
    assert "wrong-secret-9999" not in f"{error} {error.message} {error.needs} {caplog.text}"
    assert error.__cause__ is None


def test_no_token_and_no_secret_is_in_a_log(azure, tmp_path, caplog):
    caplog.set_level(logging.DEBUG)
    issuer = Issuer()
    azure.setenv("AZURE_CLIENT_SECRET", SECRET)
    with authority(azure, tmp_path, issuer.client_credentials):
        fetch_azure_token(SCOPE, 600.0)
    assert caplog.records, "the libraries below do log"
    assert issuer.issued[0] not in caplog.text
    assert SECRET not in caplog.text


def test_without_credentials_the_row_says_what_was_tried(azure):
    with endpoints({}) as server:
        azure.setenv("AZURE_POD_IDENTITY_AUTHORITY_HOST", f"http://{server.address}")
    with pytest.raises(ReadError) as caught:  # the metadata server of a machine of Azure is no longer there
        fetch_azure_token(SCOPE, 600.0)
    assert caught.value.error == "no token"
    assert caught.value.message.startswith(
        f"no Azure credentials for {SCOPE}: EnvironmentCredential (authentication unavailable); WorkloadIdentityCredential ("
    )
    assert "; ManagedIdentityCredential (" in caught.value.message
    assert caught.value.message.endswith("; AzureCliCredential (Azure CLI not found on path)")
    assert "az login" in caught.value.needs


def test_without_the_extra_it_is_named(azure):
    azure.setattr(cloud, "find_spec", lambda _name: None)
    with pytest.raises(ReadError, match="not supported: azure_scope requires azure-identity, which is not installed") as caught:
        fetch_azure_token(SCOPE, 600.0)
    assert "pip install 'kafka-audit[azure]'" in caught.value.needs


def test_an_answer_that_is_no_token_is_what_is_missing(azure):
    with endpoints({"/msi/token": (400, {"statusCode": 400, "message": "no identity"})}) as server:
        machine(azure, server)
        with pytest.raises(ReadError) as caught:
            fetch_azure_token(SCOPE, 600.0)
    assert "ManagedIdentityCredential" in caught.value.message
    assert "header-secret-1234" not in json.dumps([caught.value.message, caught.value.needs])
