"""From a gate that opened or stayed shut to the messages that each channel has to get.

What was sent is remembered in the store, for each channel and cluster on its own; a channel that failed gets its messages with
the next audit.
"""

import logging
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

from airflow.providers.common.compat.sdk import conf
from upath import UPath

from kafka_audit.airflow_glue import alerts, environment, memory
from kafka_audit.airflow_glue.channels import NOT_DELIVERED, Channel
from kafka_audit.airflow_glue.errors import GateFailed
from kafka_audit.airflow_glue.memory import Memory
from kafka_audit.airflow_glue.seen import Audited, Limits
from kafka_audit.model.errors import StoreError, UsageError
from kafka_audit.model.text import clean, without_logins
from kafka_audit.store import Store
from kafka_audit.store.alerts import AlertFiles

log = logging.getLogger(__name__)

EVERYBODY = "_audit"
"""Where it is remembered that no cluster could be audited; no cluster's name starts with an underscore."""


def by(channel: Channel, context: Mapping[str, Any], *, failed: bool) -> None:
    """Tell what the end of a task calls for, if the channel is set up. The context of a killed task has no exception.

    Raises:
        UsageError: the connection lacks something; Airflow logs it with the task.
    """
    if channel.target() is None:
        return
    for scope, audited in _audited(context, failed=failed):
        tell(channel, scope, audited, _places(context, audited))


def by_each(channels: Iterable[Channel], context: Mapping[str, Any], *, failed: bool) -> None:
    """Do as `by` for several channels; the first that fails must not keep the others from being tried.

    Raises:
        ExceptionGroup: of what did not go out.
    """
    errors: list[Exception] = []
    for channel in channels:
        try:
            by(channel, context, failed=failed)
        except (UsageError, *NOT_DELIVERED) as error:
            errors.append(error)
    if errors:
        msg = "alerts were not delivered"
        raise ExceptionGroup(msg, errors)


def tell(channel: Channel, scope: str, audited: Audited, places: alerts.Places) -> None:
    """Send what a channel has to be told of an audit, and remember it.

    Raises:
        UsageError: the channel's connection lacks something; Airflow logs it with the task.
    """
    files = AlertFiles(environment.store_root(), channel.name)
    before = _remembered(files, scope)
    messages, after = memory.decide(before, audited, datetime.now(UTC), _limits())
    told = alerts.of_messages(messages, audited, places)
    for number, alert in enumerate(told, start=1):
        channel.send(alert)
        log.info("%s: %s", channel.name, alerts.subject(alert))
        if number < len(told):  # a process that is killed here must not send this one again
            _remember(files, scope, memory.as_far_as(before, after, messages[number:]))
    _remember(files, scope, after)


def _remember(files: AlertFiles, scope: str, kept: Memory) -> None:
    try:
        files.write(scope, kept.to_json().encode())
    except StoreError as error:
        log.warning("what was sent is not remembered, so it will be sent again: %s", error)


def _limits() -> Limits:
    try:
        return Limits(fail_on=environment.fail_on(), min_coverage=environment.min_coverage(), remind=environment.remind())
    except UsageError as error:  # the gate failed for it, and says so
        log.warning("the usual limits hold: %s", error)
        return Limits()


def _remembered(files: AlertFiles, scope: str) -> Memory:
    """Return what was told; nothing where that cannot be read: a message too many is better than none."""
    try:
        text = files.read(scope)
        return Memory() if text is None else Memory.from_json(text)
    except (StoreError, ValueError) as error:
        log.warning("%s: what was told before is not known: %s", files.place(scope), clean(error))
        return Memory()


def _audited(context: Mapping[str, Any], *, failed: bool) -> list[tuple[str, Audited]]:
    """Return what was audited and under which name it is remembered; one gate speaks for all where no cluster was audited."""
    instance, exception = context["ti"], context.get("exception")
    why = reason(context) if failed else ""
    names = instance.xcom_pull(task_ids="clusters") if instance.task_id == "gate" else None
    if not names:
        return [(EVERYBODY, Audited(cluster=instance.dag_id, why=why))]
    index = max(instance.map_index, 0)
    judged = instance.xcom_pull(task_ids="report")
    told: list[tuple[str, Audited]] = []
    if index == 0:
        told.append((EVERYBODY, Audited(cluster=instance.dag_id, why="" if judged or len(names) == 1 else why)))
    if judged or len(names) == 1:
        by_its_report = not failed or isinstance(exception, GateFailed)
        document = _report((judged or {}).get(names[index])) if by_its_report else None
        told.append((names[index], Audited(cluster=names[index], document=document, why="" if document else why)))
    return told


def _report(snapshot_id: str | None) -> dict[str, Any] | None:
    return None if snapshot_id is None else Store(environment.store_root()).read_report(snapshot_id)


def reason(context: Mapping[str, Any]) -> str:
    """Return why a task failed; logins in URLs are masked."""
    return without_logins(_reason(context))


def _reason(context: Mapping[str, Any]) -> str:
    exception = context.get("exception")
    if isinstance(exception, GateFailed):
        return exception.headline.removeprefix("not audited: ")
    if isinstance(exception, BaseException):
        return f"task {context['ti'].task_id} failed: {exception or type(exception).__name__}"
    return f"task {context['ti'].task_id} failed: {exception or 'its process died'}"


def _places(context: Mapping[str, Any], audited: Audited) -> alerts.Places:
    instance, document = context["ti"], audited.document
    if document is None:
        return alerts.Places(log=instance.log_url)
    stored = UPath(environment.store_root()) / "snapshots" / document["snapshot_id"] / "findings.json"
    base = str(conf.get("api", "base_url", fallback="") or "").rstrip("/")
    run = f"dags/{quote(instance.dag_id, safe='')}/runs/{quote(instance.run_id, safe='')}"
    report = f"{base}/{run}/plugin/{environment.REPORT_TAB}" if base else ""
    return alerts.Places(report=report, log=instance.log_url, stored=str(stored))
