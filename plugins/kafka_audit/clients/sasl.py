"""Logins of kafka-python that do not trust the other end: SCRAM with bounds, and messages that no log line shows.

`register` puts them into kafka-python's table of mechanisms, for connections of this package alone: whatever else in the process
uses kafka-python keeps what it had.
"""

import base64
import binascii
import hmac
import re
from collections.abc import Callable
from typing import Any, Protocol

from kafka.errors import SaslAuthenticationFailedError
from kafka.net.sasl import SASL_MECHANISMS, register_sasl_mechanism
from kafka.net.sasl.abc import SaslMechanism
from kafka.net.sasl.oauth import SaslMechanismOAuth
from kafka.net.sasl.plain import SaslMechanismPlain
from kafka.net.sasl.scram import ScramClient

from kafka_audit.model.read_failure import ReadFailure

LEAST_ITERATIONS = 4096
"""Of RFC 5802 and of Kafka, which writes no fewer. With fewer, who asks for them finds the password from the proof: offline, and
60,000 guesses a second and core with one iteration."""

MOST_ITERATIONS = 131_072
"""Eight times what Kafka writes at most (16,384), for credentials that other tools made; a tenth of a second of one core."""

_LONGEST = 4096  # bytes of a message: Kafka's have 150
_NONCE, _BASE64, _MORE = rb"[\x21-\x2b\x2d-\x7e]+", rb"[A-Za-z0-9+/]+={0,2}", rb"((?:,[A-Za-z]=[\x20-\x2b\x2d-\x7e]*)*)"
_FIRST = re.compile(rb"r=(" + _NONCE + rb"),s=(" + _BASE64 + rb"),i=([1-9][0-9]{0,9})" + _MORE)
_FINAL = re.compile(rb"v=(" + _BASE64 + rb")" + _MORE)
_RESERVED = frozenset(b"anmrcsipve")  # attributes of RFC 5802: none of them is an extension
_MALFORMED_NEEDS = "a Kafka broker that has the user's SCRAM credential"


class ScramError(SaslAuthenticationFailedError):  # type: ignore[misc] # kafka-python has no types
    """A server whose SCRAM is not to be trusted, or that refuses by SCRAM's own means.

    Attributes:
        failure: why, None where the server refused the login.
        words: what is wrong.
        needs: what would help.
    """

    def __init__(self, failure: ReadFailure | None, text: str, needs: str | None = None) -> None:
        """Keep the parts of the row to be."""
        super().__init__(text)
        self.failure, self.words, self.needs = failure, text, needs


class _HiddenMessage(bytes):
    """What a login sends; kafka-python writes requests into its debug log."""

    def __repr__(self) -> str:
        return "***"

    __str__ = __repr__


class _Plain(SaslMechanismPlain):  # type: ignore[misc] # kafka-python has no types
    def auth_bytes(self) -> bytes:
        return _HiddenMessage(super().auth_bytes())


class _OAuth(SaslMechanismOAuth):  # type: ignore[misc] # see above
    def auth_bytes(self) -> bytes:
        return _HiddenMessage(super().auth_bytes())


class _Scram(SaslMechanism):  # type: ignore[misc] # see above
    def __init__(self, *, scram_keys: "SaltsPasswords | None" = None, **config: Any) -> None:  # noqa: ANN401 -- kafka-python's call
        login = config["sasl_plain_username"], config["sasl_plain_password"], config["sasl_mechanism"]
        self._client = BoundedScramClient(*login, scram_keys)
        self._received = 0  # of the server's two messages

    def auth_bytes(self) -> bytes:
        return _HiddenMessage(self._client.final_message() if self._received else self._client.first_message())

    def receive(self, auth_bytes: bytes) -> bool:
        if self._received:
            self._client.process_server_final_message(auth_bytes)
        else:
            self._client.process_server_first_message(auth_bytes)
        self._received += 1
        return self.is_done()

    def is_done(self) -> bool:
        return self._received == 2  # noqa: PLR2004 -- as RFC 5802 has it

    is_authenticated = is_done


class SaltsPasswords(Protocol):
    """Knows salted passwords, see `scram_keys`."""

    def compute(self, salt: bytes, iterations: int) -> bytes:
        """Return the salted password; raises ScramError."""


