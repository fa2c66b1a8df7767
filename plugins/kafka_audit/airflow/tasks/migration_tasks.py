"""What the tasks of the DAGs around a migration do, and the files below one folder of the worker that their form proposes."""

import glob
import itertools
import logging
import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import Any

from kafka_audit import audit, settings
from kafka_audit.airflow import environment
from kafka_audit.airflow.connections import cluster_connection
from kafka_audit.airflow.moved import AirflowFailException
from kafka_audit.airflow.tasks import audit_tasks
from kafka_audit.migration import after, before, plain_text, proposed_listeners
from kafka_audit.migration import plan as plans
from kafka_audit.migration.plan import Plan
from kafka_audit.model.errors import UsageError
from kafka_audit.model.report import Report
from kafka_audit.model.text import clean, our_line
from kafka_audit.report import verdicts
from kafka_audit.store import Store
from kafka_audit.store.baselines import COMPARISONS, DECISIONS, Baselines

MOST_FILES = 2_000
MOST_BYTES = 100 * 1024 * 1024
"""Of all that lies below what a line names; a cluster's files are a few hundred of a few kB."""

_MOST_PATTERNS = 4
_UNUSUAL = ("\\", "\0", "://")


def arguments(lines: Iterable[str]) -> tuple[str, ...]:
    """Return what `lint` is to read for each line: an absolute path or pattern, below which no link leads out of the folder.

    Raises:
        UsageError: a line names something else, or too much.
    """
    return tuple(_argument(line) for line in lines)


def _argument(line: str) -> str:
    root = Path(environment.proposed_root())
    if not root.is_dir():
        way_out = "create it on the worker, or set another folder, and copy the proposed files there"
        msg = f"KAFKA_AUDIT_PROPOSED_ROOT: folder {root} does not exist; {way_out}"
        raise UsageError(msg)
    parts = _parts(line, root)
    patterns = [number for number, part in enumerate(parts) if glob.has_magic(part)]
    if "**" in parts or len(patterns) > _MOST_PATTERNS:
        msg = f"proposed files: {clean(line)!r} matches too much; name a folder to read all files below it"
        raise UsageError(msg)
    _require_within(line, root, root.joinpath(*parts[: patterns[0]] if patterns else parts))
    return str(root.joinpath(*parts))


def _parts(line: str, root: Path) -> tuple[str, ...]:
    """Return a line's parts below the root; no file is looked at."""
    path = PurePosixPath(line)
    if not line.strip() or line.startswith("~") or ".." in path.parts or any(text in line for text in _UNUSUAL):
        raise _outside(line)
    if not path.is_absolute():
        return path.parts
    for folder in (root, root.resolve()):
        if path.is_relative_to(folder):
            return path.relative_to(folder).parts
    raise _outside(line)


def _require_within(line: str, root: Path, start: Path) -> None:
    """Raise unless all that a path leads to, links followed, lies below the root and is no more than `lint` should read."""
    inside, size = Path(os.path.realpath(root)), 0
    left, known = [start], set[Path]()
    while left:
        path = Path(os.path.realpath(left.pop()))  # unlike Path.resolve it takes a loop of links for a name
        if not path.is_relative_to(inside):
            raise _outside(line)
        if path in known:
            continue
        known.add(path)
        if path.is_dir():
            left += _entries(path, MOST_FILES - len(known) - len(left))
        elif path.is_file():
            size += path.stat().st_size
        if len(known) + len(left) > MOST_FILES or size > MOST_BYTES:
            most = f"{MOST_FILES} files or {MOST_BYTES // 1024**2} MB"
            msg = f"proposed files: {clean(line)!r} matches more than {most}; name a smaller folder"
            raise UsageError(msg)


def _entries(folder: Path, most: int) -> list[Path]:
    """Return what is in a folder, at most one more than `most`."""
    try:
        with os.scandir(folder) as entries:
            return [Path(entry.path) for entry in itertools.islice(entries, max(most, 0) + 1)]
    except OSError as error:
        msg = f"proposed files: a folder below KAFKA_AUDIT_PROPOSED_ROOT cannot be read: {error.strerror}"
        raise UsageError(msg) from None


def _outside(line: str) -> UsageError:
    way_out = "name files, folders or patterns in that folder"
    return UsageError(f"proposed files: {clean(line)!r} is not a name below KAFKA_AUDIT_PROPOSED_ROOT; {way_out}")


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
    return {"subject": f"{report['headline']}. Begin?", "body": plain_text.approval_body(report)}


def _report(store: Store, snapshot_id: str) -> Report:
    report = store.read_report(snapshot_id)
    if report is None:
        msg = f"the store has no report on snapshot {snapshot_id}"
        raise AirflowFailException(msg)
    return report


def _with_files(plan: Plan) -> Plan:
    return replace(plan, proposed=arguments(plan.proposed))


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
