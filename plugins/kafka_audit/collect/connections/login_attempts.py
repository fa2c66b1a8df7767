"""How often one login is tried: few attempts at a time until an address accepts it, none after enough refusals."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from kafka_audit.collect.rows.source_reads import LOGIN_REFUSED, ReadError

MATCHED_REFUSALS = 5
"""How many refusing hosts that the cluster file does not name end the attempts at such hosts.

Accounts lock after three to ten wrong passwords in most directories, and one hostile host must not end the audit of the others.
"""

PATIENCE_S = 2.0
"""How long an attempt that hangs holds up others. A login takes milliseconds, with a directory behind it up to a second."""


@dataclass(frozen=True, kw_only=True)
class LoginTarget:
    """Where a login is tried.

    Attributes:
        address: host and port that are dialled, as they are compared.
        listener: the listener's name; brokers keep users by listener (PLAIN).
        host: None where the cluster file names the address; else the host, which counts once for all its ports.
    """

    address: str
    listener: str
    host: str | None = None


@dataclass
class _LoginState:
    accepted: bool = False
    refused: set[str] = field(default_factory=set)  # addresses; hosts for what the cluster file does not name


class Attempts:
    """Attempts with one user and password, at any address.

    A refusal counts against the login only if the cluster file names the address: otherwise a party that writes a znode could
    end the audit of every broker. Elsewhere it counts for that address, and `MATCHED_REFUSALS` of them end the attempts at
    such hosts.
    """

    def __init__(self, refusals: int) -> None:
        """Take how many refusals at one listener's named addresses are enough, while none of them accepted the login."""
        self._enough = refusals
        self._changed = threading.Condition()
        self._named: dict[str, _LoginState] = {}  # by listener
        self._matched = _LoginState()
        self._refused: dict[str, ReadError] = {}  # by address
        self._trying: dict[object, tuple[LoginTarget, float]] = {}

    @contextmanager
    def at(self, place: LoginTarget, seconds: float) -> Iterator[None]:
        """Log in inside; raises ReadError without an attempt where one is hopeless.

        Args:
            place: where.
            seconds: how long attempts at other addresses are waited for, at most; one that hangs must not hold up all others.
        """
        attempt = object()
        with self._changed:
            end = time.monotonic() + seconds
            while True:
                self._demand_hope(place)
                if self._may_try(place) or time.monotonic() >= end:
                    break
                self._changed.wait(max(0.0, min(end - time.monotonic(), PATIENCE_S / 4)))
            self._trying[attempt] = (place, time.monotonic())
        try:
            yield
            self._end(place, None)
        except ReadError as error:
            self._end(place, error)
            raise
        finally:
            with self._changed:
                del self._trying[attempt]
                self._changed.notify_all()

    def _state(self, place: LoginTarget) -> _LoginState:
        return self._named.setdefault(place.listener, _LoginState()) if place.host is None else self._matched

    def _end(self, place: LoginTarget, error: ReadError | None) -> None:
        with self._changed:
            if error is None:
                self._state(place).accepted = True
            elif error.error == LOGIN_REFUSED:
                self._refused.setdefault(place.address, error)
                self._state(place).refused.add(place.host or place.address)

    def _demand_hope(self, place: LoginTarget) -> None:
        here, named = self._refused.get(place.address), self._named.get(place.listener, _LoginState())
        if here is not None:
            raise _not_again(here)
        if not named.accepted and len(named.refused) >= self._enough:
            raise _not_again(self._refused[min(named.refused)])
        if place.host is not None and not self._accepted(place) and len(self._matched.refused) >= MATCHED_REFUSALS:
            text = f"not tried: {len(self._matched.refused)} hosts that the cluster file does not name refused the login"
            raise ReadError(LOGIN_REFUSED, text, f"a login that {place.address} accepts, or this address in bootstrap")

    def _accepted(self, place: LoginTarget) -> bool:
        named = self._named.get(place.listener, _LoginState()).accepted
        return named or (place.host is not None and self._matched.accepted)

    def _may_try(self, place: LoginTarget) -> bool:
        """Return whether the refusals stay few even if all attempts in progress are refused."""
        if self._accepted(place):
            return True
        fresh = time.monotonic() - PATIENCE_S
        trying = [target for target, since in self._trying.values() if since > fresh]
        if any(target.address == place.address for target in trying):
            return False
        named = {target.address for target in trying if target.host is None and target.listener == place.listener}
        if place.host is None:  # never waits for hosts that the cluster file does not name
            return len(named | self._state(place).refused) < self._enough
        hosts = {target.host for target in trying if target.host is not None}
        return not named and place.host not in hosts and len(hosts | self._matched.refused) < MATCHED_REFUSALS


def _not_again(known: ReadError) -> ReadError:
    return ReadError(known.error, f"not tried again: {known.message}", known.needs)
