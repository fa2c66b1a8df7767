"""Access tokens of an OIDC token endpoint, by client credentials (RFC 6749, section 4.4), as librdkafka fetches them.

The endpoint is named in the cluster file or an Airflow connection, so it is trusted with the client secret; redirects are not
followed, because the file does not name where they lead.
"""

import json
import re
import ssl
import threading
import time
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from kafka_audit.clients.budget import end_connection
from kafka_audit.clients.failures import of_errno, of_openssl
from kafka_audit.clients.parallel import side_by_side
from kafka_audit.clients.read_error import ReadError, clean_line
from kafka_audit.clients.secrets.masking import secret_forms
from kafka_audit.clients.silenced import silenced
from kafka_audit.clients.tokens.access_token import AccessToken, access_token
from kafka_audit.model.cluster import Oidc
from kafka_audit.model.read_failure import ReadFailure

_MOST_BYTES = 256 * 1024  # of an answer: a token has a few KB
_NUMBER = re.compile(r"\[Errno (-?\d{1,5})\] ?(.*)", re.DOTALL)
_CODE = re.compile(r"[\x21\x23-\x5b\x5d-\x7e]{1,80}")
_OK, _REDIRECTS, _CLIENT_ERRORS, _TOO_MANY, _SERVER_ERRORS = 200, 300, 400, 429, 500


def shown_endpoint(url: str) -> str:
    """Return the URL of a token endpoint without what may be secret in it: a query, a login."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def fetch_oidc_token(oidc: Oidc, tls: ssl.SSLContext, client_id: str, secret: str, seconds: float) -> AccessToken:
    """Fetch an access token.

    Args:
        oidc: the endpoint.
        tls: in which an `https://` endpoint proves who it is.
        client_id: of the client credentials.
        secret: of the client credentials.
        seconds: how long it may take, connection and answer together.

    Raises:
        ReadError: NO_TOKEN where a later attempt may help, TOKEN_REFUSED where the endpoint refuses the client.
    """
    where = shown_endpoint(oidc.token_endpoint)
    started = time.monotonic()
    connections = _Connections()
    try:
        # On a thread: a name server or an endpoint that drips outlasts every time-out of a client library.
        (answer,) = side_by_side([lambda: _post(oidc, tls, client_id, secret, seconds, connections)], 1, started + seconds)
    finally:
        connections.end()
    if answer is None:
        raise _unanswered(where, f"no answer for {time.monotonic() - started:.1f} s")
    if isinstance(answer, ReadError):
        raise answer
    return token_of_answer(*answer, where, TokenClient(client_id, secret, oidc.scope))


def token_of_answer(status: int, body: bytes, where: str, client: "TokenClient") -> AccessToken:
    """Return the token that an endpoint at `where` answered with.

    Raises:
        ReadError: it answered with none, as `fetch_oidc_token` says.
    """
    found = _json(body)
    if status == _OK:
        return access_token(found.get("access_token"), found.get("expires_in"), where)
    raise _refusal(status, found, where, client)


class _Connections:
    """The connections of one request. `end` ends them, also in a handshake, so that the thread that waits for them ends."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open: list[Any] = []  # sockets
        self._ended = False

    def trace(self, event: str, info: Mapping[str, Any]) -> None:
        """Keep a connection that is made, as httpx's extension `trace` reports it; raises TimeoutError after the end."""
        if not event.endswith("connect_tcp.complete"):
            return
        connection = info["return_value"].get_extra_info("socket").dup()  # TLS takes the socket away from its object
        with self._lock:
            if not self._ended:
                self._open.append(connection)
                return
        connection.close()
        raise TimeoutError

    def end(self) -> None:
        """End them; no other is used from now on."""
        with self._lock:
            self._ended, left, self._open = True, self._open, []
        for connection in left:
            end_connection(connection)
            connection.close()


