"""A report in a few hundred bytes: what overview and timeline show of each snapshot, and no finding of thousands.

It is written beside the report (`findings.digest.json`), so that a page over weeks of audits reads none of them.
"""

import contextlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, Literal

import msgspec
from msgspec import Struct

from kafka_audit.model.errors import SnapshotError
from kafka_audit.model.finding import Resource, Severity, SeverityName, Status
from kafka_audit.model.report import Count, EarlierIncident, Report, ReportedFinding, ReportedIncident
from kafka_audit.model.text import clean, our_line
from kafka_audit.report.state import Basis, CheckState, basis, state_of_basis
from kafka_audit.store import reports
from kafka_audit.store.history import History
from kafka_audit.store.manifest import is_of_future

VERSION: Final = 4
"""Of the form in which a digest is stored; another one is passed over, and the report itself is read."""

MOST_OPEN, MOST_PLACES, LONGEST_PLACE = 100, 50, 260
"""Incidents that are kept of each snapshot, places of each, and characters of a place: Kafka's names have 249 at most."""

MOST_CHANGES = 500
"""Changes that are kept of each snapshot; a comparison says when there were more."""


class Lane(Struct, frozen=True, kw_only=True):
    """What one snapshot has in one lane of the timeline: an incident by its cause, or the findings of one check beside it.

    `name` is that of the check, in words.
    """

    code: str
    incident: bool
    severity: SeverityName
    name: str
    number: Count


class OpenIncident(Struct, frozen=True, kw_only=True):
    """An incident that is open, or could not be judged: since when, and its findings, as far as there are some.

    `places` has the brokers, topics or other parties of each code, at most `MOST_PLACES`.
    """

    cause: str
    headline: str
    since: str | None
    places: Mapping[str, tuple[str, ...]]


class ChangedFact(Struct, frozen=True, kw_only=True):
    """A change of a report, its texts in short."""

    kind: str
    resource: str
    before: str | None
    after: str | None


class Digest(Struct, frozen=True, kw_only=True):
    """One report, condensed; times are ISO 8601 in UTC or None.

    `results` holds by code and status how many there are. `min_coverage` is the reader's and not stored.
    """

    version: Literal[4] = VERSION
    snapshot_id: str
    previous_snapshot_id: str | None
    cluster: str
    finished_at: str | None
    asked: Count
    answered: Count
    unknown: Count
    brokers: Count
    mode: str | None
    basis: Basis
    min_coverage: float = 1.0
    confidence: str
    lanes: tuple[Lane, ...]
    unresolved: tuple[OpenIncident, ...]
    unresolved_omitted: Count
    results: Mapping[str, Mapping[Status, Count]]
    changes: tuple[ChangedFact, ...]
    changes_omitted: Count

    @property
    def state(self) -> CheckState:
        """What the report comes down to, for a reader who asks for that much coverage."""
        return state_of_basis(self.basis, self.min_coverage)


def digest_text(document: Report) -> str:
    """Return the digest of a report as it is stored: the same for every reader."""
    row = msgspec.to_builtins(condense(document))
    del row["min_coverage"]
    return json.dumps(row) + "\n"


def restored(row: Mapping[str, Any], snapshot_id: str, min_coverage: float) -> Digest | None:
    """Return a digest that was stored, None for anything else."""
    try:
        found = msgspec.convert({**row, "min_coverage": min_coverage}, Digest)
    except msgspec.ValidationError:
        return None
    return found if found.snapshot_id == snapshot_id and "version" in row and reports.are_past(found.finished_at) else None


def read_digest(history: History, snapshot_id: str, written: datetime, min_coverage: float = 1.0) -> Digest | None:
    """Return the digest of a stored report: the one that is stored beside it, else made of the report; None without a report.

    Args:
        history: the reports of a store.
        snapshot_id: of a snapshot.
        written: when its report was written.
        min_coverage: as `Digest.state` needs it.

    Raises:
        SnapshotError: this version cannot show the report, or it has a time in the future.
    """
    if is_of_future(snapshot_id):
        msg = f"{snapshot_id} was taken in the future; correct the clock of the host that audits, and remove the snapshot"
        raise SnapshotError(msg)
    stored = history.digest(snapshot_id, written)
    digest = restored(stored, snapshot_id, min_coverage) if stored else None
    if digest is not None:
        return digest
    document = history.report(snapshot_id)
    return None if document is None else condense(document, min_coverage)


