"""How long the loop that runs is held up by one step, in seconds of CPU of its own thread."""

import asyncio
import gc
import time
from contextlib import asynccontextmanager

MOST_S = 0.05
"""The bound for the triggerer's loop. CPU of the thread is measured, not time: tests run beside other work."""


@asynccontextmanager
async def ticking():
    """Yield a list of how much CPU the thread took between two ticks; each tick is a turn of the loop."""
    blocks = []

    async def tick():
        while True:
            before = time.thread_time()
            await asyncio.sleep(0)
            await asyncio.sleep(0.002)
            blocks.append(time.thread_time() - before)

    gc.collect()
    gc.freeze()  # the collector does not go through what the tests have imported
    task = asyncio.create_task(tick())
    try:
        yield blocks
    finally:
        task.cancel()
