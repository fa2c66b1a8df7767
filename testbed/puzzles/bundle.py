"""A recorded cluster, asked party by party: what each one said, in rows of docs/tables.md, nothing that was concluded. Pure."""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from dataclasses import dataclass, fields, replace
from functools import cache
from typing import TYPE_CHECKING

from kafka_audit.model.tables import (
    BrokerIdentity,
    BrokerProperty,
    BrokerView,
    ControllerProbe,
    DynamicConfig,
    EnsembleServer,
    LogLine,
    Migration,
    PropertyLogin,
    RegisteredBroker,
    RegisteredEndpoint,
    RegisteredPartition,
    RegisteredTopic,
    Registry,
    Row,
    ScramUser,
    Snapshot,
    ViewBroker,
    ViewPartition,
    ViewTopic,
    ZookeeperMember,
    ZookeeperNode,
)
from testbed.corpus.recorded import CLUSTERS, SUFFIX, Recording, recordings, unpacked
from testbed.errors import BedError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

BEFORE = "before:"
"""Begins a question about the snapshot that was taken before the fault."""
_HELD_OUT = 3  # one in this many puzzles
_OF_ZOOKEEPER = (
    *(Registry, RegisteredBroker, RegisteredEndpoint, RegisteredTopic, RegisteredPartition, DynamicConfig, ScramUser, Migration),
    *(ZookeeperMember, ZookeeperNode, EnsembleServer),
)
_CONCLUDED: dict[type[Row], tuple[str, ...]] = {LogLine: ("signature", "part", "about_broker", "address", "detail")}
"""Columns that kafka-audit reads out of a line, by table; a reader of the log has the text."""


@dataclass(frozen=True, kw_only=True)
class Puzzle:
    """A recorded cluster without the name of what is wrong with it.

    Attributes:
        number: its name, from a hash of the recording's name: it tells nothing, and new recordings change no other one's.
        held_out: whether it is of the part that no tool or agent should be improved with.
    """

    number: str
    held_out: bool
    recording: Recording
    snapshot: Snapshot
    previous: Snapshot | None


@cache
def puzzles() -> dict[str, Puzzle]:
    """Return all puzzles by number."""
    found: dict[str, Puzzle] = {}
    for name, recording in recordings().items():
        path = CLUSTERS / f"{name}{SUFFIX}"
        if path.is_file():
            digest = hashlib.sha256(name.encode()).digest()
            number = f"p{int.from_bytes(digest[:3]) % 10_000:04}"
            if number in found:
                message = f"{name} and {found[number].recording.name} have one number: {number}"
                raise BedError(message)
            snapshot, previous = unpacked(path.read_bytes())
            found[number] = Puzzle(
                number=number,
                held_out=digest[3] % _HELD_OUT == 0,
                recording=recording,
                snapshot=_renamed(snapshot, number),
                previous=None if previous is None else _renamed(previous, number),
            )
    return dict(sorted(found.items()))


def _renamed(snapshot: Snapshot, number: str) -> Snapshot:
    return replace(snapshot, cluster=number, snapshot_id=snapshot.snapshot_id.replace(f"-{snapshot.cluster}-", f"-{number}-"))


def parties(puzzle: Puzzle) -> list[str]:
    """Return who can be asked: `zookeeper`, `broker:2`, `logs:2`, `properties:2`, `vantage:worker`; the same before the fault."""
    before = () if puzzle.previous is None else (f"{BEFORE}{party}" for party in sorted(_by_party(puzzle.previous)))
    return [*sorted(_by_party(puzzle.snapshot)), *before]


def said(puzzle: Puzzle, party: str) -> str:
    """Return what a party said, a line of JSON for each row, below the name of its table; and what it did not answer.

    Raises:
        BedError: there is no such party.
    """
    known = parties(puzzle)
    if party not in known:
        message = f"{puzzle.number} has no party {party!r}: {', '.join(known)}"
        raise BedError(message)
    of_before = party.startswith(BEFORE)
    snapshot = puzzle.previous if of_before and puzzle.previous else puzzle.snapshot
    rows = _by_party(snapshot)[party.removeprefix(BEFORE)]
    tables: dict[str, list[str]] = defaultdict(list)
    for row in (*rows, *_listed(snapshot, rows)):
        hidden = _CONCLUDED.get(type(row), ())
        values = {field.name: getattr(row, field.name) for field in fields(row) if field.name not in hidden}
        tables[type(row).table()].append(json.dumps({key: value for key, value in values.items() if value not in {None, ""}}))
    return "\n\n".join("\n".join([name, *lines]) for name, lines in tables.items())


