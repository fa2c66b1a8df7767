"""The commands that audit: `run`, `snapshot`, `diff`. Each returns the exit code."""

import argparse
import secrets
import time
from dataclasses import replace

from kafka_audit import audit
from kafka_audit.cli import clusters, engines
from kafka_audit.cli.printing import console, difference, rendering
from kafka_audit.model.cluster import Cluster
from kafka_audit.model.errors import UsageError
from kafka_audit.model.read_failure import ReadFailure
from kafka_audit.model.report import Report
from kafka_audit.model.text import clean, counted
from kafka_audit.report import gate
from kafka_audit.report.digest import read_digests
from kafka_audit.report.html import timeline
from kafka_audit.store import Store
from kafka_audit.store.history import History
from kafka_audit.store.manifest import cluster_of


def compare_stored_reports(root: str, before: str, after: str) -> timeline.Comparison:
    """Compare the reports of two snapshots of a store.

    Args:
        root: of the store.
        before: the earlier snapshot.
        after: the later one.

    Raises:
        UsageError: one is no snapshot or has no report, they are of two clusters, or the first one is not the earlier one.
        SnapshotError: this version cannot show one of the reports.
    """
    history, cluster = History(root), cluster_of(after)
    for snapshot_id in (before, after):
        if cluster_of(snapshot_id) is None:
            msg = f"{clean(snapshot_id)!r} is not the id of a snapshot, such as 20260131T080000Z-prod-1a2b"
            raise UsageError(msg)
    if cluster_of(before) != cluster:
        msg = f"{clean(before)} and {clean(after)} are snapshots of two clusters"
        raise UsageError(msg)
    if before >= after:  # an id begins with the time
        msg = f"{clean(before)} is not older than {clean(after)}; name the earlier snapshot first"
        raise UsageError(msg)
    then, now = _report(history, before, root), _report(history, after, root)
    between = sorted(snapshot_id for snapshot_id in history.snapshots().get(cluster or "", ()) if before < snapshot_id <= after)
    return timeline.compare_reports(then, now, [*read_digests(history, between)])


def _report(history: History, snapshot_id: str, root: str) -> Report:
    document = history.report(snapshot_id)
    if document is None:
        msg = f"snapshot {clean(snapshot_id)} has no report in {root}; without --reports the command creates it"
        raise UsageError(msg)
    return document


def comparison_text(before: str, after: str, comparison: timeline.Comparison, *, color: bool, width: int) -> str:
    """Return the comparison as text; every string that a cluster supplied is cleaned."""
    lines = [f"{cluster_of(after)}: {before} -> {after}, by their reports"]
    lines += ["", difference.strong(counted(len(comparison.facts), "change"), color=color)]
    facts = [tuple(map(clean, fact)) for fact in comparison.facts]
    lines += [f"  {fact}  {then or '-'} -> {now or '-'}" for fact, then, now in facts]
    for life, title in difference.LIVES:
        found, number = comparison.became[life], comparison.counts[life]
        if found:
            lines += ["", difference.strong(f"{title} ({number})", color=color)]
            for change in sorted(found, key=_worst_first):
                lines += difference.finding_lines(change.finding, life, width)
        if number > len(found):
            lines.append(f"  {counted(number - len(found), 'more')} not listed")
    if not any(comparison.counts.values()):
        lines += ["", "No failures in either report."]
    lines += ["", *map(clean, comparison.notes)] if comparison.notes else []
    return "\n".join(lines)


def _worst_first(change: timeline.Became) -> tuple[int, str, str]:
    return difference.severity_key(change.finding)


def asked_no_broker(document: Report) -> bool:
    """Return whether nothing answered, or only controllers and listeners that require a login did."""
    found = document.coverage
    others = any(read.reason in {ReadFailure.A_CONTROLLER.name, ReadFailure.LOGIN_WANTED.name} for read in found.unknown)
    return not found.answered or (others and not document.views.columns)


_COMPARED = 2  # the snapshot and the one before, which are judged and then reported


def run_command(arguments: argparse.Namespace) -> int:
    """Snapshot, compare, report, judge."""
    say = console.Progress(quiet=arguments.quiet)
    cluster, root = clusters.cluster_without_airflow(arguments), _store(arguments).root
    is_first = not has_answered(History(root), cluster.name)
    if arguments.save_config is not None:
        clusters.save_config(arguments, cluster)
    store, document = audit_and_report(arguments, say, arguments.baseline, show_all=arguments.all, first=is_first)
    for place in rendering.write_forms(store, document, arguments.format.files, newest=True):
        say(f"wrote {place}")
    if arguments.format.page == "json" or not is_first or not asked_no_broker(document):
        shown = document if arguments.cluster is not None else rendering.as_typed(document, arguments.typed)
        notice = rendering.another_port(document, History(root)) if asked_no_broker(document) else ""
        rendering.write_report(shown, arguments.format.page, full=arguments.all, notice=notice)
    else:
        rendering.write_not_audited(document, History(root))
        return gate.FAILED
    code, sentence = gate.evaluate_gate(document, arguments.fail_on, arguments.min_coverage)
    if arguments.cluster is None and arguments.save_config is None and is_first and not arguments.quiet:
        console.hint(clusters.what_a_file_adds(cluster))
    say(sentence)  # last: it is what a terminal shows after all the rest
    return code


