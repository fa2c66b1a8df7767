"""Snapshots of broken and healthy clusters in a form small enough for the repository, and what each of them is."""

import json
import lzma
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from kafka_audit.faults import edges
from kafka_audit.model.tables import TABLES, Snapshot, columns
from testbed.corpus.catalogue import VERSIONS, Control, Fault, Step, controls, demands, faults, steps
from testbed.corpus.words import Demands
from testbed.errors import BedError

HERE = Path(__file__).parent
CLUSTERS = HERE.parent.parent / "tests" / "faults" / "clusters"
SUFFIX = ".json.xz"
_TABLES = {table.table(): table for table in TABLES}


@dataclass(frozen=True, kw_only=True)
class Recording:
    """A cluster whose snapshot is kept.

    Attributes:
        name: of its file.
        title: what is wrong with it, one line.
        version: a key of `catalogue.VERSIONS`.
        preset: how the cluster is made.
        steps: what breaks it.
        broken_by: the names of the faults that are true of it, as `faults.known` has them; empty where none of these is.
        cause: the checks that name what is wrong, any of which may head an incident; empty: healthy.
        effect: checks whose failure is a true symptom of it.
        compared: whether the snapshot before the fault is kept beside it.
        demands: the words with which a report names it; None: healthy.
        besides: ids of faults that its cluster has as well.
        fault: the id of the fault of the corpus that it is a cluster of; empty: of none.
    """

    name: str
    title: str
    version: str
    preset: str
    steps: tuple[Step, ...]
    broken_by: tuple[str, ...]
    cause: tuple[str, ...]
    effect: tuple[str, ...]
    compared: bool
    demands: Demands | None
    besides: tuple[str, ...]
    fault: str

    @property
    def mode(self) -> str:
        """Who keeps the cluster's metadata: `ZooKeeper` or `KRaft`."""
        return _mode(self.version)


@cache
def recordings() -> dict[str, Recording]:
    """Return the recordings by name, in the order of `recordings.yaml`.

    Raises:
        BedError: the file names a fault or control that is none.
    """
    raw = yaml.load((HERE / "recordings.yaml").read_text(encoding="utf-8"), yaml.CSafeLoader)
    every = [_recording(name, version, entry) for name, entry in raw.items() for version in entry["versions"]]
    return {recording.name: recording for recording in every}


@cache
def unrecorded() -> dict[tuple[str, str], str]:
    """Return why a fault has no recording in a mode, by the names of both: `unrecorded` in the fault's file."""
    files = sorted(Path(edges.__file__).parent.glob("*/*.yaml"))
    raw = {path.stem: yaml.load(path.read_text(encoding="utf-8"), yaml.CSafeLoader) for path in files}
    return {(name, mode): why for name, data in raw.items() for mode, why in data.get("unrecorded", {}).items()}


def _recording(name: str, version: str, raw: Mapping[str, Any]) -> Recording:
    known: dict[str, Fault | Control] = {**faults(), **controls()}
    own = {"title", "preset", "steps"} <= raw.keys()
    if not own and raw.get("like") not in known:
        message = f"recording {name}: there is no fault or control {raw.get('like')}"
        raise BedError(message)
    like = None if own else known[raw["like"]]
    fault = like if isinstance(like, Fault) else None
    cause, effect = (fault.cause, fault.also) if fault else ((), ())
    besides = tuple(raw["besides"].split(", ")) if "besides" in raw else fault.besides if fault else ()
    words = demands(raw, f"recording {name}") if "demands" in raw else fault.demands if fault else None
    return Recording(
        name=f"{_mode(version).lower()}_{name}",
        title=raw["title"] if like is None else like.title,
        version=version,
        preset=raw["preset"] if like is None else like.preset,
        steps=(*(() if like is None else like.steps), *steps(raw.get("steps"))),
        broken_by=tuple(raw.get("broken_by", "").split()),
        cause=tuple(raw["cause"].split()) if "cause" in raw else cause,
        effect=tuple(raw["effect"].split()) if "effect" in raw else effect,
        compared=raw.get("compared", False),
        demands=words,
        besides=besides,
        fault=fault.id if fault else "",
    )


def _mode(version: str) -> str:
    return "ZooKeeper" if VERSIONS[version][1] else "KRaft"


def packed(snapshot: Snapshot, previous: Snapshot | None, folder: str) -> bytes:
    """Return snapshots as bytes; `folder`, where the cluster ran, is left out of every text."""
    plain = {"snapshot": _plain(snapshot), "previous": None if previous is None else _plain(previous)}
    text = json.dumps(plain, separators=(",", ":"), ensure_ascii=False).replace(folder, "/srv/kafka")
    return lzma.compress(text.encode(), preset=9 | lzma.PRESET_EXTREME)


def unpacked(content: bytes) -> tuple[Snapshot, Snapshot | None]:
    """Return what was packed."""
    plain = json.loads(lzma.decompress(content))
    return _snapshot(plain["snapshot"]), None if plain["previous"] is None else _snapshot(plain["previous"])


def _plain(snapshot: Snapshot) -> dict[str, Any]:
    tables = {}
    for name, table in _TABLES.items():
        names = [column.name for column in columns(table)]
        if rows := [[getattr(row, column) for column in names] for row in snapshot.of(table)]:
            tables[name] = {"columns": names, "rows": rows}
    head = {"snapshot_id": snapshot.snapshot_id, "cluster": snapshot.cluster, "cluster_id": snapshot.cluster_id}
    return head | {"tables": tables}


def _snapshot(plain: Mapping[str, Any]) -> Snapshot:
    rows = []
    for name, held in plain["tables"].items():
        known = {column.name for column in columns(_TABLES[name])}  # a later version may have fewer columns, or more
        for values in held["rows"]:
            texts = (tuple(value) if isinstance(value, list) else value for value in values)
            found = dict(zip(held["columns"], texts, strict=True))
            rows.append(_TABLES[name](**{column: value for column, value in found.items() if column in known}))
    head = {key: plain[key] for key in ("snapshot_id", "cluster", "cluster_id")}
    return Snapshot(**head, rows=tuple(rows))
