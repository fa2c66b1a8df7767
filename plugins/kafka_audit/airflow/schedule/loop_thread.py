"""A loop of asyncio on a thread of its own, for what must not hold up the triggerer's: all its triggers run on that one."""

import asyncio
import threading
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine
from contextlib import suppress
from typing import Any, TypeVar

_T = TypeVar("_T")

_END_S = 5.0
"""Seconds that the end of such a loop is waited for; the thread is a daemon and keeps no process from ending."""


async def on_thread(make: Callable[[], AsyncGenerator[_T]], name: str) -> AsyncGenerator[_T]:
    """Yield what a generator yields that runs on a loop of its own; each step is taken when the next value is wanted.

    Whatever it computes costs the loop of the caller no more than Python's turns between threads, 5 ms each.

    Args:
        make: makes the generator, on the thread.
        name: of the thread.
    """
    here, loop = asyncio.get_running_loop(), asyncio.new_event_loop()
    ended = asyncio.Event()

    def run() -> None:
        with asyncio.Runner(loop_factory=lambda: loop) as runner:  # ends what is left on the loop, and closes it
            runner.get_loop().run_forever()
        with suppress(RuntimeError):  # the caller's loop is closed
            here.call_soon_threadsafe(ended.set)

    threading.Thread(target=run, name=name, daemon=True).start()
    generator = make()
    try:
        while True:
            yield await _on(loop, lambda: anext(generator))
    except StopAsyncIteration:
        return
    finally:
        with suppress(TimeoutError, RuntimeError):  # RuntimeError: the loop is closed
            loop.call_soon_threadsafe(loop.stop)
            async with asyncio.timeout(_END_S):
                await ended.wait()


def on_loop(loop: asyncio.AbstractEventLoop, function: Callable[[], Coroutine[Any, Any, _T]]) -> Callable[[], Awaitable[_T]]:
    """Return a function for other threads that calls this one on its loop: what belongs to the triggerer's stays there."""
    return lambda: _on(loop, function)


def _on(loop: asyncio.AbstractEventLoop, function: Callable[[], Awaitable[_T]]) -> Awaitable[_T]:
    async def result() -> _T:
        return await function()  # called there: a generator belongs to the loop on which it begins

    return asyncio.wrap_future(asyncio.run_coroutine_threadsafe(result(), loop))
