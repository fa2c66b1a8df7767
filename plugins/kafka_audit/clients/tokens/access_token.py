"""The access token of one login (OAUTHBEARER): fetched once for all brokers, and again before it ends."""

import base64
import binascii
import json
import math
import re
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from kafka.net.sasl.oauth import AbstractTokenProvider

from kafka_audit.clients.read_error import ReadError, clean_line
from kafka_audit.model.read_failure import ReadFailure

RETRY_S = 10.0
"""How long a party that gave no token is not asked again: every broker of a cluster needs one at the same time."""

_EARLY, _LATE = 0.7, 0.8
"""Shares of a token's life after which a new one is fetched: before a connection is made, and on one that is there.

They differ so that a connection that has just received a token does not have to wait for another. librdkafka takes 0.8.
"""

_LAST = 0.95
"""The share of its life up to which a token is used where no new one is to be had."""

_UNKNOWN_S, _LONGEST_S = 60.0, 86_400.0
"""Assumed life of a token whose end neither the answer nor the token states, and of any token at most."""

_MOST_SEEN = 1000  # tokens of one audit; those of a second each would be five minutes' of a thousand logins
_VALUE = re.compile(r"[A-Za-z0-9._~+/-]{1,65536}=*")  # RFC 6750; other characters would end the message of the login
_SHOWN = ("iss", "issuer"), ("aud", "audience"), ("sub", "subject"), ("scope", "scope")


@dataclass(frozen=True, kw_only=True)
class AccessToken:
    """A token; `about` says who issued it for whom, for the row of a broker that refuses it."""

    value: str = field(repr=False)
    lifetime_s: float
    about: str = ""
    inner: str = field(default="", repr=False)  # a token that the value contains in another form


class TokenCache:
    """The token of one login, shared by all connections of an audit."""

    def __init__(self, fetch: Callable[[float], AccessToken]) -> None:
        """Take what fetches a token within so many seconds; it raises ReadError with NO_TOKEN or TOKEN_REFUSED."""
        self._fetch = fetch
        self._turn = threading.Lock()
        self._token: AccessToken | None = None
        self._fetched = -math.inf
        self._failure: ReadError | None = None
        self._failed = -math.inf
        self._seen: list[str] = []

    def token(self, seconds: float, share: float = _EARLY) -> AccessToken:
        """Return the token, a new one where the last has passed a share of its life; raises ReadError.

        Args:
            seconds: how long to wait, also for another thread that fetches one.
            share: of a token's life, after which a new one is fetched.
        """
        deadline = time.monotonic() + seconds
        if not self._turn.acquire(timeout=max(0.0, seconds)):
            raise ReadError(
                ReadFailure.NO_TOKEN, f"no access token within {seconds:.1f} s", "a token endpoint that answers faster"
            )
        try:
            token, age = self._token, time.monotonic() - self._fetched
            if token is not None and age < token.lifetime_s * share:
                return token
            try:
                return self._fetch_new(deadline)
            except ReadError:
                if token is not None and time.monotonic() - self._fetched < token.lifetime_s * _LAST:
                    return token
                raise
        finally:
            self._turn.release()

    def _fetch_new(self, deadline: float) -> AccessToken:
        started = time.monotonic()
        if self._failure is not None and (self._failure.failure is ReadFailure.TOKEN_REFUSED or started < self._failed + RETRY_S):
            known = self._failure  # a new one, because a traceback grows with each raise
            raise known.again(known.message)
        try:
            token = self._fetch(max(0.0, deadline - started))
        except ReadError as error:
            self._failure, self._failed = error, time.monotonic()
            raise
        self._token, self._fetched, self._failure = token, started, None
        self._seen = [*self._seen[-_MOST_SEEN:], *filter(None, (token.value, token.inner))]
        return token

    @property
    def seen(self) -> tuple[str, ...]:
        """Every token that was given out, which no row may hold."""
        return tuple(self._seen)


class TokenProvider(AbstractTokenProvider):  # type: ignore[misc] # kafka-python has no types
    """Gives kafka-python the token of a connection, also when it logs in again before the session ends (KIP-368)."""

    def __init__(self, cache: TokenCache, seconds: float, extensions: Mapping[str, str]) -> None:
        """Take how long a connection may wait for a new token, and the extensions that go with it."""
        super().__init__()
        self._cache, self._seconds, self._extensions = cache, seconds, extensions

    def token(self) -> str:
        """Return the token; raises ReadError."""
        return self._cache.token(self._seconds, _LATE).value

    def extensions(self) -> dict[str, str]:
        """Return the SASL extensions."""
        return dict(self._extensions)


class FixedToken(AbstractTokenProvider):  # type: ignore[misc] # see above
    """A token from the environment."""

    def __init__(self, token: str) -> None:
        """Take the token."""
        super().__init__()
        self._token = token

    def token(self) -> str:
        """Return the token."""
        return self._token


def access_token(value: object, expires_in: object, where: str) -> AccessToken:
    """Return a token from the answer of a token endpoint.

    Args:
        value: `access_token` of the answer.
        expires_in: `expires_in` of the answer; without it, the token's own `exp` counts.
        where: the endpoint, for errors.

    Raises:
        ReadError: it is no token, or has ended.
    """
    needs = f"an access token from {where}"
    if not isinstance(value, str) or _VALUE.fullmatch(value) is None:
        raise ReadError(ReadFailure.NO_TOKEN, f"{where} answers without an access token", needs)
    claims = _claims(value)
    lifetime_s = _seconds(expires_in)
    if lifetime_s is None and (ends := _seconds(claims.get("exp"))) is not None:
        lifetime_s = ends - time.time()
    if lifetime_s is not None and lifetime_s <= 0:
        raise ReadError(
            ReadFailure.NO_TOKEN, f"{where} answers with an access token that has expired", f"{needs} that has not expired"
        )
    return AccessToken(value=value, lifetime_s=min(lifetime_s or _UNKNOWN_S, _LONGEST_S), about=_about(claims))


def _seconds(value: object) -> float | None:
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < len("1" * 15):
        return float(value)
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 10**12
    return float(value) if is_number else None  # type: ignore[arg-type] # a number


def _claims(token: str) -> Mapping[str, Any]:
    """Return what a JSON web token says of itself, unverified; nothing for other tokens."""
    parts = token.split(".")
    if len(parts) != len(("header", "claims", "signature")):
        return {}
    try:
        found = json.loads(base64.urlsafe_b64decode(parts[1] + "=" * (-len(parts[1]) % 4)))
    except (binascii.Error, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _about(claims: Mapping[str, Any]) -> str:
    parts = []
    for key, name in _SHOWN:
        value = claims.get(key)
        texts = [text for text in (value if isinstance(value, list) else [value]) if isinstance(text, str)]
        if texts:
            parts.append(f"{name} {clean_line(' '.join(texts[:5]), 100)}")
    return ", ".join(parts)
