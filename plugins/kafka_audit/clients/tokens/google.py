"""Access tokens of Google Cloud Managed Service for Apache Kafka, with the credentials that Google's own library finds.

The service takes no plain access token. It takes three parts in base64 with dots between them, in the form of a JSON web token: a
header with the algorithm GOOG_OAUTH2_TOKEN, claims that name the service account and the end, and the access token instead of a
signature. Google's clients make it so: github.com/googleapis/managedkafka, `kafka_gcp_credentials_server.py` (claims `exp`,
`iat`, `iss`, `sub`) and `GcpLoginCallbackHandler` for Java (`scope` instead of `iss`). This one has all five.
"""

import base64
import json
import time
from datetime import UTC, datetime
from typing import Any

from kafka_audit.clients.read_error import ReadError, clean_line
from kafka_audit.clients.secrets.masking import masked
from kafka_audit.clients.tokens.access_token import AccessToken
from kafka_audit.clients.tokens.cloud_libraries import demand_library, within
from kafka_audit.model.read_failure import ReadFailure

_SCOPE = "https://www.googleapis.com/auth/cloud-platform"
_NEEDS = "Google credentials of this worker: GOOGLE_APPLICATION_CREDENTIALS, or the service account of the machine"


def fetch_google_token(seconds: float) -> AccessToken:
    """Fetch a token with the application default credentials of this process; raises ReadError."""
    demand_library("google.auth", "google-auth", "google_cloud", "google")
    return within(seconds, _fetched, "Google credentials")


def _fetched() -> AccessToken:
    import google.auth  # noqa: PLC0415 -- optional, and takes a quarter of a second
    import google.auth.exceptions  # noqa: PLC0415 -- see above
    from google.auth.transport.requests import Request  # noqa: PLC0415 -- see above

    credentials: Any  # its methods have no types
    try:
        credentials, _project = google.auth.default(scopes=[_SCOPE])
        if not _account(credentials):  # those of a person, which Google's own client of Kafka takes no more than the service
            message = "the Google credentials of this worker belong to no service account, which the token has to name"
            raise ReadError(ReadFailure.NO_TOKEN, message, _NEEDS)
        credentials.refresh(Request())
    except google.auth.exceptions.DefaultCredentialsError as error:
        raise ReadError(ReadFailure.NO_TOKEN, clean_line(masked(f"no Google credentials ({error})"), 200), _NEEDS) from None
    except (google.auth.exceptions.GoogleAuthError, OSError, ValueError) as error:
        refused = isinstance(error, google.auth.exceptions.RefreshError) and not error.retryable and len(error.args) > 1
        # The first argument is a sentence, the next the whole answer.
        words = clean_line(masked(f"no token with the Google credentials ({error.args[0] if error.args else error})"), 200)
        raise ReadError(ReadFailure.TOKEN_REFUSED if refused else ReadFailure.NO_TOKEN, words, _NEEDS) from None
    return google_token(credentials.token, credentials.expiry, _account(credentials))


def _account(credentials: object) -> str:
    """Return the service account of credentials, "" if they have none; that of a machine is known after the first token only."""
    return str(getattr(credentials, "service_account_email", None) or "")


def google_token(token: str, ends: datetime, account: str) -> AccessToken:
    """Return what the brokers take for an access token of a service account; the library's times are of UTC without saying so."""
    now, until = time.time(), ends.replace(tzinfo=UTC).timestamp()
    claims = {"exp": int(until), "iat": int(now), "iss": "Google", "scope": "kafka", "sub": account}
    parts = json.dumps({"typ": "JWT", "alg": "GOOG_OAUTH2_TOKEN"}), json.dumps(claims), token
    return AccessToken(
        value=".".join(base64.urlsafe_b64encode(part.encode()).decode().rstrip("=") for part in parts),
        lifetime_s=until - now,
        about=f"service account {clean_line(account, 100)}",
        inner=token,
    )
