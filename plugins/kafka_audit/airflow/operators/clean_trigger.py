"""The trigger of `KafkaCleanSensor`."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from airflow.triggers.base import BaseTrigger, TriggerEvent

_READ_S = 60.0  # to read the store


class CleanReportTrigger(BaseTrigger):
    """Fires once with the summary of the last report of a cluster, as soon as that is clean.

    Args:
        poke_interval: seconds between two reads of the store.
        report: what `CleanReport` takes.
    """

    def __init__(self, poke_interval: float, report: dict[str, Any]) -> None:
        """Take what the sensor waits for."""
        super().__init__()  # type: ignore[no-untyped-call] # Airflow's own
        self.poke_interval = poke_interval
        self.report = report

    def serialize(self) -> tuple[str, dict[str, Any]]:
        """Return the class and what it takes."""
        return (
            f"{type(self).__module__}.{type(self).__qualname__}",
            {"poke_interval": self.poke_interval, "report": self.report},
        )

    async def run(self) -> AsyncIterator[TriggerEvent]:
        """Read the store until the report is clean; a store that does not answer in time is read again."""
        from kafka_audit.airflow.operators.clean_report import CleanReport, log  # noqa: PLC0415 -- with pyarrow, see below
        from kafka_audit.clients.parallel import in_thread  # noqa: PLC0415 -- as above
        from kafka_audit.clients.read_error import ReadError  # noqa: PLC0415 -- as above

        wanted = CleanReport(**self.report)
        while True:
            try:
                summary = await in_thread(wanted.find, _READ_S)
            except ReadError as error:
                log.warning("%s: the store does not answer: %s", wanted.cluster, error)
                summary = None
            if summary is not None:
                yield TriggerEvent(summary)  # type: ignore[no-untyped-call] # Airflow's own
                return
            await asyncio.sleep(self.poke_interval)