def _post(  # noqa: PLR0913, PLR0917 -- see `fetch_oidc_token`
    oidc: Oidc, tls: ssl.SSLContext, client_id: str, secret: str, seconds: float, connections: _Connections
) -> tuple[int, bytes]:
    import httpx  # noqa: PLC0415 -- takes a tenth of a second, and few clusters need it

    where = shown_endpoint(oidc.token_endpoint)
    form = {"grant_type": "client_credentials"} | ({"scope": oidc.scope} if oidc.scope else {})
    # Uncompressed: what a few bytes unpack to is not bounded.
    headers = {"Accept": "application/json", "Accept-Encoding": "identity"}
    request: dict[str, Any] = {"data": form, "auth": (client_id, secret), "headers": headers}
    request["extensions"] = {"trace": connections.trace}
    body = bytearray()
    try:
        with (
            silenced("httpx"),
            httpx.Client(verify=tls, timeout=seconds, follow_redirects=False) as client,
            client.stream("POST", oidc.token_endpoint, **request) as response,
        ):
            for part in response.iter_raw():
                body += part
                if len(body) > _MOST_BYTES:
                    raise ReadError(
                        ReadFailure.NO_TOKEN, f"{where} answers with more than {_MOST_BYTES} bytes", _correct_url(where)
                    )
            return response.status_code, bytes(body)
    except httpx.TimeoutException:
        raise _unanswered(where, f"no answer for {seconds:.1f} s") from None
    except (httpx.HTTPError, httpx.InvalidURL, OSError, ValueError) as error:
        raise _connection_error(where, str(error)) from None


def _connection_error(where: str, text: str) -> ReadError:
    number = _NUMBER.search(text)
    if number is not None:
        failure = of_errno(int(number[1]))
        unnamed = failure is ReadFailure.CONNECTION_FAILED and clean_line(number[2], 80).lower()
        return _unanswered(where, unnamed or failure.words)
    if "SSL" in text or "certificate" in text:
        failure = of_openssl(text)
        if failure is not ReadFailure.TLS_REFUSED:
            needs = (
                f"a certificate of {where} that the CAs in oidc.ca_file (https.ca.location) verify; without it, those of the host"
            )
            return ReadError(ReadFailure.NO_TOKEN, f"{where} cannot be trusted ({failure.words})", needs)
    return _unanswered(where, clean_line(text, 80) or "connection failed")


def _unanswered(where: str, words: str) -> ReadError:
    return ReadError(ReadFailure.NO_TOKEN, f"{where} does not answer ({words})", f"a connection from this worker to {where}")


class TokenClient:
    """Who asked, for the row of a refusal."""

    def __init__(self, client_id: str, secret: str, scope: str | None) -> None:
        """Keep what a row may name, and every form of the secret, to be hidden."""
        self.name = clean_line(client_id, 80)
        self.scope = clean_line(scope or "none", 100)
        self._forms = [*secret_forms(secret), *secret_forms(f"{client_id}:{secret}")]

    def hide(self, text: str) -> str:
        """Return the words of the endpoint without the secret, should it repeat it."""
        for form in sorted(self._forms, key=len, reverse=True):
            text = text.replace(form, "***")
        return text


def _refusal(status: int, found: Mapping[str, Any], where: str, client: TokenClient) -> ReadError:
    """Return why there is no token, by the errors of RFC 6749, section 5.2."""
    code, words = found.get("error"), found.get("error_description")
    code = code if isinstance(code, str) and _CODE.fullmatch(code) else ""
    text = f"{where} answers {status}{f' {client.hide(code)}' if code else ''}"
    if isinstance(words, str) and words.strip():
        text += f" ({clean_line(client.hide(words[:_MOST_WORDS]), 160)})"
    if _REDIRECTS <= status < _CLIENT_ERRORS:
        return ReadError(ReadFailure.TOKEN_REFUSED, f"{text}: a redirect, which is not followed", _correct_url(where))
    if status == _TOO_MANY or status >= _SERVER_ERRORS:
        return ReadError(ReadFailure.NO_TOKEN, text, f"a token endpoint {where} that works")
    needs = {
        "invalid_client": f"the client ID and secret of a client that {where} knows ({client.name})",
        "unauthorized_client": f"the grant client_credentials for client {client.name} at {where}",
        "unsupported_grant_type": f"a token endpoint that supports the grant client_credentials, at {where}",
        "invalid_scope": f"a scope that client {client.name} may request at {where}, instead of {client.scope}",
    }
    unauthorized = status == _UNAUTHORIZED and not code
    return ReadError(ReadFailure.TOKEN_REFUSED, text, needs.get("invalid_client" if unauthorized else code, _correct_url(where)))


_UNAUTHORIZED = 401
_MOST_WORDS = 2000


def _correct_url(where: str) -> str:
    return f"the URL of a token endpoint, instead of {where}"


def _json(body: bytes) -> Mapping[str, Any]:
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
