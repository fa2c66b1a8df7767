"""From the end of a task to alerts: what the run audited, where to read on, and which channels get it.

What was sent is kept in the store, for each channel and cluster on its own; a channel that failed gets its messages with the next
audit.
"""

import hashlib
import logging
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import quote

from upath import UPath

from kafka_audit.airflow import environment, xcom_keys
from kafka_audit.airflow.alerts.failure_notes import failure_reason
from kafka_audit.airflow.errors import GateFailed
from kafka_audit.airflow.page import links
from kafka_audit.alerting import delivery
from kafka_audit.alerting.conditions import AlertLimits, AuditResult
from kafka_audit.alerting.delivery import Channel
from kafka_audit.alerting.messages import Links
from kafka_audit.alerting.shared_causes import RunTroubles
from kafka_audit.model.errors import StoreError, UsageError
from kafka_audit.model.report import Report
from kafka_audit.store import Store

log = logging.getLogger(__name__)

ALL_CLUSTERS = {links.DAG: "_audit", links.SUSPECTED: "_suspected"}
"""By DAG, the name of the dedupe state on its runs that audited no cluster; no cluster's name starts with an underscore."""


def send_alert(channel: Channel, context: Mapping[str, Any], *, failed: bool, alone: bool = False) -> None:
    """Send what the end of a task calls for, if the channel is set up. The context of a killed task has no exception.

    Args:
        channel: the channel.
        context: that of the callback.
        failed: whether the task failed.
        alone: whether the task is an audit of its own, and none of the DAG `kafka_audit`.

    Raises:
        UsageError: the connection lacks something; Airflow logs it with the task.
        Exception: one of the channel's `failures`.
    """
    if channel.target() is None:
        return
    limits, root, run = alert_limits(), environment.store_root(), None if alone else _run_troubles(context)
    if run is not None and max(context["ti"].map_index, 0) == 0:  # one gate for all
        of_run = Links(report=_run_page(context), log=context["ti"].log_url)
        delivery.deliver_shared(channel, run, of_run, limits=limits, store_root=root)
    for scope, result in (_result_alone if alone else _results)(context, failed=failed):
        where = _links(context, result, alone=alone)
        delivery.deliver(channel, scope, result, where, limits=limits, store_root=root, run=run)


def _run_troubles(context: Mapping[str, Any]) -> RunTroubles | None:
    """Return what the clusters of this run have; None where it came to no report, or has one of an earlier version."""
    instance = context["ti"]
    run = instance.xcom_pull(task_ids="compare") if instance.task_id == "gate" else None
    try:
        text = None if run is None else Store(environment.store_root()).read_troubles(run)
        return None if text is None else RunTroubles.from_json(text)
    except (StoreError, ValueError) as error:
        log.warning("each cluster is alerted on its own: %s", error)
        return None


def send_to_each(channels: Iterable[Channel], context: Mapping[str, Any], *, failed: bool, alone: bool = False) -> None:
    """Do as `send_alert` for several channels; the first that fails must not keep the others from being tried.

    Raises:
        ExceptionGroup: of what did not go out.
    """
    errors: list[Exception] = []
    for channel in channels:
        failures: tuple[type[Exception], ...] = (UsageError, *channel.failures)
        try:
            send_alert(channel, context, failed=failed, alone=alone)
        except failures as error:
            errors.append(error)
    if errors:
        msg = "alerts were not delivered"
        raise ExceptionGroup(msg, errors)


def alert_limits() -> AlertLimits:
    """Return the limits of this deployment, or the default ones if a variable is wrong."""
    try:
        return AlertLimits(fail_on=environment.fail_on(), min_coverage=environment.min_coverage(), remind=environment.remind())
    except UsageError as error:  # the gate failed for it, and says so
        log.warning("the default limits are used: %s", error)
        return AlertLimits()


def _results(context: Mapping[str, Any], *, failed: bool) -> list[tuple[str, AuditResult]]:
    """Return what was audited, by name of its dedupe state; one gate represents all clusters if none was audited."""
    instance, exception = context["ti"], context.get("exception")
    of_all = ALL_CLUSTERS[instance.dag_id]
    why = failure_reason(context) if failed else ""
    names = instance.xcom_pull(task_ids="clusters") if instance.task_id == "gate" else None
    if not names:
        return [(of_all, AuditResult(cluster=instance.dag_id, why=why))]
    index = max(instance.map_index, 0)
    judged = instance.xcom_pull(task_ids="report")
    results: list[tuple[str, AuditResult]] = []
    if index == 0:
        results.append((of_all, AuditResult(cluster=instance.dag_id, why="" if judged or len(names) == 1 else why)))
    if judged or len(names) == 1:
        has_report = not failed or isinstance(exception, GateFailed)
        document = _report((judged or {}).get(names[index])) if has_report else None
        results.append((names[index], AuditResult(cluster=names[index], document=document, why="" if document else why)))
    return results


def _result_alone(context: Mapping[str, Any], *, failed: bool) -> list[tuple[str, AuditResult]]:
    """Return what a task audited, by name of its dedupe state: the cluster, else the task where it came to none."""
    instance = context["ti"]
    why = failure_reason(context) if failed else ""
    left = instance.xcom_pull(task_ids=instance.task_id, key=xcom_keys.AUDIT, map_indexes=instance.map_index) or {}
    task = f"{instance.dag_id}.{instance.task_id}"
    scope = f"_task-{hashlib.sha256(f'{task} {instance.map_index}'.encode()).hexdigest()[:16]}"
    if "cluster" not in left:
        return [(scope, AuditResult(cluster=task, why=why))]
    has_report = not failed or isinstance(context.get("exception"), GateFailed)
    document = _report(left.get("snapshot_id")) if has_report else None
    audited = left["cluster"], AuditResult(cluster=left["cluster"], document=document, why="" if document else why)
    return [(scope, AuditResult(cluster=task)), audited] if document else [audited]


def _report(snapshot_id: str | None) -> Report | None:
    return None if snapshot_id is None else Store(environment.store_root()).read_report(snapshot_id)


def _links(context: Mapping[str, Any], result: AuditResult, *, alone: bool) -> Links:
    instance, document = context["ti"], result.document
    if document is None:
        return Links(log=instance.log_url)
    stored = UPath(environment.store_root()) / "snapshots" / document.snapshot_id  # its report is compressed after a day
    page = links.snapshot_page(document.snapshot_id) if alone else _run_page(context)
    return Links(report=page, log=instance.log_url, stored=str(stored))


def _run_page(context: Mapping[str, Any]) -> str:
    """Return the address of the page of this run; empty where nothing says where Airflow is."""
    instance = context["ti"]
    base = links.base_url()
    run = f"dags/{quote(instance.dag_id, safe='')}/runs/{quote(instance.run_id, safe='')}"
    return f"{base}/{run}/plugin/{environment.REPORT_TAB}" if base else ""
