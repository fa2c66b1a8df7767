"""What checks of ZooKeeper itself ask of a snapshot: its servers and znodes in the newest look, and in the one before."""

from collections.abc import Iterator
from typing import TypeVar

from kafka_audit.checks.rows import NO_ZOOKEEPER, judge, kraft, looks
from kafka_audit.model.finding import Judgement, Status
from kafka_audit.model.tables import Snapshot, ZookeeperMember, ZookeeperNode

AWAY = ("idle", "down")
MOVING = {"error": "in motion", "needs": "another audit: this was seen in one look"}
LATENCY_MS, OUTSTANDING, BEHIND = 100.0, 100, 1000
"""Bounds of KA803: milliseconds on average, requests that wait, transactions."""

_Told = TypeVar("_Told", ZookeeperMember, ZookeeperNode)


def now(snapshot: Snapshot, table: type[_Told]) -> tuple[_Told, ...]:
    """Return the rows of the newest look."""
    newest, _ = looks(snapshot)
    return tuple(row for row in snapshot.of(table) if row.sample == newest)


def before(snapshot: Snapshot, table: type[_Told]) -> tuple[_Told, ...]:
    """Return the rows of the look before the newest, none where there was only one."""
    _, earlier = looks(snapshot)
    return tuple(row for row in snapshot.of(table) if row.sample == earlier)


def gap(snapshot: Snapshot, code: str, table: type[_Told]) -> Iterator[Judgement]:
    """Yield the one judgement of a check of ZooKeeper where there is none, or where it told nothing."""
    if kraft(snapshot):
        yield judge(snapshot, code, "cluster", Status.NOT_APPLICABLE, reason=NO_ZOOKEEPER)
    elif not now(snapshot, table):
        needs = "a ZooKeeper that answers"
        yield judge(snapshot, code, "cluster", Status.UNKNOWN, error="ZooKeeper told nothing of itself", needs=needs)


def named(members: tuple[ZookeeperMember, ...]) -> str:
    """Return servers for a sentence, each with its error."""
    return ", ".join(f"{one.member}{f' ({one.error})' if one.error else ''}" for one in members) or "none"


def is_late(one: ZookeeperMember) -> bool:
    """Tell whether a server takes long to answer, on average."""
    return one.latency_avg_ms is not None and one.latency_avg_ms >= LATENCY_MS


def busy(members: tuple[ZookeeperMember, ...]) -> dict[tuple[str, str], str]:
    """Return what is above a bound and may pass, by server and kind."""
    zxids = [one.zxid for one in members if one.zxid is not None]
    found = {}
    for one in members:
        if (one.outstanding or 0) >= OUTSTANDING:
            found[one.member, "waiting"] = f"{one.outstanding} requests wait at {one.member}"
        ahead = max((zxid - one.zxid for zxid in zxids if one.zxid is not None and zxid >> 32 == one.zxid >> 32), default=0)
        if ahead >= BEHIND:
            found[one.member, "behind"] = f"{one.member} is {ahead} transactions behind"
    return found
