"""How often one login is tried: few attempts at a time until an address accepts it, and a pause after enough refusals.

Each address is tried once. One that accepts the login shows that it is right there, so a refusal elsewhere is a fault of who
refuses. While none has accepted it, it may be wrong: directories lock an account after three to ten wrong passwords.
"""

import math
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from kafka_audit.clients.read_error import ReadError, clean_line
from kafka_audit.model.read_failure import ReadFailure

NAMED_REFUSALS = 3
"""How many named addresses of a listener may refuse a login that none accepted, before it pauses there.

One would be enough for a wrong password. But any broker can refuse the right one, which must not end the audit of the others.
"""

MATCHED_REFUSALS = 5
"""The same for hosts that the cluster file does not name, together with the named ones: any client may have listed them."""

PAUSE_S = 60.0
"""How long a login pauses. Then one more address is tried, and after each refusal it pauses again."""

PATIENCE_S = 2.0
"""How long an attempt that hangs holds up others. A login takes milliseconds, with a directory behind it up to a second."""

_SHOWN = 5  # addresses in a message


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
    last: float = -math.inf  # refusal, of `time.monotonic()`


class Attempts:
    """Attempts with one user and password, at any address.

    A refusal counts against the login only if the cluster file names the address: otherwise a party that writes a znode could
    end the audit of every broker. Elsewhere it counts for that address, and `MATCHED_REFUSALS` of them pause the attempts at
    such hosts.
    """

    def __init__(self) -> None:
        """Start without any."""
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
            elif error.failure is ReadFailure.LOGIN_REFUSED:
                self._refused.setdefault(place.address, error)
                self._state(place).refused.add(place.host or place.address)
                self._state(place).last = time.monotonic()

    def _demand_hope(self, place: LoginTarget) -> None:
        here = self._refused.get(place.address)
        if here is not None:
            message = f"not tried again: {here.message}"
            raise here.again(message)
        if self._accepted(place):
            return
        states = [self._named.get(place.listener, _LoginState())] + ([] if place.host is None else [self._matched])
        since = time.monotonic() - PAUSE_S
        if any(not self._has_room(place, state, set()) and state.last > since for state in states):
            raise self._paused(place)

    def _accepted(self, place: LoginTarget) -> bool:
        named = self._named.get(place.listener, _LoginState()).accepted
        return named or (place.host is not None and self._matched.accepted)

    def _has_room(self, place: LoginTarget, state: _LoginState, trying: set[str]) -> bool:
        """Return whether a refusal more, beside those of the attempts in progress, is still few."""
        here = state.refused | trying
        if state is self._matched:
            return len(here) + len(self._named.get(place.listener, _LoginState()).refused) < MATCHED_REFUSALS
        if not here:
            return True  # each listener has one attempt: brokers may keep users by listener
        others = [other for other in self._named.values() if other is not state]
        unknown = not any(other.accepted for other in others)
        return len(here) + (sum(len(other.refused) for other in others) if unknown else 0) < NAMED_REFUSALS

    def _may_try(self, place: LoginTarget) -> bool:
        """Return whether the refusals stay few even if all attempts in progress are refused."""
        if self._accepted(place):
            return True
        fresh = time.monotonic() - PATIENCE_S
        trying = [target for target, since in self._trying.values() if since > fresh]
        if any(target.address == place.address for target in trying):
            return False
        named = {target.address for target in trying if target.host is None and target.listener == place.listener}
        state = self._state(place)
        if place.host is None:  # never waits for hosts that the cluster file does not name
            return self._has_room(place, state, named) or not named  # after a pause, one at a time
        hosts = {target.host for target in trying if target.host is not None}
        return not named and place.host not in hosts and (self._has_room(place, state, hosts) or not hosts)

    def _paused(self, place: LoginTarget) -> ReadError:
        refused = sorted({*self._named.get(place.listener, _LoginState()).refused, *self._matched.refused})
        shown = ", ".join(clean_line(address, 80) for address in refused[:_SHOWN])
        text = f"not tried: more refusals could lock the account; {len(refused)} refused the login and none accepted it ({shown})"
        known = next((self._refused[address].needs for address in refused if address in self._refused), None)
        return ReadError(ReadFailure.LOGIN_PAUSED, text, known or f"a login that {place.address} accepts")
