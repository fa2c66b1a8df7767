"""`KafkaMaySensor`: waits until a step may be taken."""

import time
from collections.abc import Sequence
from typing import Any

from airflow.sdk import BaseSensorOperator, Context, PokeReturnValue
from airflow.sdk.exceptions import AirflowFailException

from kafka_audit.airflow.moved import conf
from kafka_audit.airflow.operators.restart_sensor import PauseTrigger


class KafkaMaySensor(BaseSensorOperator):
    """Waits until `kafka-audit may` says GO. Each poke audits the cluster on a worker; nothing is kept in the store.

    NEVER fails the task at once, because waiting does not help.

    Args:
        cluster: its name in the cluster file (templated).
        step: its words, e.g. `restart 2`, or a list of them (templated). `reassign` reads its file on the worker.
        deferrable: between two pokes use no worker; default: `[operators] default_deferrable`.
        kwargs: those of `BaseSensorOperator`.

    Returns (as XCom):
        `cluster`, and what the command has as JSON.
    """

    template_fields = ("cluster", "step")
    ui_color = "#d9e8f5"

    def __init__(
        self,
        *,
        cluster: str,
        step: str | Sequence[str],
        deferrable: bool | None = None,
        **kwargs: Any,  # noqa: ANN401 -- BaseSensorOperator's own
    ) -> None:
        """Take the step."""
        super().__init__(**kwargs)
        self.cluster = cluster
        self.step = step
        self.deferrable = conf.getboolean("operators", "default_deferrable", fallback=False) if deferrable is None else deferrable

    def execute(self, context: Context) -> Any:  # noqa: ANN401 -- the answer
        """Wait on this worker, or look and defer until the next look; raises UsageError for what is no cluster or step."""
        from kafka_audit.airflow.tasks import audit_tasks  # noqa: PLC0415 -- not where DAG files are parsed

        audit_tasks.cluster_names(self.cluster)
        return self.look(context, time.time() + self.timeout) if self.deferrable else super().execute(context)

    def look(self, context: Context, event: float) -> Any:  # noqa: ANN401 -- the answer
        """Return the answer if it is GO; else defer until the next look, and fail after `event` (seconds since the epoch)."""
        looked = self.poke(context)
        found: Any = looked.xcom_value
        if looked.is_done:
            return found
        if time.time() + self.poke_interval > event:
            why = found["waits_for"] or found["read_first"]
            msg = f"{self.cluster}: {found['step']}: {found['answer']} within {self.timeout:g} s: {why}"
            raise TimeoutError(msg)
        self.defer(trigger=PauseTrigger(self.poke_interval, event), method_name="look")
        return None

    def poke(self, context: Context) -> PokeReturnValue:  # noqa: ARG002 -- Airflow's own
        """Audit the cluster and answer; raises AirflowFailException for NEVER."""
        from kafka_audit.airflow.tasks import step_tasks  # noqa: PLC0415 -- not where DAG files are parsed

        found = step_tasks.step_answer_now(self.cluster, self.step.split() if isinstance(self.step, str) else self.step)
        for key in ("answer", "waits_for", "loses", "read_first"):
            if found[key]:
                self.log.info("%s: %s", key, found[key])
        if found["answer"] == "NEVER":
            msg = f"{self.cluster}: {found['step']}: NEVER: {found['loses']}"
            raise AirflowFailException(msg)
        return PokeReturnValue(is_done=found["answer"] == "GO", xcom_value=found)
