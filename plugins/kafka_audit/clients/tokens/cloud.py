"""Access tokens of Google Cloud, Amazon MSK (IAM) and Microsoft Entra ID, e.g. for Azure Event Hubs.

The provider's own library, an optional package, finds the identity of this process.
"""

import base64
import json
import os
import time
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from importlib.util import find_spec
from typing import Any

from kafka_audit.clients.parallel import side_by_side
from kafka_audit.clients.read_error import ReadError, clean_line
from kafka_audit.clients.secrets.masking import masked, secret_forms
from kafka_audit.clients.silenced import silenced
from kafka_audit.clients.tokens.access_token import AccessToken, access_token
from kafka_audit.model.read_failure import ReadFailure


def demand_library(module: str, package: str, key: str, extra: str) -> None:
    """Raise ReadError if a library is missing.

    Args:
        module: what is imported of it.
        package: its name for pip.
        key: of the cluster file, which requires it.
        extra: of kafka-audit, which installs it.
    """
    try:
        found = find_spec(module) is not None
    except ModuleNotFoundError:  # not even the package above it
        found = False
    if not found:
        needs = f"the Python package {package} on this worker (pip install 'kafka-audit[{extra}]')"
        raise ReadError(ReadFailure.NOT_SUPPORTED, f"{key} requires {package}, which is not installed", needs)


def within(seconds: float, fetch: Callable[[], AccessToken], credentials: str) -> AccessToken:
    """Return a token that a library fetches; raises ReadError.

    On a thread: the credentials may come from another service, and no parameter of the libraries bounds the wait for it.

    Args:
        seconds: how long it may take.
        fetch: gets the token, and raises ReadError.
        credentials: their name, e.g. "AWS credentials".
    """
    (answer,) = side_by_side([fetch], 1, time.monotonic() + seconds)
    if answer is None:
        message = f"{credentials} were not found, or gave no token, within {seconds:.1f} s"
        raise ReadError(ReadFailure.NO_TOKEN, message, f"{credentials} of this worker that are found faster")
    if isinstance(answer, ReadError):
        raise answer
    return answer


_SCOPE = "https://www.googleapis.com/auth/cloud-platform"
_GOOGLE_NEEDS = "Google credentials of this worker: GOOGLE_APPLICATION_CREDENTIALS, or the service account of the machine"


def fetch_google_token(seconds: float) -> AccessToken:
    """Fetch a token with the application default credentials of this process; raises ReadError."""
    demand_library("google.auth", "google-auth", "google_cloud", "google")
    return within(seconds, _fetched_by_google, "Google credentials")


def _fetched_by_google() -> AccessToken:
    import google.auth  # noqa: PLC0415 -- optional, and takes a quarter of a second
    import google.auth.exceptions  # noqa: PLC0415 -- see above
    from google.auth.transport.requests import Request  # noqa: PLC0415 -- see above

    credentials: Any  # its methods have no types
    try:
        credentials, _project = google.auth.default(scopes=[_SCOPE])
        if not _account(credentials):  # those of a person, which Google's own client of Kafka takes no more than the service
            message = "the Google credentials of this worker belong to no service account, which the token has to name"
            raise ReadError(ReadFailure.NO_TOKEN, message, _GOOGLE_NEEDS)
        credentials.refresh(Request())
    except google.auth.exceptions.DefaultCredentialsError as error:
        raise ReadError(
            ReadFailure.NO_TOKEN, clean_line(masked(f"no Google credentials ({error})"), 200), _GOOGLE_NEEDS
        ) from None
    except (google.auth.exceptions.GoogleAuthError, OSError, ValueError) as error:
        refused = isinstance(error, google.auth.exceptions.RefreshError) and not error.retryable and len(error.args) > 1
        # The first argument is a sentence, the next the whole answer.
        words = clean_line(masked(f"no token with the Google credentials ({error.args[0] if error.args else error})"), 200)
        raise ReadError(ReadFailure.TOKEN_REFUSED if refused else ReadFailure.NO_TOKEN, words, _GOOGLE_NEEDS) from None
    return google_token(credentials.token, credentials.expiry, _account(credentials))


def _account(credentials: object) -> str:
    """Return the service account of credentials, "" if they have none; that of a machine is known after the first token only."""
    return str(getattr(credentials, "service_account_email", None) or "")


