"""Salted passwords of SCRAM: each is computed once for an audit, and within bounds.

The salt and the iterations are the other end's to choose. All brokers of a cluster hold the same credential, so one computation
serves them all. Another salt with each login costs a tenth of a second of one core, at every address that a cluster lists.
"""

import hashlib
import threading
from collections import Counter
from dataclasses import dataclass

from kafka_audit.clients.sasl import MOST_ITERATIONS, ScramError
from kafka_audit.model.read_failure import ReadFailure

USUAL_ITERATIONS = 16_384
"""The most that Kafka writes. Credentials with more are made by other tools."""

MOST_AT_ADDRESS = 16 * MOST_ITERATIONS
"""Iterations that one address may cost in an audit: a second and a half of one core."""

MOST_IN_AUDIT = 64 * MOST_ITERATIONS
"""Iterations of one audit for credentials with more than the usual ones: six seconds of one core."""

_HASHES = {"SCRAM-SHA-256": "sha256", "SCRAM-SHA-512": "sha512"}
_one_at_a_time = threading.Lock()  # in the process: one core at most for what is unusual, and the usual never waits for it


class SaltedPasswords:
    """What was computed in one audit."""

    def __init__(self) -> None:
        """Start without any."""
        self._counting, self._usual = threading.Lock(), threading.Lock()
        self._known: dict[tuple[str, str, bytes, int], bytes] = {}
        self._at_address: Counter[str] = Counter()
        self._unusual = 0

    def compute(self, address: str, mechanism: str, password: str, salt: bytes, iterations: int) -> bytes:
        """Return the salted password; raises ScramError where an address, or the audit, would cost too much."""
        key = mechanism, password, salt, iterations
        if key not in self._known:
            with self._usual if iterations <= USUAL_ITERATIONS else _one_at_a_time:
                if key not in self._known:
                    self._count(address, iterations)
                    self._known[key] = hashlib.pbkdf2_hmac(_HASHES[mechanism], password.encode(), salt, iterations)
        return self._known[key]

    def _count(self, address: str, iterations: int) -> None:
        unusual = iterations if iterations > USUAL_ITERATIONS else 0
        with self._counting:
            if self._at_address[address] + iterations > MOST_AT_ADDRESS:
                text = f"its SCRAM parameters differ from login to login: more than {MOST_AT_ADDRESS} iterations altogether"
                raise ScramError(ReadFailure.SCRAM_NOT_VERIFIED, text, "a Kafka broker that has the user's SCRAM credential")
            if unusual and self._unusual + unusual > MOST_IN_AUDIT:
                text = f"it requires {iterations} SCRAM iterations, and this audit has computed {self._unusual} of this kind"
                raise ScramError(
                    ReadFailure.SCRAM_NOT_VERIFIED,
                    text,
                    f"credentials of at most {USUAL_ITERATIONS} iterations, as Kafka writes them",
                )
            self._at_address[address] += iterations
            self._unusual += unusual


@dataclass(frozen=True, kw_only=True)
class ScramKeys:
    """The salted passwords of one login at one address; the password stays out of `repr`."""

    salted: SaltedPasswords
    address: str
    mechanism: str
    password: str

    def __repr__(self) -> str:
        """Return no password."""
        return f"ScramKeys({self.address!r})"

    def compute(self, salt: bytes, iterations: int) -> bytes:
        """Return the salted password; raises ScramError. It takes up to a tenth of a second."""
        return self.salted.compute(self.address, self.mechanism, self.password, salt, iterations)
