"""Snapshots side by side: a column each, a lane for each incident and each check, and what changed between any two of them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kafka_audit.model.finding import Severity, Status
from kafka_audit.model.report import Report, ReportedFinding, ReportedViews
from kafka_audit.model.text import clean, counted
from kafka_audit.report.digest import Digest
from kafka_audit.report.state import INCIDENT, UNJUDGED

COLUMNS = 14
"""Snapshots that are shown at once; older ones are a page away."""

_MOST_LISTED = 300


@dataclass(frozen=True, kw_only=True)
class TimelineRow:
    """One lane: a number for each snapshot, None where its check found nothing, -1 where it was not known."""

    code: str
    incident: bool
    severity: Severity
    name: str
    numbers: tuple[int | None, ...]


@dataclass(frozen=True, kw_only=True)
class Became:
    """A finding of A or B, and what became of it from A to B."""

    lifecycle: str
    finding: ReportedFinding
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """What differs between two reports: facts as (what, before, after), findings by lifecycle, and how sure that is."""

    facts: tuple[tuple[str, str, str], ...]
    same_facts: int
    became: Mapping[str, tuple[Became, ...]]
    counts: Mapping[str, int]
    notes: tuple[str, ...]


def timeline_rows(digests: Sequence[Digest]) -> list[TimelineRow]:
    """Return the lanes of these snapshots, oldest first: incidents first, then by severity."""
    keys: dict[tuple[str, bool], list[Any]] = {}
    for digest in digests:
        for lane in digest.lanes:
            keys.setdefault((lane.code, lane.incident), []).append(lane)
    rows = []
    for (code, incident), lanes in keys.items():
        rows.append(
            TimelineRow(
                code=code,
                incident=incident,
                severity=max(Severity[lane.severity] for lane in lanes),
                name=lanes[-1].name,
                numbers=tuple(_number(digest, code, incident=incident) for digest in digests),
            )
        )
    return sorted(rows, key=lambda row: (not row.incident, -row.severity, row.code))


def _number(digest: Digest, code: str, *, incident: bool) -> int | None:
    number = sum(lane.number for lane in digest.lanes if (lane.code, lane.incident) == (code, incident))
    if number:
        return number
    return -1 if digest.results.get(code, {}).get(Status.UNKNOWN) else None


def headline(digests: Sequence[Digest]) -> str:
    """Return the answer in one line; `digests` are oldest first."""
    newest = digests[-1]
    since = newest
    for digest in reversed(digests):
        if digest.state.group != newest.state.group:
            break
        since = digest
    from_first = since is digests[0] and len(digests) > 1
    when = f"{'at least ' if from_first else ''}{_day(since.finished_at)}"
    if newest.state.group == INCIDENT:
        return f"Broken since {when}: {newest.state.sentence}"
    if newest.state.group == UNJUDGED:
        return f"Not judged since {when}: too few reads were answered"
    return f"No incident since {when}"


def _day(at: str | None) -> str:
    return f"{at[:10]} {at[11:16]} UTC" if at else "an unknown time"


def compare_reports(before: Report, after: Report, chain: Sequence[Digest]) -> Comparison:
    """Compare two reports of one cluster.

    Args:
        before: the earlier report.
        after: the later one.
        chain: digests of the snapshots after `before` up to `after`, oldest first: their changes add up.
    """
    became: dict[str, list[Became]] = {"new": [], "ongoing": [], "resolved": [], "incomparable": []}
    for change in _became(before, after):
        became[change.lifecycle].append(change)
    facts = [*_facts(before, after), *_added_up(chain)]
    differing = [(what, a, b) for what, a, b in facts if a != b]
    return Comparison(
        facts=tuple(differing[:_MOST_LISTED]),
        same_facts=len(facts) - len(differing),
        became={life: tuple(changes[:_MOST_LISTED]) for life, changes in became.items()},
        counts={life: len(changes) for life, changes in became.items()},
        notes=tuple(_notes(before, after, chain, differing)),
    )


def _became(before: Report, after: Report) -> Iterator[Became]:
    then = {f.fingerprint: f for f in before.findings}
    now = {f.fingerprint: f for f in after.findings}
    unjudged = {f.code for f in after.findings if f.status == "UNKNOWN" and f.resource.name == "cluster"}
    for fingerprint, finding in now.items():
        earlier = then.get(fingerprint)
        failed = earlier is not None and earlier.status == "FAIL"
        if finding.status == "FAIL":
            note = "unknown before" if earlier is not None and earlier.status == "UNKNOWN" else ""
            yield Became(lifecycle="ongoing" if failed else "new", finding=finding, note=note)
        elif failed:
            over = finding.status != "UNKNOWN"
            yield Became(lifecycle="resolved" if over else "incomparable", finding=earlier or finding)
    for fingerprint, finding in then.items():
        if finding.status == "FAIL" and fingerprint not in now:
            # A check that was not known as a whole says nothing of each place where it failed.
            yield Became(lifecycle="incomparable" if finding.code in unjudged else "resolved", finding=finding)


def _facts(before: Report, after: Report) -> Iterator[tuple[str, str, str]]:
    yield "controller", _text(before.matrix.controller), _text(after.matrix.controller)
    then, now = before.matrix.endpoints, after.matrix.endpoints
    for broker in sorted({*then, *now}, key=lambda name: (len(name), name)):
        yield f"broker {broker}, advertised addresses", clean(then.get(broker, "absent")), clean(now.get(broker, "absent"))
    yield "reads answered", _reads(before), _reads(after)
    known = [row for row in (before, after) if row.views.columns]
    if len(known) == 2:  # noqa: PLR2004 -- both
        yield from _views(before.views, after.views)


def _views(before: ReportedViews, after: ReportedViews) -> Iterator[tuple[str, str, str]]:
    then, now = _by_observer(before), _by_observer(after)
    for observer in {**then, **now}:
        name = "ZooKeeper" if observer == "zookeeper" else observer
        yield f"{name}, view", then.get(observer, "not read"), now.get(observer, "not read")


def _by_observer(views: ReportedViews) -> dict[str, str]:
    wanted = ("brokers", "topics", "controller", "partitions with a leader")
    found = {}
    for column in views.columns:
        cells = dict(zip(views.rows, column.values, strict=False))
        text = ", ".join(f"{question} {clean(cells[question], 60)}" for question in wanted if question in cells)
        found.update({clean(observer, 60): text for observer in column.observers})
    return found


def _added_up(chain: Sequence[Digest]) -> Iterator[tuple[str, str, str]]:
    """Yield each change from its first value to its last; addresses and controllers are compared themselves."""
    found: dict[tuple[str, str], list[str]] = {}
    for digest in chain:
        for change in digest.changes:
            if change.kind not in {"endpoint", "controller"}:
                key = (clean(change.kind).replace("_", " "), clean(change.resource))
                found.setdefault(key, [_text(change.before), ""])[1] = _text(change.after)
    yield from ((f"{kind}: {resource}", a, b) for (kind, resource), (a, b) in found.items())


def _notes(before: Report, after: Report, chain: Sequence[Digest], differing: Sequence[object]) -> Iterator[str]:
    linked = before.snapshot_id
    for digest in chain:
        if digest.previous_snapshot_id != linked:
            yield "Some snapshots in between were compared with other snapshots, so this list may be incomplete."
            break
        linked = digest.snapshot_id
    omitted = sum(digest.changes_omitted for digest in chain)
    if omitted or len(differing) > _MOST_LISTED:
        yield f"{counted(omitted + max(len(differing) - _MOST_LISTED, 0), 'more change')} are not listed here."
    if before.cluster_id != after.cluster_id:
        yield "The cluster ids differ, so findings cannot be compared."


def _reads(document: Report) -> str:
    return f"{document.coverage.answered} of {document.coverage.asked}"


def _text(value: object) -> str:
    return "none" if value is None else clean(value)
