"""What the tasks of the DAGs before and after a migration do."""

import logging
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from kafka_audit import audit, settings
from kafka_audit.airflow import environment
from kafka_audit.airflow.connections import cluster_connection
from kafka_audit.airflow.moved import AirflowFailException
from kafka_audit.airflow.tasks import audit_tasks, proposed_files
from kafka_audit.migration import after, approval_text, before, plain_text, proposed_listeners
from kafka_audit.migration import plan as plans
from kafka_audit.migration.plan import Plan
from kafka_audit.model.report import Report
from kafka_audit.model.text import our_line
from kafka_audit.report import verdicts
from kafka_audit.store import Store
from kafka_audit.store.baselines import COMPARISONS, DECISIONS, Baselines

log = logging.getLogger(__name__)
WIDTH = 100


def planned(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return the plan that a form describes; raises `UsageError` before anything is asked of the cluster."""
    (name,) = audit_tasks.cluster_names(params["cluster"])
    made = plans.plan(
        params["kind"],
        node_ids=[part for part in (params["node_ids"] or "").split(",") if part.strip()],
        proposed=params["proposed"] or (),
        advertised=params["advertised"] or (),
        version=params["kafka_version"] or None,
        oldest_client=params["oldest_client"] or None,
        vantages=params["vantages"] or (),
        strict=params["strict"],
    )
    proposed_listeners.check_plan(_with_files(made), settings.load(environment.clusters_file())[name])
    return made.as_dict()


def decide(cluster: str, judged: Mapping[str, str], planned: dict[str, Any]) -> dict[str, str]:
    """Decide whether the change may begin, and log the report.

    Returns:
        Subject and body of the approval, in Markdown.

    Raises:
        AirflowFailException: no-go.
    """
    store = Store(environment.store_root())
    document = _report(store, judged[cluster])
    # Names are held against the folder again: hours may have passed, and an XCom is not the form.
    plan, view = _with_files(Plan.from_dict(planned)), audit.judged_view(store, judged[cluster])
    described, passwords = cluster_connection.with_airflow_connection(settings.load(environment.clusters_file())[cluster])
    tried = proposed_listeners.probe_proposed_listeners(plan, view, described, passwords, log.info)
    report = _without_root(before.report_before_change(document, view, plan, tried, datetime.now(UTC)))
    place = Baselines(store.root, DECISIONS).keep(report)
    log.info("%s\n%s", place, plain_text.before_change_text(report, width=WIDTH))
    if report["verdict"] == verdicts.NO_GO:
        raise AirflowFailException(report["headline"])
    return {"subject": f"{report['headline']}. Begin?", "body": approval_text.approval_body(report)}


def _report(store: Store, snapshot_id: str) -> Report:
    report = store.read_report(snapshot_id)
    if report is None:
        msg = f"the store has no report on snapshot {snapshot_id}"
        raise AirflowFailException(msg)
    return report


def _with_files(plan: Plan) -> Plan:
    return replace(plan, proposed=proposed_files.arguments(plan.proposed))


def _without_root(reported: Any) -> Any:  # noqa: ANN401 -- JSON
    """Return a report that names proposed files as the form does: its readers need not know the worker's folders."""
    if isinstance(reported, dict):
        return {key: _without_root(value) for key, value in reported.items()}
    if isinstance(reported, list):
        return [_without_root(value) for value in reported]
    return reported.replace(f"{environment.proposed_root()}/", "") if isinstance(reported, str) else reported


def keep(cluster: str, judged: Mapping[str, str]) -> str:
    """Keep an approved snapshot as baseline; returns its id."""
    root = environment.store_root()
    report = Baselines(root, DECISIONS).find(cluster, judged[cluster])
    log.info("baseline %s", Baselines(root).keep(report))
    return judged[cluster]


def baseline(cluster: str, wanted: str | None) -> str:
    """Return the snapshot to compare with; raises `UsageError` where there is none."""
    audit_tasks.cluster_names(cluster)
    found: str = Baselines(environment.store_root()).find(cluster, wanted)["snapshot_id"]
    return found


def differ(cluster: str, judged: Mapping[str, str], baseline_id: str) -> None:
    """Log what changed since the baseline.

    Raises:
        AirflowFailException: something changed that was not meant to, fails now, was not done, or could not be seen.
    """
    store = Store(environment.store_root())
    kept = Baselines(store.root).find(cluster, baseline_id)
    document = _report(store, judged[cluster])
    snapshots = store.read(baseline_id), store.read(judged[cluster])
    report = after.report_after_change(document, *snapshots, kept, datetime.now(UTC))
    log.info("%s\n%s", Baselines(store.root, COMPARISONS).keep(report), plain_text.after_change_text(report, width=WIDTH))
    if report["verdict"] != verdicts.AS_EXPECTED:
        raise AirflowFailException(our_line(report["headline"], 500))