def audit_and_report(  # noqa: PLR0913 -- what an audit is made of
    arguments: argparse.Namespace,
    say: console.Progress,
    baseline: str,
    *,
    show_all: bool = False,
    first: bool = False,
    topics: frozenset[str] | None = None,
) -> tuple[Store, Report]:
    """Snapshot a cluster, compare it with the baseline (an id, `latest` or `none`), write the report; return store and report.

    `topics`: those that a user asks about, of which more is read; the audit is for that question, and incidents do not count it.
    """
    cluster, store = replace(clusters.cluster_without_airflow(arguments), asked_topics=topics or frozenset()), _store(arguments)
    if baseline not in {"latest", "none"}:
        store.verify(baseline)  # report a wrong or damaged id now, not after the audit
    answer = engines.engine_of(arguments.engine)
    snapshot_id = _collect(cluster, store, say, first=first)
    baselines = None if baseline == "latest" else {snapshot_id: _id(baseline)}
    run_id = _run_id()
    described = {cluster.name: cluster}
    asked = audit.prepare_request(
        store, [snapshot_id], baselines, run_id, clusters=described, show_all=show_all, counts=topics is None
    )
    say(f"comparing with {asked.pairs[0].previous_snapshot_id or 'no snapshot: there is no earlier one'}")
    answer(store, run_id)
    say("writing the report")
    (document,) = audit.write_reports(store, run_id, described)
    return store, document


def snapshot_command(arguments: argparse.Namespace) -> int:
    """Store what a cluster says now, print the snapshot's id."""
    say = console.Progress(quiet=arguments.quiet)
    cluster, store = clusters.cluster_without_airflow(arguments), _store(arguments)
    console.write_result(_collect(cluster, store, say))
    return 0


def diff_command(arguments: argparse.Namespace) -> int:
    """Judge the later of two snapshots against the earlier one, print what changed."""
    if arguments.reports:
        return _diff_reports(arguments)
    say = console.Progress(quiet=arguments.quiet)
    store = Store(arguments.out, keep=_COMPARED)
    before, after = store.manifest(arguments.before), store.manifest(arguments.after)
    if before.started_ms >= after.started_ms:
        msg = f"{before.snapshot_id} is not older than {after.snapshot_id}; name the earlier snapshot first"
        raise UsageError(msg)
    described = clusters.clusters_if_any(arguments.config)
    answer = engines.engine_of(arguments.engine)
    run_id = _run_id()
    unjudged = [before.snapshot_id] if store.read_report(before.snapshot_id) is None else []
    asked = audit.prepare_request(
        store,
        [after.snapshot_id, *unjudged],
        {after.snapshot_id: before.snapshot_id},
        run_id,
        clusters=described,
    )
    if asked.pairs[0].previous_snapshot_id is None:
        msg = f"{after.snapshot_id} cannot be compared: it has no cluster id, because no party reported one"
        raise UsageError(msg)
    say(f"comparing {after.snapshot_id} with {before.snapshot_id}")
    answer(store, run_id)
    document = audit.write_reports(store, run_id, described, newest=False)[0]
    if arguments.format.page == "json":
        rendering.write_report(document, "json")
    else:
        console.write_result(difference.difference_text(document, color=console.has_color(), width=console.width()))
    return 0


def _diff_reports(arguments: argparse.Namespace) -> int:
    if arguments.format.page == "json":
        msg = "--reports prints text only; without it, --format json prints the report of the comparison"
        raise UsageError(msg)
    found = compare_stored_reports(arguments.out, arguments.before, arguments.after)
    color, width = console.has_color(), console.width()
    console.write_result(comparison_text(arguments.before, arguments.after, found, color=color, width=width))
    return 0


def _store(arguments: argparse.Namespace) -> Store:
    store = Store(arguments.out, keep=_COMPARED)
    store.prepare()
    return store


def has_answered(history: History, cluster: str) -> bool:
    """Return whether an audit of a cluster was ever answered, as far as the store knows: else its address may be wrong."""
    return any(digest.answered for digest in read_digests(history, list(history.snapshots().get(cluster, ()))))


def _collect(cluster: Cluster, store: Store, say: console.Progress, *, first: bool = False) -> str:
    snapshot_id = audit.publish_snapshot(cluster, store, say, first=first)
    say(f"snapshot {snapshot_id}")
    return snapshot_id


def _id(baseline: str) -> str | None:
    return None if baseline == "none" else baseline


def _run_id() -> str:
    return f"console-{audit.stamp(time.time())}-{secrets.token_hex(3)}"
