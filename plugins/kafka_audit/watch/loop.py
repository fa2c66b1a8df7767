"""The loop of a watch: it judges one reading after the other until its caller stops it."""

import asyncio
import time
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from functools import partial

from kafka_audit.clients.parallel import in_thread
from kafka_audit.model.cluster import Cluster
from kafka_audit.watch.judgement import Patience, WatchState, new_suspicions, next_state
from kafka_audit.watch.reader import Reader
from kafka_audit.watch.reading import Reading
from kafka_audit.watch.suspicions import Suspicion

EVERY_S = 20.0
"""Seconds between readings."""

LEAST_S = 2.0
"""Seconds between readings, at least."""

JUDGED_S = 30.0
"""Seconds in which a reading is judged, on a thread: one of 2,000 brokers takes longer than a loop may be held up."""

_SOONER = 4


@dataclass(frozen=True, kw_only=True)
class WatchStep:
    """A reading, what is known after it, and what is suspected since it."""

    reading: Reading
    state: WatchState
    new: tuple[Suspicion, ...]


def pause_s(state: WatchState, every_s: float) -> float:
    """Return the seconds from the beginning of a reading to the next: fewer while something looks wrong and is not suspected."""
    return max(LEAST_S, every_s / _SOONER if state.unsettled else every_s)


async def steps(
    cluster: Cluster, reader: Reader, every_s: float = EVERY_S, patience: Patience | None = None, state: WatchState | None = None
) -> AsyncGenerator[WatchStep]:
    """Yield a step for each reading, for ever.

    Args:
        cluster: what it is expected to be counts.
        reader: of this cluster.
        every_s: seconds between readings.
        patience: how long a fault must last.
        state: of an earlier watch.
    """
    state = state or WatchState()
    while True:
        began = time.monotonic()
        reading = await reader.read(state.endpoints, state.known_ms)
        judge = partial(next_state, state, reading, patience, cluster.expect)
        before, state = state, await in_thread(judge, JUDGED_S)
        yield WatchStep(reading=reading, state=state, new=new_suspicions(before, state))
        await asyncio.sleep(max(0.0, began + pause_s(state, every_s) - time.monotonic()))
