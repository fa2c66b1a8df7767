"""Stores with worlds of `checks.world` in them, for tests that go the whole way through files."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from checks.conftest import base, write_tables
from checks.world import World, snapshots
from kafka_audit.model.finding import Change, Judgement
from kafka_audit.model.run import Pair, Request, judgement_from_dict


def put(root: Path, run_id: str, worlds: Mapping[str, World], judgements: Iterable[Judgement] = ()) -> None:
    """Write the snapshots of some worlds, and the request to judge each with its previous one."""
    pairs = []
    for name, case in worlds.items():
        now, previous = snapshots(base(), name, case)
        for one in (now, previous):
            if one is not None:
                folder = root / "snapshots" / one.snapshot_id
                folder.mkdir(parents=True)
                write_tables(folder, [one])
        pairs.append(Pair(snapshot_id=name, previous_snapshot_id=None if previous is None else previous.snapshot_id))
    request = root / "runs" / run_id / "request.json"
    request.parent.mkdir(parents=True)
    request.write_text(Request(run_id=run_id, pairs=tuple(pairs), row_judgements=tuple(judgements)).to_json())


def _lines(folder: Path) -> list[dict]:
    assert (folder / "_SUCCESS").exists()
    return [json.loads(line) for file in sorted(folder.glob("*.json")) for line in file.read_text().splitlines()]


def judgements(root: Path, run_id: str) -> list[Judgement]:
    return [judgement_from_dict(raw) for raw in _lines(root / "runs" / run_id / "judgements")]


def changes(root: Path, run_id: str) -> list[tuple[str, Change]]:
    told = _lines(root / "runs" / run_id / "changes")
    return sorted(
        (
            (raw["snapshot_id"], Change(kind=raw["kind"], resource=raw["resource"], before=raw["before"], after=raw["after"]))
            for raw in told
        ),
        key=lambda one: (one[0], one[1].kind, one[1].resource),
    )
