"""A generator on a loop of its own thread: its values, its errors and its end."""

import asyncio
import threading
import time
from contextlib import aclosing

import pytest

from kafka_audit.airflow.schedule.loop_thread import on_loop, on_thread


async def numbers(ended=None):
    try:
        for number in range(3):
            await asyncio.sleep(0)
            yield number, threading.get_ident()
        await asyncio.sleep(3600)
    finally:
        if ended is not None:
            ended.set()


def test_values_come_from_another_thread_which_ends_with_the_generator():
    async def take():
        ended = threading.Event()
        async with aclosing(on_thread(lambda: numbers(ended), "t")) as values:
            found = [await anext(values) for _ in range(3)]
        assert ended.is_set()
        return found

    before = threading.active_count()
    found = asyncio.run(take())
    until = time.monotonic() + 5
    while threading.active_count() > before and time.monotonic() < until:
        time.sleep(0.01)
    assert threading.active_count() <= before
    assert [number for number, _ in found] == [0, 1, 2]
    assert threading.get_ident() not in {thread for _, thread in found}


def test_a_cancellation_while_a_value_is_awaited_ends_it():
    async def take():
        ended = threading.Event()

        async def collect():
            async for _ in on_thread(lambda: numbers(ended), "t"):
                pass

        task = asyncio.create_task(collect())
        await asyncio.sleep(0.3)
        task.cancel()
        await asyncio.wait([task], timeout=10)
        return task.cancelled(), ended.wait(10)

    assert asyncio.run(take()) == (True, True)


def test_an_error_and_the_end_arrive():
    async def broken():
        yield 1
        message = "told"
        raise ValueError(message)

    async def short():
        yield 1

    async def take(make):
        return [value async for value in on_thread(make, "t")]

    with pytest.raises(ValueError, match="told"):
        asyncio.run(take(broken))
    assert asyncio.run(take(short)) == [1]


def test_a_loop_that_stands_still_holds_up_no_other():
    async def stuck():
        time.sleep(1)  # noqa: ASYNC251 -- this is it
        yield 1

    async def take():
        ticks = 0
        waiting = asyncio.ensure_future(anext(on_thread(stuck, "t")))
        while not waiting.done():
            await asyncio.sleep(0.01)
            ticks += 1
        return ticks

    assert asyncio.run(take()) > 10


def test_what_belongs_to_the_first_loop_runs_there():
    async def home():
        return threading.get_ident()

    async def asks(ask):
        yield await ask()

    async def take():
        ask = on_loop(asyncio.get_running_loop(), home)
        return [value async for value in on_thread(lambda: asks(ask), "t")]

    assert asyncio.run(take()) == [threading.get_ident()]
