"""What waits on asyncio's loop for a thread."""

import asyncio
import threading

import pytest

from kafka_audit.clients.parallel import in_thread
from kafka_audit.clients.read_error import ReadError


def ended(cancelled):
    """Return how a wait for a thread ends whose result is there; `cancelled` right behind the result."""

    async def wait():
        gate, handed_over, loop = threading.Event(), threading.Event(), asyncio.get_running_loop()
        call_soon = loop.call_soon_threadsafe

        def hand_over(*arguments):
            call_soon(*arguments)
            handed_over.set()

        loop.call_soon_threadsafe = hand_over
        task = asyncio.create_task(in_thread(lambda: gate.wait() and "result", 600))
        await asyncio.sleep(0.05)
        gate.set()
        handed_over.wait()  # the loop stands still until the thread has handed over its result
        if cancelled:
            loop.call_soon(task.cancel)
        await asyncio.wait([task])
        return "cancelled" if task.cancelled() else task.result()

    return asyncio.run(wait())


def test_a_cancellation_at_the_moment_of_the_result_is_not_lost():
    assert ended(cancelled=True) == "cancelled"
    assert ended(cancelled=False) == "result"


def test_a_thread_that_takes_too_long_is_a_failed_read():
    gate = threading.Event()
    with pytest.raises(ReadError, match=r"no answer for 0\.1 s"):
        asyncio.run(in_thread(gate.wait, 0.1))
    gate.set()
