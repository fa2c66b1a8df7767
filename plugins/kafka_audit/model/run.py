"""What passes between the steps of one run: the request that Spark gets and the answer that it writes.

Both are JSON below `runs/<run_id>/` of the store. Spark reads and writes them by its own file systems, so that a driver on
another machine needs this package and nothing else.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from kafka_audit.model.finding import Change, Confidence, Judgement, Severity, Status


@dataclass(frozen=True, kw_only=True)
class Pair:
    """A snapshot to judge, and the one to compare it with (None: nothing to compare, diff checks are NOT_APPLICABLE)."""

    snapshot_id: str
    previous_snapshot_id: str | None
    passed_over: tuple[str, ...] = ()  # why snapshots in between could not be compared with, one sentence each


@dataclass(frozen=True, kw_only=True)
class Request:
    """One submission: every pair of the run, and what the Python checks already found (Spark joins them as a table).

    `failed` are snapshots that could not be judged, which are in no pair: id and reason.
    """

    run_id: str
    pairs: tuple[Pair, ...]
    row_judgements: tuple[Judgement, ...]
    failed: tuple[tuple[str, str], ...] = ()

    def to_json(self) -> str:
        """Return the text of `runs/<run_id>/request.json`."""
        return json.dumps(
            {
                "run_id": self.run_id,
                "pairs": [asdict(pair) for pair in self.pairs],
                "row_judgements": [judgement_to_dict(j) for j in self.row_judgements],
                "failed": self.failed,
            }
        )

    @classmethod
    def from_json(cls, text: str) -> "Request":
        """Read what `to_json` wrote."""
        raw = json.loads(text)
        return cls(
            run_id=raw["run_id"],
            pairs=tuple(Pair(**pair | {"passed_over": tuple(pair.get("passed_over", ()))}) for pair in raw["pairs"]),
            row_judgements=tuple(judgement_from_dict(j) for j in raw["row_judgements"]),
            failed=tuple((snapshot_id, why) for snapshot_id, why in raw.get("failed", ())),
        )


def run_path(run_id: str, name: str) -> str:
    """Return the path below the store's root of a run's artefact.

    `request.json` is a file; `judgements`, `changes` (JSON lines) and `disagreements` (Parquet) are folders that Spark writes,
    each complete when it holds `_SUCCESS`.
    """
    return f"runs/{run_id}/{name}"


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What one submission found: the SQL checks' judgements, and per judged snapshot what changed."""

    judgements: tuple[Judgement, ...]
    changes: tuple[tuple[str, Change], ...]  # (snapshot_id, change)


def judgement_to_dict(judgement: Judgement) -> dict[str, Any]:
    """Return a JSON-ready form; `severity` by name or None."""
    return {
        "snapshot_id": judgement.snapshot_id,
        "code": judgement.code,
        "resource": judgement.resource,
        "status": judgement.status.value,
        "severity": None if judgement.severity is None else judgement.severity.name,
        "confidence": judgement.confidence.value,
        "evidence": dict(judgement.evidence),
    }


def judgement_from_dict(raw: Mapping[str, Any]) -> Judgement:
    """Read what `judgement_to_dict`, or a SQL check, wrote; nulls in evidence become the word `none`."""
    return Judgement(
        snapshot_id=raw["snapshot_id"],
        code=raw["code"],
        resource=raw["resource"],
        status=Status(raw["status"]),
        severity=None if raw.get("severity") is None else Severity[raw["severity"]],
        confidence=Confidence(raw.get("confidence") or Confidence.MEASURED),
        evidence={key: "none" if value is None else str(value) for key, value in (raw.get("evidence") or {}).items()},
    )
