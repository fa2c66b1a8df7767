"""What passes between the steps of one run: the request that Spark gets and the answer that it writes.

All of it is JSON below `runs/<run_id>/` of the store, which worker and driver of the Spark job reach by the same URL.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from kafka_audit.model.cluster import Mute
from kafka_audit.model.report import Report


@dataclass(frozen=True, kw_only=True)
class SnapshotPair:
    """A snapshot to judge, and the one to compare it with (None: nothing to compare, diff checks are NOT_APPLICABLE)."""

    snapshot_id: str
    previous_snapshot_id: str | None
    passed_over: tuple[str, ...] = ()  # why snapshots in between could not be compared with, one sentence each
    mutes: tuple[Mute, ...] = ()  # of its cluster


@dataclass(frozen=True, kw_only=True)
class Request:
    """One submission: every pair of the run. `failed` are snapshots that are in no pair: id and reason.

    `show_all`: the reports list findings that pass, too. `counts`: they are audits; one for a question about a step is none of
    those in a row that found an incident.
    """

    run_id: str
    pairs: tuple[SnapshotPair, ...]
    failed: tuple[tuple[str, str], ...] = ()
    show_all: bool = False
    counts: bool = True

    def to_json(self) -> str:
        """Return the text of `runs/<run_id>/request.json`."""
        return json.dumps(msgspec.to_builtins(self))

    @classmethod
    def from_json(cls, text: str) -> "Request":
        """Read what `to_json` wrote; raises ValueError for any other text."""
        return msgspec.convert(json.loads(text), cls)


def run_path(run_id: str, name: str) -> str:
    """Return the path below the store's root of a run's artefact.

    `request.json` is the question, `judged/<snapshot id>.json` the answer on one snapshot, and `answer.json`, written last, says
    which of them there are. `disagreements` is a folder of Parquet files that Spark writes. `troubles.json` is
    what alerts on causes that clusters share rest on.
    """
    return f"runs/{run_id}/{name}"


@dataclass(frozen=True, kw_only=True)
class JudgedSnapshot:
    """The answer on one snapshot: the finished report, and the rows of the difference tables that it rests on, by table name."""

    snapshot_id: str
    document: Report
    differences: Mapping[str, Sequence[Mapping[str, Any]]]

    def to_json(self) -> str:
        """Return the text of `runs/<run_id>/judged/<snapshot id>.json`."""
        return json.dumps(msgspec.to_builtins(self))

    @classmethod
    def from_json(cls, text: str) -> "JudgedSnapshot":
        """Read what `to_json` wrote; raises ValueError for any other text."""
        return msgspec.convert(json.loads(text), cls)


@dataclass(frozen=True, kw_only=True)
class JobAnswer:
    """Which snapshots of a run were judged, and why the others were not: id and reason."""

    judged: tuple[str, ...]
    failed: tuple[tuple[str, str], ...]

    def to_json(self) -> str:
        """Return the text of `runs/<run_id>/answer.json`."""
        return json.dumps(msgspec.to_builtins(self))

    @classmethod
    def from_json(cls, text: str) -> "JobAnswer":
        """Read what `to_json` wrote; raises ValueError for any other text."""
        return msgspec.convert(json.loads(text), cls)
