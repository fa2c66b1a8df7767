"""A disk of one broker failed: its replicas, the leaders that moved, and the clients that stay with the old leader."""

import posixpath
from collections.abc import Iterable
from dataclasses import dataclass, replace
from weakref import WeakKeyDictionary

from kafka_audit.cluster.answers.broker_reads import STORAGE_ERROR
from kafka_audit.cluster.view import ClusterView
from kafka_audit.incidents.causes import log_quotes
from kafka_audit.incidents.causes.rule import (
    REPLICATION,
    Case,
    Cause,
    Explains,
    Story,
    at_the_broker,
    evidence_of,
)
from kafka_audit.incidents.causes.storage.dead_disk_repair import dead_disk_steps, readers, who_writes
from kafka_audit.model.finding import CHANGES, Evidence, Finding, Resource, Status
from kafka_audit.model.tables import LeadershipAnswer
from kafka_audit.model.text import clean, counted, fitting, listing

CODES = ("KA501", "KA503", "KA506")
"""What a dead disk shows at its broker, the one that names the incident first."""


@dataclass(frozen=True, kw_only=True)
class _Loss:
    """What lies on a broker's dead disks: partitions with their leader of now, and those that the broker led."""

    offline: dict[tuple[str, int], int | None]
    led: frozenset[tuple[str, int]]


def cases(case: Case) -> Iterable[Case]:
    """Split by broker."""
    for broker in case.brokers:
        mine = [root for root in case.roots if root.resource.broker == broker]
        yield replace(case, roots=tuple(sorted(mine, key=lambda root: (CODES.index(root.code), root.resource.name))))


def on_the_disk(case: Case, symptom: Finding) -> bool:
    """Explain a partition that has a replica on the dead disk, out of the ISR or without leader."""
    key, broker = symptom.resource.topic_partition, case.brokers[0]
    if key is None:
        return symptom.resource.broker == broker
    state = case.view.partitions.state(*key)
    known = _loss(case.view, broker).offline
    return state is not None and broker in state.missing and (key in known or not known)


_LOSSES: WeakKeyDictionary[ClusterView, dict[int, _Loss]] = WeakKeyDictionary()
"""What was lost in a view, by broker: each symptom asks for it."""


def _loss(view: ClusterView, broker: int) -> _Loss:
    known = _LOSSES.setdefault(view, {})
    if broker not in known:
        known[broker] = _read_loss(view, broker)
    return known[broker]


def _read_loss(view: ClusterView, broker: int) -> _Loss:
    rows = [row for row in view.newest(LeadershipAnswer) if row.broker_id == broker and row.error == STORAGE_ERROR]
    led = frozenset((row.topic, row.partition) for row in rows if row.preferred and row.asked_as == "former")
    return _Loss(offline={(row.topic, row.partition): row.leader for row in rows}, led=led)


def story(case: Case) -> Story:
    """Return the story: which disk of which broker died, and what that means to replicas, leaders and clients."""
    (broker,) = case.brokers
    loss = _loss(case.view, broker)
    paths = [root.resource.log_dir or "" for root in case.roots if root.code == "KA501"]
    pinned = next((root for root in case.roots if root.code == "KA506"), None)
    moved = pinned.number("count") if pinned else 0
    leaderless = sum(leader is None or leader < 0 for leader in loss.offline.values())
    at_risk = _moved_partitions(case, broker, loss)
    consumers, unread = readers(case, at_risk)
    return Story(
        headline=_headline(broker, paths, len(loss.offline), moved),
        impact=_impact(broker, loss, moved, leaderless),
        confidence=case.roots[0].confidence,
        why="The broker itself returns error 56 KAFKA_STORAGE_ERROR for these replicas.",
        speaks_for=(
            *evidence_of(case.explained),
            *log_quotes.evidence(case, ("KA501",)),
            *_leaders_moved(case, broker),
            *consumers,
        ),
        not_known=(
            *(
                ()
                if paths
                else (f"Not known: which log dir it is. To know: Describe on Cluster, or server.log of broker {broker}.",)
            ),
            *((who_writes(case, broker),) if moved else ()),
            *unread,
        ),
        steps=dead_disk_steps(case, broker, paths, pinned=moved > 0, leaderless=leaderless),
    )


