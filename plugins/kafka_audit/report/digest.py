"""A report in a few hundred bytes: what overview and timeline show of each snapshot, and no finding of thousands.

It is written beside the report (`findings.digest.json`), so that a page over weeks of audits reads none of them.
"""

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from kafka_audit.model.errors import SnapshotError
from kafka_audit.model.finding import Severity
from kafka_audit.model.text import clean
from kafka_audit.report.inside import inside
from kafka_audit.report.state import Basis, CheckState, basis, state_of_basis
from kafka_audit.store import reports
from kafka_audit.store.history import History
from kafka_audit.store.manifest import is_of_future

VERSION = 2
"""Of the form in which a digest is stored; another one is passed over, and the report itself is read."""

MOST_CHANGES = 500
"""Changes that are kept of each snapshot; a comparison says when there were more."""


@dataclass(frozen=True, kw_only=True)
class Lane:
    """What one snapshot has in one lane of the timeline: an incident by its cause, or the findings of one check beside it."""

    code: str
    incident: bool
    severity: Severity
    name: str  # of the check, in words
    number: int


@dataclass(frozen=True, kw_only=True)
class Digest:
    """One report, condensed; times are ISO 8601 in UTC or None."""

    snapshot_id: str
    previous_snapshot_id: str | None
    cluster: str
    finished_at: str | None
    asked: int
    answered: int
    unknown: int
    brokers: int
    mode: str | None
    basis: Basis
    min_coverage: float
    confidence: str
    lanes: tuple[Lane, ...]
    results: Mapping[str, Mapping[str, int]]  # by code, by status: how many
    changes: tuple[Mapping[str, Any], ...]
    changes_omitted: int

    @property
    def state(self) -> CheckState:
        """What the report comes down to, for a reader who asks for that much coverage."""
        return state_of_basis(self.basis, self.min_coverage)


def digest_text(document: Mapping[str, Any]) -> str:
    """Return the digest of a `findings.json` as it is stored: the same for every reader."""
    digest = condense(document)
    lanes = [asdict(lane) | {"severity": lane.severity.name} for lane in digest.lanes]
    row = asdict(digest) | {"version": VERSION, "lanes": lanes}
    return json.dumps({key: value for key, value in row.items() if key != "min_coverage"}) + "\n"


def restored(row: Mapping[str, Any], snapshot_id: str, min_coverage: float) -> Digest | None:
    """Return a digest that was stored, None for anything else."""
    try:
        if row["version"] != VERSION or row["snapshot_id"] != snapshot_id:
            return None
        values = {key: value for key, value in row.items() if key != "version"}
        lanes = tuple(Lane(**lane | {"severity": Severity[lane["severity"]]}) for lane in row["lanes"])
        own = {"lanes": lanes, "basis": Basis(**row["basis"]), "changes": tuple(row["changes"]), "min_coverage": min_coverage}
        found = Digest(**values | own)
        _require_whole(found)
    except _NO_DIGEST:
        return None
    return found


_NO_DIGEST = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError)
_LARGEST = 2**53


def _require_whole(digest: Digest) -> None:
    """Raise one of `_NO_DIGEST` where a page could not show a digest: its page shows many clusters."""
    about, basis = digest, digest.basis
    lanes, changes = digest.lanes, digest.changes
    numbers = [about.asked, about.answered, about.unknown, about.brokers, about.changes_omitted]
    numbers += [basis.asked, basis.answered, basis.incidents, basis.failed, *(lane.number for lane in lanes)]
    numbers += [number for counts in digest.results.values() for number in counts.values()]
    texts = [about.snapshot_id, about.cluster, about.confidence, basis.headline, basis.lifecycle, basis.worst, *digest.results]
    texts += [text for lane in lanes for text in (lane.code, lane.name)]
    texts += [text for change in changes for text in (change["kind"], change["resource"])]
    maybe = [about.previous_snapshot_id, about.finished_at, about.mode]
    maybe += [text for change in changes for text in (change["before"], change["after"])]
    if not all(type(number) is int and 0 <= number <= _LARGEST for number in numbers):
        raise ValueError
    if not all(isinstance(text, str) for text in [*texts, *(text for text in maybe if text is not None)]):
        raise TypeError
    if not reports.times_are_past({"started_at": None, "finished_at": about.finished_at}):
        raise ValueError
    if basis.severity not in {"", *Severity.__members__}:
        raise ValueError
    state_of_basis(basis, about.min_coverage)


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
    if not document:
        return None
    try:
        found = condense(document, min_coverage)
        _require_whole(found)
    except _NO_DIGEST as error:
        msg = f"the report on {snapshot_id} has parts that no report has ({type(error).__name__}); remove it, and judge it again"
        raise SnapshotError(msg) from None
    return found


def condense(document: Mapping[str, Any], min_coverage: float = 1.0) -> Digest:
    """Return the digest of a `findings.json`."""
    incidents = document["incidents"]
    results: dict[str, Counter[str]] = {}
    for finding in document["findings"]:
        if not (finding["status"] == "FAIL" and finding["muted"]):
            results.setdefault(finding["code"], Counter())[finding["status"]] += 1
    return Digest(
        snapshot_id=document["snapshot_id"],
        previous_snapshot_id=document["previous_snapshot_id"],
        cluster=document["cluster"],
        finished_at=document["finished_at"],
        asked=document["coverage"]["asked"],
        answered=document["coverage"]["answered"],
        unknown=document["counts"]["UNKNOWN"],
        brokers=len(document["matrix"]["brokers"]),
        mode=document.get("mode"),
        basis=basis(document),
        min_coverage=min_coverage,
        confidence=incidents[0]["confidence"] if incidents else "",
        lanes=tuple(_lanes(document)),
        results={code: dict(counts) for code, counts in results.items()},
        changes=tuple(
            {key: None if value is None else clean(value) for key, value in change.items()}
            for change in document["changes"][:MOST_CHANGES]
        ),
        changes_omitted=document["changes_omitted"] + max(len(document["changes"]) - MOST_CHANGES, 0),
    )


def _lanes(document: Mapping[str, Any]) -> list[Lane]:
    names = {f["code"]: f["name"].replace("_", " ") for f in document["findings"]}
    lanes: dict[str, Lane] = {}
    explained: set[str] = set()
    for incident in document["incidents"]:
        explained.update(inside(incident))
        cause, before = incident["cause"], lanes.get(incident["cause"])
        lanes[cause] = Lane(
            code=cause,
            incident=True,
            severity=before.severity if before else Severity[incident["severity"]],
            name=names.get(cause, ""),
            number=len(inside(incident)) + (before.number if before else 0),
        )
    alone: dict[str, list[Mapping[str, Any]]] = {}
    for finding in document["findings"]:
        if finding["status"] == "FAIL" and not finding["muted"] and finding["fingerprint"] not in explained:
            alone.setdefault(finding["code"], []).append(finding)
    found = [*lanes.values()]
    for code, findings in alone.items():
        found.append(
            Lane(
                code=code,
                incident=False,
                severity=max(Severity[f["severity"]] for f in findings),
                name=names[code],
                number=len(findings),
            )
        )
    return found