def google_token(token: str, ends: datetime, account: str) -> AccessToken:
    """Return what the brokers take for an access token of a service account; the library's times are of UTC without saying so.

    The service takes no plain access token. It takes three parts in base64 with dots between them, in the form of a JSON web
    token: a header with the algorithm GOOG_OAUTH2_TOKEN, claims that name the service account and the end, and the access token
    instead of a signature. Google's clients make it so: github.com/googleapis/managedkafka, `kafka_gcp_credentials_server.py`
    (claims `exp`, `iat`, `iss`, `sub`) and `GcpLoginCallbackHandler` for Java (`scope` instead of `iss`). This one has all five.
    """
    now, until = time.time(), ends.replace(tzinfo=UTC).timestamp()
    claims = {"exp": int(until), "iat": int(now), "iss": "Google", "scope": "kafka", "sub": account}
    parts = json.dumps({"typ": "JWT", "alg": "GOOG_OAUTH2_TOKEN"}), json.dumps(claims), token
    return AccessToken(
        value=".".join(base64.urlsafe_b64encode(part.encode()).decode().rstrip("=") for part in parts),
        lifetime_s=until - now,
        about=f"service account {clean_line(account, 100)}",
        inner=token,
    )


_AZURE_NEEDS = "Azure credentials of this worker: AZURE_… variables, a workload identity, a managed identity, or az login"
_SECRETS = ("AZURE_CLIENT_SECRET", "AZURE_CLIENT_CERTIFICATE_PASSWORD", "AZURE_PASSWORD", "IDENTITY_HEADER")
_NOT_OF_SERVERS = ("shared_token_cache", "visual_studio_code", "powershell", "developer_cli", "broker")
"""Tools of a developer's desktop, which would be started one after the other. `az login` is left for a first try."""

_LONGEST_ATTEMPT = 120


def fetch_azure_token(scope: str, seconds: float) -> AccessToken:
    """Fetch a token for a scope with the default credentials of this process; raises ReadError."""
    demand_library("azure.identity", "azure-identity", "azure_scope", "azure")
    return within(seconds, partial(_fetched_by_azure, scope), "Azure credentials")


def _fetched_by_azure(scope: str) -> AccessToken:
    from azure.core.exceptions import AzureError  # noqa: PLC0415 -- optional, and takes a quarter of a second
    from azure.identity import DefaultAzureCredential  # noqa: PLC0415 -- see above

    without = {f"exclude_{name}_credential": True for name in _NOT_OF_SERVERS}
    try:
        with silenced("azure", "msal"), DefaultAzureCredential(**without) as credentials:
            token = credentials.get_token(scope)
    except (AzureError, OSError, ValueError) as error:
        message = f"no Azure credentials for {scope}: {_attempts(str(error))}"
        raise ReadError(ReadFailure.NO_TOKEN, message, _AZURE_NEEDS) from None
    return access_token(token.token, token.expires_on - time.time(), "Microsoft Entra ID")


def _attempts(text: str) -> str:
    """Return what the library says of each kind of credentials, one a line behind a tabulator, without our secrets."""
    for name in _SECRETS:
        for form in secret_forms(os.environ[name]) if os.environ.get(name) else ():
            text = text.replace(form, "***")
    lines = text.splitlines()
    return clean_line("; ".join(_attempt(line.strip()) for line in lines if line.startswith("\t")) or masked(text), 500)


def _attempt(line: str) -> str:
    """Return the first sentence about one kind of credentials, which may repeat its name."""
    kind, _, words = line.partition(": ")
    sentence, _, _ = masked(words.removeprefix(kind)).strip().partition(". ")
    return f"{kind} ({clean_line(sentence, _LONGEST_ATTEMPT)})"


def fetch_msk_token(region: str, seconds: float) -> AccessToken:
    """Sign a token for the clusters of a region; raises ReadError.

    The library finds the credentials where every AWS client finds them: the environment, a profile, the role of the machine.
    """
    demand_library("aws_msk_iam_sasl_signer", "aws-msk-iam-sasl-signer-python", "msk_region", "msk")
    return within(seconds, partial(_signed, region), "AWS credentials")


def _signed(region: str) -> AccessToken:
    import botocore.exceptions  # noqa: PLC0415 -- optional, and takes half a second
    import botocore.session  # noqa: PLC0415 -- see above
    from aws_msk_iam_sasl_signer import MSKAuthTokenProvider  # noqa: PLC0415 -- see above

    needs = "AWS credentials of this worker: environment variables, AWS_PROFILE, or the role of the machine"
    try:
        # The library itself fails without credentials with an error that does not say so.
        if botocore.session.Session().get_credentials() is None:
            raise ReadError(ReadFailure.NO_TOKEN, "this worker has no AWS credentials", needs)
        token, ends_ms = MSKAuthTokenProvider.generate_auth_token(region)
    except (botocore.exceptions.BotoCoreError, botocore.exceptions.ClientError, ValueError) as error:
        raise ReadError(ReadFailure.NO_TOKEN, clean_line(masked(f"no AWS credentials ({error})"), 200), needs) from None
    return AccessToken(value=token, lifetime_s=ends_ms / 1000 - time.time(), about=f"AWS region {region}")
