"""What `diff --reports` prints: two stored reports are compared without Spark, as the timeline of the page does."""

import contextlib
from collections.abc import Iterator

from kafka_audit.cli.printing import difference
from kafka_audit.model.errors import SnapshotError, UsageError
from kafka_audit.model.report import Report
from kafka_audit.model.text import clean, counted
from kafka_audit.report.digest import Digest, read_digest
from kafka_audit.report.html import timeline
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
    return timeline.compare_reports(then, now, [*_digests(history, between)])


def _report(history: History, snapshot_id: str, root: str) -> Report:
    document = history.report(snapshot_id)
    if document is None:
        msg = f"snapshot {clean(snapshot_id)} has no report in {root}; without --reports the command creates it"
        raise UsageError(msg)
    return document


def _digests(history: History, snapshot_ids: list[str]) -> Iterator[Digest]:
    for snapshot_id in snapshot_ids:
        written = history.written(snapshot_id)
        digest = None
        if written is not None:
            with contextlib.suppress(SnapshotError):  # what one in between changed is not known, and a note says so
                digest = read_digest(history, snapshot_id, written)
        if digest is not None:
            yield digest


def comparison_text(before: str, after: str, comparison: timeline.Comparison, *, color: bool) -> str:
    """Return the comparison as text; every string that a cluster supplied is cleaned."""
    lines = [f"{cluster_of(after)}: {before} -> {after}, by their reports"]
    lines += ["", difference.strong(counted(len(comparison.facts), "change"), color=color)]
    facts = [tuple(map(clean, fact)) for fact in comparison.facts]
    lines += [f"  {fact}  {then or '-'} -> {now or '-'}" for fact, then, now in facts]
    for life, title in difference.LIVES:
        found, number = comparison.became[life], comparison.counts[life]
        if found:
            lines += ["", difference.strong(f"{title} ({number})", color=color)]
            lines += [difference.finding_line(change.finding) for change in sorted(found, key=_worst_first)]
        if number > len(found):
            lines.append(f"  {counted(number - len(found), 'more')} not listed")
    if not any(comparison.counts.values()):
        lines += ["", "No failures in either report."]
    lines += ["", *map(clean, comparison.notes)] if comparison.notes else []
    return "\n".join(lines)


def _worst_first(change: timeline.Became) -> tuple[int, str, str]:
    return difference.severity_key(change.finding)
