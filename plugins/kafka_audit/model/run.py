"""What passes between the steps of one run: the request that Spark gets and the answer that it writes.

All of it is JSON below `runs/<run_id>/` of the store, which worker and driver of the Spark job reach by the same URL.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from kafka_audit.model.finding import Address, Change, Confidence, Judgement, Severity, Status, from_json, to_json


@dataclass(frozen=True, kw_only=True)
class SnapshotPair:
    """A snapshot to judge, and the one to compare it with (None: nothing to compare, diff checks are NOT_APPLICABLE)."""

    snapshot_id: str
    previous_snapshot_id: str | None
    passed_over: tuple[str, ...] = ()  # why snapshots in between could not be compared with, one sentence each


@dataclass(frozen=True, kw_only=True)
class Request:
    """One submission: every pair of the run. `failed` are snapshots that are in no pair: id and reason."""

    run_id: str
    pairs: tuple[SnapshotPair, ...]
    failed: tuple[tuple[str, str], ...] = ()

    def to_json(self) -> str:
        """Return the text of `runs/<run_id>/request.json`."""
        return json.dumps({"run_id": self.run_id, "pairs": [asdict(pair) for pair in self.pairs], "failed": self.failed})

    @classmethod
    def from_json(cls, text: str) -> "Request":
        """Read what `to_json` wrote."""
        raw = json.loads(text)
        return cls(
            run_id=raw["run_id"],
            pairs=tuple(SnapshotPair(**pair | {"passed_over": tuple(pair.get("passed_over", ()))}) for pair in raw["pairs"]),
            failed=tuple((snapshot_id, why) for snapshot_id, why in raw.get("failed", ())),
        )


def run_path(run_id: str, name: str) -> str:
    """Return the path below the store's root of a run's artefact.

    `request.json` is the question, `judged/<snapshot id>.json` the answer on one snapshot, and `answer.json`, written last, says
    which of them there are. `disagreements` is a folder of Parquet files that Spark writes. `troubles.json` is
    what alerts on causes that clusters share rest on.
    """
    return f"runs/{run_id}/{name}"


@dataclass(frozen=True, kw_only=True)
class JudgedSnapshot:
    """The answer on one snapshot. `differences` are rows of the difference tables by table name, as plain data."""

    snapshot_id: str
    judgements: tuple[Judgement, ...]
    changes: tuple[Change, ...]
    differences: Mapping[str, Sequence[Mapping[str, Any]]]

    def to_json(self) -> str:
        """Return the text of `runs/<run_id>/judged/<snapshot id>.json`."""
        return json.dumps(
            {
                "snapshot_id": self.snapshot_id,
                "judgements": [_judgement_to_dict(judgement) for judgement in self.judgements],
                "changes": [asdict(change) for change in self.changes],
                "differences": self.differences,
            }
        )

    @classmethod
    def from_json(cls, text: str) -> "JudgedSnapshot":
        """Read what `to_json` wrote; raises ValueError, KeyError or TypeError for any other text."""
        raw = json.loads(text)
        return cls(
            snapshot_id=raw["snapshot_id"],
            judgements=tuple(_judgement_from_dict(judgement) for judgement in raw["judgements"]),
            changes=tuple(_change_from_dict(change) for change in raw["changes"]),
            differences=raw["differences"],
        )


@dataclass(frozen=True, kw_only=True)
class JobAnswer:
    """Which snapshots of a run were judged, and why the others were not: id and reason."""

    judged: tuple[str, ...]
    failed: tuple[tuple[str, str], ...]

    def to_json(self) -> str:
        """Return the text of `runs/<run_id>/answer.json`."""
        return json.dumps({"judged": self.judged, "failed": self.failed})

    @classmethod
    def from_json(cls, text: str) -> "JobAnswer":
        """Read what `to_json` wrote; raises ValueError, KeyError or TypeError for any other text."""
        raw = json.loads(text)
        return cls(judged=tuple(raw["judged"]), failed=tuple((snapshot_id, why) for snapshot_id, why in raw["failed"]))


def _judgement_to_dict(judgement: Judgement) -> dict[str, Any]:
    return {
        "snapshot_id": judgement.snapshot_id,
        "code": judgement.code,
        "resource": judgement.resource,
        "status": judgement.status.value,
        "severity": None if judgement.severity is None else judgement.severity.name,
        "confidence": judgement.confidence.value,
        "evidence": to_json(judgement.evidence),
    }


def _change_from_dict(raw: Mapping[str, Any]) -> Change:
    addresses = {key: tuple(Address(**address) for address in raw[key]) for key in ("addresses_before", "addresses_after")}
    return Change(**{**raw, **addresses})


def _judgement_from_dict(raw: Mapping[str, Any]) -> Judgement:
    return Judgement(
        snapshot_id=raw["snapshot_id"],
        code=raw["code"],
        resource=raw["resource"],
        status=Status(raw["status"]),
        severity=None if raw["severity"] is None else Severity[raw["severity"]],
        confidence=Confidence(raw["confidence"]),
        evidence=from_json(raw["evidence"]),
    )
