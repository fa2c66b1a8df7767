"""A conversation that waits on asyncio's loop: many of them at a time need no thread.

kafka-python has its own loop, `NetworkSelector`, whose selector is a file descriptor (epoll, kqueue). asyncio waits for that
descriptor and for the next timer, and then lets kafka-python take its steps, which never wait.
"""

import asyncio
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Self, TypeVar, overload

from kafka.net.selector import NetworkSelector

from kafka_audit.clients.protocol.conversation import CLIENT, ClientOptions, Conversation, dialled_addresses
from kafka_audit.clients.protocol.kafka_errors import as_read_error
from kafka_audit.clients.protocol.raw_requests import RawRequest
from kafka_audit.clients.read_error import ReadError, any_answer
from kafka_audit.clients.silenced import silenced
from kafka_audit.compare.hosts import is_number
from kafka_audit.model.read_failure import ReadFailure

_T = TypeVar("_T")
_LOOKUPS = 4  # name lookups at a time: they need a thread each


class AsyncioSelector(NetworkSelector):  # type: ignore[misc] # kafka-python has no types
    """kafka-python's loop, driven by the running loop of asyncio."""

    def __init__(self, **config: Any) -> None:  # noqa: ANN401 -- kafka-python's own
        """Wait for events from now on; `close` ends it."""
        super().__init__(**config)
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None
        self._loop.add_reader(self._selector.fileno(), self._take_steps)

    async def finished(self, function: Callable[..., Any], *args: Any) -> Any:  # noqa: ANN401 -- kafka-python's own
        """Run a coroutine function of kafka-python, or one that returns its Future; return its result or raise its error."""
        done: asyncio.Future[None] = self._loop.create_future()
        with silenced():
            future = self.call_soon_with_future(function, *args)
        future.add_both(lambda _: None if done.done() else done.set_result(None))
        self._take_steps()
        await done
        if future.exception is not None:
            raise future.exception
        return future.value

    def _take_steps(self) -> None:
        """Do what is due, and come back for the next timer; nothing here waits."""
        if self._closed:
            return
        with silenced():
            self._poll_once(0)
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._ready:
            self._loop.call_soon(self._take_steps)
        elif self._scheduled:
            self._timer = self._loop.call_later(max(0.0, self._scheduled[0][0] - time.monotonic()), self._take_steps)

    def close(self) -> None:
        """End it: no step is taken after this."""
        if self._closed:
            return
        if self._timer is not None:
            self._timer.cancel()
        self._loop.remove_reader(self._selector.fileno())
        super().close()


class AsyncConversation(Conversation):
    """A `Conversation` for `async with`."""

    def __init__(self, host: str, port: int, options: ClientOptions, lookups: "Lookups") -> None:
        """Prepare; `__aenter__` connects. A login is never waited for: the caller lets one after the other try a new one."""
        super().__init__(host, port, options)
        self._lookups = lookups

    @staticmethod
    def _make_selector() -> AsyncioSelector:
        return AsyncioSelector(client_id=CLIENT, slow_task_threshold_secs=0)

    @property
    def mechanism(self) -> str | None:
        """The mechanism of its login, None where it does not log in."""
        found: str | None = self._options.listener_security.kafka.get("sasl_mechanism")
        return found

    @property
    def offers(self) -> bool:
        """Whether the other end has answered ApiVersions, which it does before a login."""
        return self._connection is not None and self._connection.api_versions is not None

    async def __aenter__(self) -> Self:
        """Resolve, connect, ask for ApiVersions, log in if that is required; raises ReadError."""
        security = self._options.listener_security
        try:
            addresses = await self._lookups.addresses(*self._place, self._options)
            self._options.budget.demand_time()
            with security.attempt(0.0), as_read_error(security):
                self._manager.take(addresses)
                await self._net.finished(self._connect)
        except BaseException:  # `async with` does not call __aexit__ for it; raised on
            self.__exit__(None, None, None)
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close the connection."""
        self.__exit__(None, None, None)

    @overload
    async def answer(self, request: RawRequest) -> memoryview: ...
    @overload
    async def answer(self, request: Any) -> Any: ...  # noqa: ANN401 -- see below
    async def answer(self, request: Any) -> Any:
        """Send a request and return its answer, as `ask` does; raises ReadError, also while the broker throttles."""
        if self.lost is not None:
            raise self.lost
        self._connection.answered()
        timeout_ms = self._options.budget.demand_time(self._options.read_s) * 1000
        if self._connection.throttled_until > time.monotonic():
            message = f"throttled by the broker for {self._connection.throttled_ms} ms"
            raise ReadError(ReadFailure.THROTTLED, message, "a higher request quota for the auditor's user or client id")
        try:
            with as_read_error(self._options.listener_security):
                return await self._net.finished(self._connection.send_request, request, timeout_ms)
        except ReadError as error:
            if self._connection.closed:
                self.lost = error
            raise


class Lookups:
    """Name lookups: the resolver of the operating system blocks, so each waits on a thread, few at a time."""

    def __init__(self) -> None:
        """Start without any."""
        self._turns = asyncio.Semaphore(_LOOKUPS)

    async def addresses(self, host: str, port: int, options: ClientOptions) -> list[tuple[int, tuple[Any, ...]]]:
        """Return the addresses of a host that may be dialled; one that is a number needs no thread. Raises ReadError."""
        if is_number(host):
            return dialled_addresses(host, port, options.budget, options.read_s)
        async with self._turns:
            return await in_thread(lambda: dialled_addresses(host, port, options.budget, options.read_s), options.read_s)


async def in_thread(job: Callable[[], _T], seconds: float) -> _T:
    """Return what a job that blocks returns, or raise what it raises; ReadError `timeout` after so many seconds.

    The thread is a daemon and belongs to no pool: one that hangs keeps neither asyncio nor the process from ending.
    """
    loop = asyncio.get_running_loop()
    done: asyncio.Future[_T] = loop.create_future()

    def hand_over(result: _T | None, error: BaseException | None) -> None:
        if done.done():  # nobody waits any longer
            return
        if error is not None:
            done.set_exception(error)
        else:
            done.set_result(result)  # type: ignore[arg-type] # None only where it is the job's result

    def work() -> None:
        result: _T | None = None
        problem: BaseException | None = None
        try:
            with any_answer():
                result = job()
        except BaseException as error:  # noqa: BLE001 -- carried to the caller and raised there
            problem = error
        with suppress(RuntimeError):  # the loop is closed
            loop.call_soon_threadsafe(hand_over, result, problem)

    threading.Thread(target=work, daemon=True).start()
    try:
        # Not wait_for: before Python 3.12 it returns a result that came at the same moment as a cancellation, which is lost then.
        async with asyncio.timeout(seconds):
            return await done
    except TimeoutError:
        raise ReadError(ReadFailure.TIMEOUT, f"no answer for {seconds:.1f} s") from None
