"""Access tokens of Microsoft Entra ID, e.g. for Azure Event Hubs, with the credentials that Azure's own library finds."""

import os
import time
from functools import partial

from kafka_audit.clients.read_error import ReadError, clean_line
from kafka_audit.clients.secrets.masking import masked
from kafka_audit.clients.secrets.secret_forms import secret_forms
from kafka_audit.clients.silenced import silenced
from kafka_audit.clients.tokens.access_token import AccessToken, access_token
from kafka_audit.clients.tokens.cloud_libraries import demand_library, within
from kafka_audit.model.read_failure import ReadFailure

_NEEDS = "Azure credentials of this worker: AZURE_… variables, a workload identity, a managed identity, or az login"
_SECRETS = ("AZURE_CLIENT_SECRET", "AZURE_CLIENT_CERTIFICATE_PASSWORD", "AZURE_PASSWORD", "IDENTITY_HEADER")
_NOT_OF_SERVERS = ("shared_token_cache", "visual_studio_code", "powershell", "developer_cli", "broker")
"""Tools of a developer's desktop, which would be started one after the other. `az login` is left for a first try."""

_LONGEST_ATTEMPT = 120


def fetch_azure_token(scope: str, seconds: float) -> AccessToken:
    """Fetch a token for a scope with the default credentials of this process; raises ReadError."""
    demand_library("azure.identity", "azure-identity", "azure_scope", "azure")
    return within(seconds, partial(_fetched, scope), "Azure credentials")


def _fetched(scope: str) -> AccessToken:
    from azure.core.exceptions import AzureError  # noqa: PLC0415 -- optional, and takes a quarter of a second
    from azure.identity import DefaultAzureCredential  # noqa: PLC0415 -- see above

    without = {f"exclude_{name}_credential": True for name in _NOT_OF_SERVERS}
    try:
        with silenced("azure", "msal"), DefaultAzureCredential(**without) as credentials:
            token = credentials.get_token(scope)
    except (AzureError, OSError, ValueError) as error:
        raise ReadError(ReadFailure.NO_TOKEN, f"no Azure credentials for {scope}: {_attempts(str(error))}", _NEEDS) from None
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