class BoundedScramClient(ScramClient):  # type: ignore[misc] # see above
    """The client's side of SCRAM, which computes no proof before the server's parameters are known to be strong enough."""

    def __init__(self, user: str, password: str, mechanism: str, keys: SaltsPasswords | None = None) -> None:
        """Take a login; the name's `=` and `,` are encoded as RFC 5802 requires, which kafka-python does not do."""
        super().__init__(user.replace("=", "=3D").replace(",", "=2C"), password, mechanism)
        self._mechanism = mechanism
        self._keys = keys

    def process_server_first_message(self, server_first_message: bytes) -> None:
        """Take nonce, salt and iterations, and compute the proof; raises ScramError."""
        message = bytes(server_first_message)
        nonce, _, _ = parse_first(message, self._mechanism)
        if not nonce.startswith(self.nonce) or nonce == self.nonce:
            raise ScramError(ReadFailure.SCRAM_NOT_VERIFIED, "the server's nonce does not extend ours", _MALFORMED_NEEDS)
        super().process_server_first_message(message)

    def create_salted_password(self, salt: bytes, iterations: int) -> None:
        """Compute the salted password, or find it."""
        if self._keys is None:
            super().create_salted_password(salt, iterations)
        else:
            self.salted_password = self._keys.compute(salt, iterations)

    def process_server_final_message(self, server_final_message: bytes) -> None:
        """Demand the signature that only who knows the credential can make; raises ScramError."""
        signature = _decoded(_parts(_FINAL, bytes(server_final_message), "final")[1], "final")
        if not hmac.compare_digest(signature, self.server_signature):
            text = "the server's signature is wrong: it does not have the user's SCRAM credential"
            raise ScramError(ReadFailure.SCRAM_NOT_VERIFIED, text, _MALFORMED_NEEDS)


def parse_first(message: bytes, mechanism: str) -> tuple[bytes, bytes, int]:
    """Return nonce, salt and iterations of a server's first message; raises ScramError, also if they are weak or many."""
    parts = _parts(_FIRST, message, "first")
    salt, iterations = _decoded(parts[2], "first"), int(parts[3])
    if iterations < LEAST_ITERATIONS:
        text = (
            f"its SCRAM parameters are too weak: {iterations} of at least {LEAST_ITERATIONS} iterations, so the password "
            "could be computed from the proof; the auditor sent none"
        )
        needs = f"your broker at that address, and a {mechanism} credential of at least {LEAST_ITERATIONS} iterations"
        raise ScramError(ReadFailure.SCRAM_WEAK, text, needs)
    if iterations > MOST_ITERATIONS:
        text = f"it requires {iterations} SCRAM iterations; at most {MOST_ITERATIONS} are allowed"
        raise ScramError(
            ReadFailure.SCRAM_NOT_VERIFIED, text, f"a {mechanism} credential of at most {MOST_ITERATIONS} iterations"
        )
    if not salt:
        raise ScramError(ReadFailure.SCRAM_NOT_VERIFIED, "its SCRAM salt is empty", _MALFORMED_NEEDS)
    return parts[1], salt, iterations


def _parts(pattern: re.Pattern[bytes], message: bytes, which: str) -> re.Match[bytes]:
    if message.startswith(b"e=") and len(message) <= _LONGEST:
        raise ScramError(None, message[2:].decode("utf-8", "replace"))
    match = pattern.fullmatch(message) if len(message) <= _LONGEST else None
    if match is None:
        raise _malformed(which)
    names = [data[0] for data in match[pattern.groups].split(b",")[1:]]
    if len(names) != len(set(names)) or _RESERVED & {*names}:
        raise _malformed(which)
    return match


def _decoded(text: bytes, which: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error:
        raise _malformed(which) from None


def _malformed(which: str) -> ScramError:
    return ScramError(ReadFailure.SCRAM_NOT_VERIFIED, f"the server's {which} message is not SCRAM", _MALFORMED_NEEDS)


def _for(client: str, own: Callable[..., Any], usual: Callable[..., Any]) -> Callable[..., Any]:
    def made(**config: Any) -> Any:  # noqa: ANN401 -- kafka-python's call
        return (own if config.get("client_id") == client else usual)(**config)

    return made


def register(client: str) -> None:
    """Let connections with this client id log in by the mechanisms of this module; to be called once."""
    for name, plugin in {"PLAIN": _Plain, "OAUTHBEARER": _OAuth, "SCRAM-SHA-256": _Scram, "SCRAM-SHA-512": _Scram}.items():
        register_sasl_mechanism(name, _for(client, plugin, SASL_MECHANISMS[name]), overwrite=True)