def read_digests(history: History, snapshot_ids: Iterable[str]) -> Iterator[Digest]:
    """Yield the digests of those snapshots that have one; what this version cannot show is passed over."""
    for snapshot_id in snapshot_ids:
        written = history.written(snapshot_id)
        with contextlib.suppress(SnapshotError):
            digest = None if written is None else read_digest(history, snapshot_id, written)
            if digest is not None:
                yield digest


def condense(document: Report, min_coverage: float = 1.0) -> Digest:
    """Return the digest of a `findings.json`."""
    incidents = document.incidents
    results: dict[str, Counter[Status]] = {}
    for finding in document.findings:
        if not (finding.status is Status.FAIL and finding.muted):
            results.setdefault(finding.code, Counter())[finding.status] += 1
    return Digest(
        snapshot_id=document.snapshot_id,
        previous_snapshot_id=document.previous_snapshot_id,
        cluster=document.cluster,
        finished_at=document.finished_at,
        asked=document.coverage.asked,
        answered=document.coverage.answered,
        unknown=document.counts.UNKNOWN,
        brokers=len(document.matrix.brokers),
        mode=document.mode,
        basis=basis(document),
        min_coverage=min_coverage,
        confidence=incidents[0].confidence if incidents else "",
        lanes=tuple(_lanes(document)),
        unresolved=open_incidents(document)[:MOST_OPEN],
        unresolved_omitted=max(len(document.unresolved) - MOST_OPEN, 0),
        results={code: dict(counts) for code, counts in results.items()},
        changes=tuple(
            ChangedFact(
                kind=clean(change.kind),
                resource=clean(change.resource),
                before=None if change.before is None else clean(change.before),
                after=None if change.after is None else clean(change.after),
            )
            for change in document.changes[:MOST_CHANGES]
        ),
        changes_omitted=document.changes_omitted + max(len(document.changes) - MOST_CHANGES, 0),
    )


def open_incidents(document: Report) -> tuple[OpenIncident, ...]:
    """Return the incidents of a report that are not resolved, in its order."""
    names = {finding.fingerprint: (finding.code, finding.resource.name) for finding in document.findings}
    return tuple(
        OpenIncident(
            cause=one.cause,
            headline=our_line(one.headline),
            since=one.first_seen or document.finished_at,
            places=_places(names[each] for each in dict.fromkeys((*one.findings, *_explained(one))) if each in names),
        )
        for one in document.unresolved
    )


def _explained(incident: ReportedIncident | EarlierIncident) -> Sequence[str]:
    return incident.explains if isinstance(incident, ReportedIncident) else ()


def _places(found: Iterable[tuple[str, str]]) -> Mapping[str, tuple[str, ...]]:
    by_code: dict[str, set[str]] = {}
    for code, name in found:
        by_code.setdefault(code, set()).add(our_line(Resource.of(name).root, LONGEST_PLACE))
    return {code: tuple(sorted(places)[:MOST_PLACES]) for code, places in by_code.items()}


def _lanes(document: Report) -> list[Lane]:
    names = {f.code: f.name.replace("_", " ") for f in document.findings}
    lanes: dict[str, Lane] = {}
    explained: set[str] = set()
    for incident in document.incidents:
        explained.update(incident.inside)
        cause, before = incident.cause, lanes.get(incident.cause)
        lanes[cause] = Lane(
            code=cause,
            incident=True,
            severity=before.severity if before else incident.severity,
            name=names.get(cause, ""),
            number=len(incident.inside) + (before.number if before else 0),
        )
    alone: dict[str, list[ReportedFinding]] = {}
    for finding in document.findings:
        if finding.status == "FAIL" and not finding.muted and finding.fingerprint not in explained:
            alone.setdefault(finding.code, []).append(finding)
    found = [*lanes.values()]
    for code, findings in alone.items():
        found.append(
            Lane(
                code=code,
                incident=False,
                severity=max(Severity[f.severity] for f in findings).word,
                name=names[code],
                number=len(findings),
            )
        )
    return found
