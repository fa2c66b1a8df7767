"""The metadata quorum in a line: who leads, who votes, who only follows, and how far each is behind. Nothing is judged here."""

from collections.abc import Iterable, Sequence
from typing import Final

from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.report import QuorumNode, QuorumState
from kafka_audit.model.tables import QuorumReplica
from kafka_audit.report.parties.matrix import short
from kafka_audit.report.text import clean

_MOST = 4000
"""Nodes that the document lists: 1,000 brokers and their controllers, four times."""

_EACH = 8
"""Nodes that the line lists one by one."""

_NO_DELAY_MS = 50

CAUGHT_UP: Final = "caught_up"
"""The state of a replica that is not behind."""


def build_quorum(view: ClusterView) -> QuorumState | None:
    """Return the quorum of the newest sample; None where the metadata is in ZooKeeper alone."""
    now = view.quorum.now
    if now.newest is None:
        error, needs = view.quorum.unread()
        return QuorumState(error=clean(error), needs=clean(needs)) if view.kraft else None
    leader = now.replicas.get(now.newest.leader_id)
    end = now.newest.high_watermark if leader is None or leader.log_end_offset is None else leader.log_end_offset
    rows = sorted(now.replicas.values(), key=lambda row: (not row.voter, row.replica_id))
    return QuorumState(
        leader=now.newest.leader_id,
        epoch=now.newest.leader_epoch,
        dynamic=now.is_dynamic,
        replicas=tuple(_node(view, row, end) for row in rows[:_MOST]),
        omitted=max(len(rows) - _MOST, 0),
    )


def _node(view: ClusterView, row: QuorumReplica, end: int | None) -> QuorumNode:
    now, offset = view.quorum.now, row.log_end_offset
    return QuorumNode(
        id=row.replica_id,
        voter=row.voter,
        state="unknown" if not now.behind_ms else "behind" if row.replica_id in now.late else CAUGHT_UP,
        behind_ms=now.behind_ms.get(row.replica_id),
        behind_records=None if end is None or offset is None else max(end - offset, 0),
    )


def quorum_text(quorum: QuorumState) -> str:
    """Return the line of a document with a quorum."""
    if quorum.leader is None:
        return f"not known ({clean(quorum.error)}). Needed: {clean(quorum.needs)}."
    voters = "dynamic voters" if quorum.dynamic else "static voters"
    observers = [row for row in quorum.replicas if not row.voter]
    parts = [
        f"leader {quorum.leader}, epoch {quorum.epoch}",
        f"{voters} {_listed([row for row in quorum.replicas if row.voter], quorum.leader)}",
        *([f"observers {_listed(observers, quorum.leader)}"] if observers else []),
        *([f"and {quorum.omitted} more nodes"] if quorum.omitted else []),
    ]
    return f"{'; '.join(parts)}."


def _listed(rows: Sequence[QuorumNode], leader: int) -> str:
    """Return nodes one by one; of many, those that are caught up in one, and those that are not as far as they are few."""
    parts: dict[bool, list[QuorumNode]] = {True: [], False: []}
    for row in rows:
        parts[len(rows) > _EACH and row.state == CAUGHT_UP and row.id != leader].append(row)
    near, others = parts[True], parts[False]
    each = [f"{row.id} ({_behind(row, leader)})" for row in others[:_EACH]]
    if near:
        furthest = max(near, key=lambda row: row.behind_ms or 0)
        most = "" if (furthest.behind_ms or 0) < _NO_DELAY_MS else "at most "
        each.append(f"{short(_ids(near))} ({most}{_behind(furthest, leader)})")
    if others[_EACH:]:
        each.append(f"{short(_ids(others[_EACH:]))} (see findings.json)")
    return ", ".join(each) or "none"


def _ids(rows: Iterable[QuorumNode]) -> list[int]:
    return [row.id for row in rows]


def _behind(row: QuorumNode, leader: int) -> str:
    if row.id == leader:
        return "leader"
    if row.state == "unknown":
        return "delay not reported" if row.behind_records is None else f"{row.behind_records} records behind"
    if row.behind_ms is None:
        return "never caught up under this leader"
    if row.behind_ms < _NO_DELAY_MS:
        return "caught up"
    records = f", {row.behind_records} records" if row.state == "behind" and row.behind_records is not None else ""
    return f"{_duration(row.behind_ms)}{records} behind"


def _duration(ms: int) -> str:
    return f"{ms / 1000:.1f} s" if ms < 10_000 else f"{round(ms / 1000)} s"  # noqa: PLR2004 -- a tenth is of interest below that
