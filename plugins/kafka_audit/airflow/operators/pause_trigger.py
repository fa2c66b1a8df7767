"""The trigger of `SafeToRestartSensor`."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from airflow.triggers.base import BaseTrigger, TriggerEvent


class PauseTrigger(BaseTrigger):
    """Fires once, after a pause: a worker then looks again, because the triggerer is no place to read a cluster.

    Args:
        seconds: how long the pause is.
        payload: of the event, which the task gets when it goes on.
    """

    def __init__(self, seconds: float, payload: float) -> None:
        """Take the pause."""
        super().__init__()  # type: ignore[no-untyped-call] # Airflow's own
        self.seconds = seconds
        self.payload = payload

    def serialize(self) -> tuple[str, dict[str, Any]]:
        """Return the class and what it takes."""
        return f"{type(self).__module__}.{type(self).__qualname__}", {"seconds": self.seconds, "payload": self.payload}

    async def run(self) -> AsyncIterator[TriggerEvent]:
        """Wait."""
        await asyncio.sleep(self.seconds)
        yield TriggerEvent(self.payload)  # type: ignore[no-untyped-call] # Airflow's own
