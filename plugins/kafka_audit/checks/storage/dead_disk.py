"""A disk of one broker failed: its replicas, the leaders that moved, and the clients that stay with the old leader."""

import posixpath
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from weakref import WeakKeyDictionary

from kafka_audit.checks import ClusterView, Status, log_quotes
from kafka_audit.checks.incident import Case, StoryFacts, evidence_of
from kafka_audit.cluster.answers.broker_reads import STORAGE_ERROR
from kafka_audit.cluster.answers.reads import observer_name
from kafka_audit.cluster.held_up_by import all_waiting_known, held_up_by, waiting_for
from kafka_audit.model import quoting
from kafka_audit.model.commands import command
from kafka_audit.model.finding import Evidence, Finding, Resource
from kafka_audit.model.tables import GroupMember, LeadershipAnswer
from kafka_audit.model.text import clean, counted, listing
from kafka_audit.words.sentences import Written


@dataclass(frozen=True, kw_only=True)
class _Loss:
    """What lies on a broker's dead disks: partitions with their leader of now, and those that the broker led."""

    offline: dict[tuple[str, int], int | None]
    led: frozenset[tuple[str, int]]


_SHOWN = 5


def on_the_disk(case: Case, symptom: Finding) -> bool:
    """Explain a partition that has a replica on the dead disk, out of the ISR or without leader."""
    key, broker = symptom.resource.topic_partition, case.brokers[0]
    if key is None:
        return symptom.resource.broker == broker
    state = case.view.partitions.state(*key)
    known = _loss(case.view, broker).offline
    if state is None or not (key in known or not known):
        return False
    return broker in held_up_by(case.view, *key)


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


def lost_with_the_disk(case: Case) -> StoryFacts:
    """Return which replicas and leaders were on the disks of a broker that died, and which clients read there."""
    (broker,) = case.brokers
    loss = _loss(case.view, broker)
    paths = [root.resource.log_dir or "" for root in case.roots if root.code == "KA501"]
    pinned = next((root for root in case.roots if root.code == "KA506"), None)
    alone = {key for key, leader in loss.offline.items() if leader is None or leader < 0}
    moved = max(pinned.number("count") - len(alone & loss.led), 0) if pinned else 0
    # ListOffsets may not have been answered: the states of partitions show as well what waits for the broker.
    waiting = waiting_for(case.view, broker)
    leaderless = len(waiting | alone)
    consumers, unread = _readers(case, _moved_partitions(case, broker, loss))
    return StoryFacts(
        facts={
            "broker": broker,
            "paths": tuple(paths),
            "dirs": _dirs(paths),
            "offline": len(loss.offline),
            "moved": moved,
            "leaderless": leaderless,
            "others": any(held_up_by(case.view, *key) - {broker} for key in waiting),
            "unsure": not leaderless and not all_waiting_known(case.view),
            "both": bool(loss.offline) and moved > 0,
            "address": next((endpoint.address for endpoint in case.view.endpoints.of(broker)), "BROKER:9092"),
            "connected": _connected(case, broker),
            "cluster_id": case.view.snapshot.cluster_id,
            "is_controller": "controller" in (case.view.settings.get(broker, "process.roles").value or ""),
            "without_voters": case.view.settings.get(broker, "controller.quorum.voters").state == "unset",
        },
        evidence=(
            *evidence_of(case.explained),
            *log_quotes.evidence(case, ("KA501",)),
            *_leaders_moved(case, broker),
            *consumers,
        ),
        not_known=unread,
        confidence=case.roots[0].confidence,
    )


def _dirs(paths: list[str]) -> tuple[str, ...]:
    """Return how a headline names these log dirs, the longest first."""
    if not paths:
        return ("a disk",)
    short = [f"…/{posixpath.basename(path.rstrip('/'))}" for path in paths]
    what = "log dir" if len(paths) == 1 else f"{len(paths)} log dirs"
    return (f"{what} {listing(paths, 3)}", f"{what} {listing(short, 3)}", f"a {what}" if len(paths) == 1 else what)


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


def _leaders_moved(case: Case, broker: int) -> tuple[Evidence, ...]:
    """Return that the broker lost leaders since the previous snapshot."""
    findings = [
        finding
        for finding in case.findings
        if (finding.code, finding.resource.name, finding.status) == ("KA208", f"broker/{broker}", Status.FAIL)
    ]
    return tuple(Evidence(observer=finding.code, text=finding.message) for finding in findings)


def _readers(case: Case, partitions: Iterable[tuple[str, int]]) -> tuple[tuple[Evidence, ...], tuple[str, ...]]:
    """Return consumer groups that read these partitions as evidence, and what is not known of consumers."""
    wanted = {f"{topic}-{number}" for topic, number in partitions}
    groups: dict[str, list[GroupMember]] = defaultdict(list)
    for row in case.view.newest(GroupMember):
        if wanted & set(row.partitions):
            groups[row.group].append(row)
    lines = [_group(name, members, wanted) for name, members in sorted(groups.items())]
    if len(lines) > _SHOWN:
        more = Evidence(
            observer="count", text=f"and {len(lines) - _SHOWN} more consumer groups read partitions whose leader moved"
        )
        lines[_SHOWN:] = [more]
    failed = [r for r in case.view.last_reads if r.operation == "DescribeGroups" and r.outcome == "failed"]
    if not failed:
        return tuple(lines), ()
    subject = listing(sorted({observer_name(read.observer) for read in failed}))
    needs = next((read.needs for read in failed if read.needs), "an answer to ListGroups and DescribeGroups")
    return tuple(lines), (
        f"Not known: consumer groups of {subject} ({clean(failed[0].error or 'no answer')}). Needed: {clean(needs)}.",
    )


def _group(name: str, members: Sequence[GroupMember], wanted: set[str]) -> Evidence:
    clients = listing(sorted({f"{row.client_id or 'no client id'} at {row.host or 'an unknown host'}" for row in members}), 3)
    reads = listing(sorted({partition for row in members for partition in row.partitions} & wanted), 3)
    text = f"reads {reads}, whose leader moved: {counted(len(members), 'member')}, {clients}"
    return Evidence(observer=f"consumer group {clean(name, 60)}", text=text)


def _connected(case: Case, broker: int) -> Written:
    """Return the command that lists the clients of a broker, for a sentence."""
    ports = sorted({endpoint.port for endpoint in case.view.endpoints.of(broker)}) or [9092]
    filters = " or ".join(f"sport = :{port}" for port in ports)
    return Written(quoting.plain_prose((command("ss -tnp state established {filters}", filters=f"( {filters} )"),)))
