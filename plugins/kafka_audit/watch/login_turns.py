"""One login after the other until one is accepted: a password that is wrong is not sent to all brokers at once."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from kafka_audit.clients.credentials import ListenerSecurity
from kafka_audit.clients.login_attempts import PATIENCE_S


class LoginTurn:
    """A turn, in which a login may be tried."""

    def __init__(self, accepted: Callable[[], None], end: Callable[[], None]) -> None:
        """Take what notes that the login was accepted, and what lets the next in."""
        self._accepted = accepted
        self._end: Callable[[], None] | None = end

    def accepted(self) -> None:
        """Note that the login was accepted: from now on nobody waits."""
        self._accepted()
        self.end()

    def end(self) -> None:
        """Let the next in; once."""
        if self._end is not None:
            self._end()
            self._end = None


class LoginTurns:
    """Of one cluster, until its logins are made anew."""

    def __init__(self) -> None:
        """Start without any accepted login."""
        self._lock = asyncio.Lock()
        self._accepted: set[tuple[str, str]] = set()  # listeners and mechanisms

    @asynccontextmanager
    async def turn(self, listener: str, security: ListenerSecurity, until: float) -> AsyncIterator[LoginTurn]:
        """Wait for a turn; an attempt that hangs has it for `PATIENCE_S`. Raises TimeoutError where none comes in time.

        Args:
            listener: where the login is tried.
            security: of the address; without a login nobody waits.
            until: when waiting ends, of `time.monotonic()`.
        """
        login = (listener, security.kafka.get("sasl_mechanism") or "")
        if login[1] and login not in self._accepted:
            async with asyncio.timeout(max(0.0, until - time.monotonic())):
                await self._lock.acquire()
        else:
            yield LoginTurn(lambda: None, lambda: None)
            return
        turn = LoginTurn(lambda: self._accepted.add(login), self._lock.release)
        if login in self._accepted:
            turn.end()
        patience = asyncio.get_running_loop().call_later(PATIENCE_S, turn.end)
        try:
            yield turn
        finally:
            patience.cancel()
            turn.end()