def _by_party(snapshot: Snapshot) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = defaultdict(list)
    for row in snapshot.rows:
        for party in _parties_of(row):
            found[party].append(row)
    return found


def _parties_of(row: Row) -> Iterator[str]:
    if isinstance(row, _OF_ZOOKEEPER):
        yield "zookeeper"
    elif isinstance(row, LogLine):
        yield f"logs:{row.broker_id}"
    elif isinstance(row, BrokerProperty | PropertyLogin):
        yield f"properties:{row.broker_id}"
    elif isinstance(row, BrokerIdentity):
        yield f"broker:{row.broker_id}"
    elif isinstance(row, ControllerProbe):
        yield "vantage:worker"
    elif vantage := getattr(row, "vantage", None):
        yield f"vantage:{vantage}"
    elif observer := getattr(row, "observer", None):
        yield str(observer).partition("@")[0] if str(observer).startswith("zookeeper") else str(observer)


def _listed(snapshot: Snapshot, rows: Iterable[Row]) -> Iterator[Row]:
    """Yield what views list: brokers, topics and partitions are kept once for all views that are alike."""
    views = [row for row in rows if isinstance(row, BrokerView)]
    brokers, topics = {view.brokers_digest for view in views}, {view.topics_digest for view in views}
    yield from (row for row in snapshot.of(ViewBroker) if row.brokers_digest in brokers)
    listed = [row for row in snapshot.of(ViewTopic) if row.topics_digest in topics]
    yield from listed
    digests = {row.topic_digest for row in listed}
    yield from (row for row in snapshot.of(ViewPartition) if row.topic_digest in digests)


def kafka_topics(puzzle: Puzzle) -> str:
    """Return what ``kafka-topics.sh --describe --under-replicated-partitions`` prints of the first view."""
    partitions, _, _ = _first_view(puzzle)
    return "\n".join(
        f"\tTopic: {partition.topic}\tPartition: {partition.partition}"
        f"\tLeader: {'none' if partition.leader in {None, -1} else partition.leader}"
        f"\tReplicas: {_ids(partition.replicas)}\tIsr: {_ids(partition.isr)}"
        for partition in partitions
        if len(partition.isr) < len(partition.replicas)
    )


def kcat(puzzle: Puzzle) -> str:
    """Return what ``kcat -L`` prints of the first view."""
    partitions, brokers, view = _first_view(puzzle)
    if view is None:
        return "% ERROR: Failed to acquire metadata: Local: Broker transport failure"
    lines = [
        f"Metadata for all topics (from broker {view.broker_id}: {view.address}/{view.broker_id}):",
        f" {len(brokers)} brokers:",
    ]
    lines += [
        f"  broker {broker.broker_id} at {broker.host}:{broker.port}"
        f"{' (controller)' if broker.broker_id == view.controller_id else ''}"
        for broker in brokers
    ]
    topics: dict[str, list[ViewPartition]] = defaultdict(list)
    for partition in partitions:
        topics[partition.topic].append(partition)
    lines.append(f" {len(topics)} topics:")
    for topic, held in topics.items():
        lines.append(f'  topic "{topic}" with {len(held)} partitions:')
        lines += [
            f"    partition {row.partition}, leader {-1 if row.leader is None else row.leader}, replicas: {_ids(row.replicas)}, "
            f"isrs: {_ids(row.isr)}"
            for row in held
        ]
    return "\n".join(lines)


def _first_view(puzzle: Puzzle) -> tuple[list[ViewPartition], list[ViewBroker], BrokerView | None]:
    views = sorted(puzzle.snapshot.of(BrokerView), key=lambda view: (view.broker_id or 0, -view.sample))
    if not views:
        return [], [], None
    listed = [*_listed(puzzle.snapshot, views[:1])]
    partitions = [row for row in listed if isinstance(row, ViewPartition)]
    return (
        sorted(partitions, key=lambda partition: (partition.topic, partition.partition)),
        [r for r in listed if isinstance(r, ViewBroker)],
        views[0],
    )


def _ids(numbers: Iterable[int]) -> str:
    return ",".join(map(str, numbers))
