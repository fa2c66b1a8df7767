"""`KafkaCleanSensor`: waits for a clean report of a cluster; its trigger."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

from airflow.sdk import BaseSensorOperator, Context, PokeReturnValue
from airflow.triggers.base import BaseTrigger, TriggerEvent

from kafka_audit.airflow import environment
from kafka_audit.airflow.moved import conf
from kafka_audit.report.gate import severity_of

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


class KafkaCleanSensor(BaseSensorOperator):
    """Waits until the last report of a cluster is clean: no failure of a severity or above, and enough answers.

    It audits nothing: the DAG `kafka_audit` or a `KafkaAuditOperator` writes the reports. A report that is too old is not clean.

    Args:
        cluster: its name in the cluster file (templated).
        fail_on: the severity from which a failure keeps a report from being clean (templated); default: KAFKA_AUDIT_FAIL_ON.
        min_coverage: the share of asked reads, 0 to 1, that must be answered; default: KAFKA_AUDIT_MIN_COVERAGE.
        max_age: how long ago the audit may have ended.
        deferrable: wait in the triggerer; default: `[operators] default_deferrable`.
        kwargs: those of `BaseSensorOperator`.

    Returns (as XCom):
        The summary of the report, as `KafkaAuditOperator` returns it.
    """

    template_fields = ("cluster", "fail_on")
    ui_color = "#d9e8f5"

    def __init__(
        self,
        *,
        cluster: str,
        fail_on: str | None = None,
        min_coverage: float | None = None,
        max_age: timedelta = timedelta(hours=1),
        deferrable: bool | None = None,
        **kwargs: Any,  # noqa: ANN401 -- BaseSensorOperator's own
    ) -> None:
        """Take what is waited for."""
        super().__init__(**kwargs)
        self.cluster = cluster
        self.fail_on = fail_on
        self.min_coverage = min_coverage
        self.max_age = max_age
        self.deferrable = conf.getboolean("operators", "default_deferrable", fallback=False) if deferrable is None else deferrable

    def execute(self, context: Context) -> Any:  # noqa: ANN401 -- the summary
        """Wait on this worker, or look once and hand over to the triggerer.

        Raises:
            UsageError: no such cluster or severity: waiting would not help.
        """
        from kafka_audit.airflow.tasks import audit_tasks  # noqa: PLC0415 -- not where DAG files are parsed

        audit_tasks.cluster_names(self.cluster)
        if not self.deferrable:
            return super().execute(context)
        found = self.poke(context)
        if not found.is_done:
            trigger = CleanReportTrigger(poke_interval=self.poke_interval, report=self._wanted())
            self.defer(trigger=trigger, method_name="execute_complete", timeout=timedelta(seconds=self.timeout))
        return found.xcom_value

    def poke(self, context: Context) -> PokeReturnValue:  # noqa: ARG002 -- Airflow's own
        """Look into the store."""
        from kafka_audit.airflow.operators.clean_report import CleanReport  # noqa: PLC0415 -- not where DAG files are parsed

        found = CleanReport(**self._wanted()).find()
        return PokeReturnValue(is_done=found is not None, xcom_value=found)

    def execute_complete(self, context: Context, event: dict[str, Any]) -> dict[str, Any]:  # noqa: ARG002 -- Airflow's own
        """Return what the trigger found."""
        self.log.info("clean: %s", event["snapshot_id"])
        return event

    def _wanted(self) -> dict[str, Any]:
        fail_on = self.fail_on or environment.fail_on()
        return {
            "cluster": self.cluster,
            "store": environment.store_root(),
            "fail_on": severity_of(fail_on).name,
            "min_coverage": environment.min_coverage() if self.min_coverage is None else self.min_coverage,
            "max_age_s": self.max_age.total_seconds(),
        }
