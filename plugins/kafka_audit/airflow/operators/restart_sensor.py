"""`SafeToRestartSensor`: waits until parties of a cluster may be stopped; its trigger."""

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from typing import Any

from airflow.sdk import BaseSensorOperator, Context, PokeReturnValue
from airflow.triggers.base import BaseTrigger, TriggerEvent

from kafka_audit.airflow.moved import conf
from kafka_audit.model.errors import UsageError


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


class SafeToRestartSensor(BaseSensorOperator):
    """Waits until brokers, racks, controllers or ZooKeeper servers may be stopped, as `kafka-audit what-if` says it.

    Each poke reads the cluster on a worker; what it read is not kept in the store. A loss that is not decided is not safe.

    Args:
        cluster: its name in the cluster file (templated).
        without: what is stopped, all of it at once: `broker:2`, or a list (templated).
        margin: with 2, partitions that lose a copy must keep one in-sync copy more than needed; with 3, two more.
        allow_unknown: take a loss for safe that is safe as far as is known, although something that decides is unknown.
        deferrable: between two pokes use no worker; default: `[operators] default_deferrable`.
        kwargs: those of `BaseSensorOperator`.

    Returns (as XCom):
        `cluster`, `without`, `safe`, `sentence`, what `raises_margin`, what is `not_known`, and what is `on_its_way`, as replicas
        that catch up, with an estimate.
    """

    template_fields = ("cluster", "without")
    ui_color = "#d9e8f5"

    def __init__(
        self,
        *,
        cluster: str,
        without: str | Sequence[str],
        margin: int = 1,
        allow_unknown: bool = False,
        deferrable: bool | None = None,
        **kwargs: Any,  # noqa: ANN401 -- BaseSensorOperator's own
    ) -> None:
        """Take what is stopped."""
        super().__init__(**kwargs)
        self.cluster = cluster
        self.without = without
        self.margin = margin
        self.allow_unknown = allow_unknown
        self.deferrable = conf.getboolean("operators", "default_deferrable", fallback=False) if deferrable is None else deferrable

    def execute(self, context: Context) -> Any:  # noqa: ANN401 -- the answer
        """Wait on this worker, or look and defer until the next look.

        Raises:
            UsageError: no such cluster or party: waiting would not help.
        """
        from kafka_audit.airflow.tasks import audit_tasks  # noqa: PLC0415 -- not where DAG files are parsed

        audit_tasks.cluster_names(self.cluster)
        if not self.parties:
            msg = f"{self.task_id}: `without` names nothing that is stopped"
            raise UsageError(msg)
        if not self.deferrable:
            return super().execute(context)
        return self.look(context, time.time() + self.timeout)

    @property
    def parties(self) -> Sequence[str]:
        """What is stopped, as a list."""
        return [self.without] if isinstance(self.without, str) else [*self.without]

    def look(self, context: Context, event: float) -> Any:  # noqa: ANN401 -- the answer
        """Return the answer if it is safe; else defer until the next look, and fail after `event` (seconds since the epoch).

        That time goes through the trigger: `airflow dags test` drops other arguments of a deferral.
        """
        looked = self.poke(context)
        found: Any = looked.xcom_value
        if looked.is_done:
            return found
        if time.time() + self.poke_interval > event:
            msg = f"{self.cluster}: not safe within {self.timeout:g} s: {'. '.join([found['sentence'], *found['raises_margin']])}"
            raise TimeoutError(msg)
        self.defer(trigger=PauseTrigger(self.poke_interval, event), method_name="look")
        return None

    def poke(self, context: Context) -> PokeReturnValue:  # noqa: ARG002 -- Airflow's own
        """Read the cluster and answer."""
        from kafka_audit.airflow.tasks import restart_tasks  # noqa: PLC0415 -- not where DAG files are parsed

        found = restart_tasks.answer_now(self.cluster, self.parties, self.margin - 1)
        done = found["safe"] is True or (self.allow_unknown and found["safe"] is None)
        self.log.info("%s: %s", self.cluster, found["sentence"])
        for text in found["raises_margin"]:
            self.log.info("%s", text)
        for text in found["on_its_way"]:
            self.log.info("on its way: %s", text)
        for question in found["not_known"]:
            self.log.info("not known: %s; needs: %s", question["what"], question["needs"])
        return PokeReturnValue(is_done=done, xcom_value=found)