def _headline(broker: int, paths: list[str], offline: int, moved: int) -> str:
    short = [f"…/{posixpath.basename(path.rstrip('/'))}" for path in paths]
    what = "log dir" if len(paths) == 1 else f"{len(paths)} log dirs"
    nameless = f"a {what}" if len(paths) == 1 else what
    dirs = [f"{what} {listing(paths, 3)}", f"{what} {listing(short, 3)}", nameless] if paths else ["a disk"]
    lost = f": {counted(offline, 'replica')} offline" if offline else ""
    moves = f"{lost}, {counted(moved, 'leader')} moved"
    clients = (f"some clients may still write to broker {broker}", "some clients may fail", "clients may fail")
    with_clients = [f"{moves}; {effect}" for effect in clients] if lost and moved else []
    tails = [*((name, tail) for name in dirs for tail in with_clients), *((name, lost) for name in dirs)]
    return fitting([f"Broker {broker} lost {name}{tail}" for name, tail in tails])


def _impact(broker: int, loss: _Loss, moved: int, leaderless: int) -> str:
    offline = len(loss.offline)
    texts = [f"{counted(offline, 'partition')} {'misses' if offline == 1 else 'miss'} a replica." if offline else ""]
    if leaderless:
        has = "has" if leaderless == 1 else "have"
        texts.insert(0, f"{counted(leaderless, 'partition')} {has} no leader; clients cannot write or read there.")
    if moved:
        texts.append(
            "Producers that do not refresh their metadata on error 56 (sarama before 1.43.3, Filebeat up to 8.16.1) keep sending "
            f"to broker {broker} for {counted(moved, 'partition')} that it led, and fail until they are restarted."
        )
    return " ".join(filter(None, texts)) or "Partitions in this log dir have one replica less."


def _moved_partitions(case: Case, broker: int, loss: _Loss) -> frozenset[tuple[str, int]]:
    """Return partitions whose leader the broker was: by what changed since the previous snapshot, else as preferred leader."""
    reported = {
        key
        for change in case.changes
        if change.kind == "leader_moved"
        and change.before == str(broker)
        and (key := Resource.of(change.resource).topic_partition)
    }
    return frozenset(reported & loss.offline.keys()) or loss.led


def _leaders_moved(case: Case, broker: int, limit: int = 10) -> tuple[Evidence, ...]:
    """Return that the broker lost leaders since the previous snapshot, and which."""
    findings = [
        finding
        for finding in case.findings
        if (finding.code, finding.resource.name, finding.status) == ("KA208", f"broker/{broker}", Status.FAIL)
    ]
    moves = [
        f"leader of {clean(key[0])}-{key[1]}: {clean(change.before or 'none')} -> {clean(change.after or 'none')}"
        for change in case.changes
        if change.kind == "leader_moved"
        and change.before == str(broker)
        and (key := Resource.of(change.resource).topic_partition)
    ]
    lines = [Evidence(observer=CHANGES, text=text) for text in moves[:limit]]
    if len(moves) > limit:
        lines.append(Evidence(observer=CHANGES, text=f"and {len(moves) - limit} more leaders moved away from it"))
    return (*(Evidence(observer=finding.code, text=finding.message) for finding in findings), *lines)


DEAD_DISK = Cause(
    codes=CODES,
    meaning="a disk of a broker failed, with the replicas on it",
    cases=cases,
    story=story,
    explains=(
        Explains(codes=CODES, where=at_the_broker),
        Explains(codes=REPLICATION, where=on_the_disk),
    ),
)
