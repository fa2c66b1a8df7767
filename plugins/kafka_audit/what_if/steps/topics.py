"""Topics that are deleted, and partitions that get other replicas."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from kafka_audit.cluster.coordinators import lists_all_groups
from kafka_audit.cluster.cordons import CORDONED, cordoned
from kafka_audit.cluster.processes import Processes, ProcessState
from kafka_audit.cluster.view import ClusterView
from kafka_audit.differences.tables import DeletedTopic, TopicPlacement
from kafka_audit.model import quoting
from kafka_audit.model.commands import Line
from kafka_audit.model.errors import UsageError
from kafka_audit.model.tables import GroupMember, OldTransaction, Reassignment, TopicEnd
from kafka_audit.model.text import brokers, clean, counted, listing
from kafka_audit.what_if.steps.objections import (
    Objection,
    costs,
    keeper,
    missing_topic,
    never,
    not_now,
    placements,
    read_failed,
    unknown_whether,
    unread,
)

_GROUPS, _ENDS, _DELETION = "DescribeGroups", "end offsets", "delete.topic.enable"
_WITHOUT_MEMBERS, _ASSIGNED = frozenset({"Empty", "Dead"}), frozenset({"Stable", "Assigning", "Reconciling"})
_MOST_BYTES, _ANY_DIR, _MOST_MOVES = 16 * 1024 * 1024, "any", 200_000


def deletion(view: ClusterView, topic: str, run: Callable[..., Line]) -> Iterator[Objection]:
    """Yield what stands against the deletion of a topic; `run` makes a command of a template that names {broker}."""
    name = clean(topic)
    if (kept := keeper(topic)) is not None:
        yield never(f"{name} keeps {kept}", kept)
        return
    if missing := [*missing_topic(view, topic)]:
        yield from missing
        return
    yield from _taken(view)
    if any(row.topic == topic for row in view.differences.of(DeletedTopic)):
        yield not_now(f"{name} is marked for deletion already", "the end of its deletion (KA610)")
    if any(row.topic == topic for row in view.newest(Reassignment)):
        yield not_now(f"partitions of {name} are being reassigned", "the end of the reassignment, or its cancellation")
    rows = placements(view, topic)
    gone = sorted({broker for row in rows for broker in row.replicas} - view.brokers.keys() - view.unlisted)
    if gap := [*unread(view, "brokers", "which brokers run")]:
        yield from gap
    elif gone and view.kraft:
        back = "it is" if len(gone) == 1 else "they are"
        yield costs(f"the controller deletes it at once; the files on {brokers(gone)} go when {back} back in service", "")
    elif gone:
        unseen = {node for node, one in view.derived(Processes).all.items() if one.state is ProcessState.NEVER_STARTED}
        why = f"{brokers(gone)}, with replicas of {name}, {'is' if len(gone) == 1 else 'are'} down"
        if unseen.issuperset(gone):
            why = f"nothing shows that there {'is a' if len(gone) == 1 else 'are'} {brokers(gone)}, with replicas of {name}"
        waits = "their reassignment to brokers that exist" if unseen.issuperset(gone) else brokers(gone)
        yield not_now(f"{why}: the deletion ends when {'it is' if len(gone) == 1 else 'they are'} there", waits)
    yield from _readers(view, topic, run)
    yield from _writers(view, topic, len(rows))
    records = f"all records of {name} ({counted(len(rows), 'partition')}), its settings and the offsets that groups committed"
    yield costs("a deletion cannot be undone", records)


def _taken(view: ClusterView) -> Iterator[Objection]:
    """Yield where deletion is off, or that this is not known: brokers decide with ZooKeeper, in KRaft the controllers."""
    controllers = [node for node in sorted(view.quorum.now.voters) if view.settings.running(node, _DELETION).known]
    texts = {node: view.settings.running(node, _DELETION) for node in controllers or view.inter_broker.brokers}
    off = [node for node, found in texts.items() if (found.value or "").strip().lower() == "false"]
    if off:
        yield not_now(f"{_DELETION} is false at {view.party(off[0])}: Kafka refuses", f"{_DELETION}=true, and a restart")
    elif not any(found.known for found in texts.values()):
        yield unknown_whether(f"{_DELETION}, with which Kafka may refuse", "DescribeConfigs on Cluster")


def _readers(view: ClusterView, topic: str, run: Callable[..., Line]) -> Iterator[Objection]:
    reads = [read for read in view.last_reads if read.operation == _GROUPS]
    failed = [read for read in reads if read.outcome == "failed"]
    reading: dict[str, set[str]] = {}
    for row in view.of(GroupMember):
        if any(place.rpartition("-")[0] == topic for place in row.partitions):
            reading.setdefault(row.group, set()).add(row.host)
    if reading:
        who = listing(map(clean, sorted(reading)), 5)
        hosts = listing(map(clean, sorted({host for found in reading.values() for host in found})), 5)
        yield not_now(
            f"{counted(len(reading), 'consumer group reads', 'consumer groups read')} {clean(topic)}: {who}, from {hosts}",
            f"the end of {who}",
        )
    asked = {read.observer for read in reads if read.outcome == "answered"}
    silent = [broker for broker in view.brokers if f"broker:{broker}" not in asked]
    if failed or silent:
        error = failed[0].error if failed else f"{brokers(silent)} {'was' if len(silent) == 1 else 'were'} not asked"
        needs = (failed and failed[0].needs) or "Describe on Group '*', and an audit for this step"
        yield unknown_whether(f"which groups read {clean(topic)}: {error}", needs)
    elif not lists_all_groups(view):
        yield unknown_whether(f"whether groups read {clean(topic)} that the auditor may not describe", "Describe on Cluster")
    hidden = {
        row.group: row
        for row in view.of(GroupMember)
        if row.state not in _WITHOUT_MEMBERS and (row.kind or row.state not in _ASSIGNED)
    }
    for name, row in sorted(hidden.items())[:3]:
        if name not in reading:
            what = f"{row.kind} group" if row.kind else "group in rebalance"
            tool = f"kafka-{row.kind or 'consumer'}-groups.sh --bootstrap-server {{broker}} --describe --group {{group}}"
            lines = " ".join(quoting.lines([run(tool, group=name)]))
            yield unknown_whether(f"whether {what} {clean(name)} reads {clean(topic)}", f"`{lines}`")


def _writers(view: ClusterView, topic: str, partitions: int) -> Iterator[Objection]:
    name, ends = clean(topic), [row for row in view.newest(TopicEnd) if row.topic == topic]
    written = [row for row in ends if row.later_offset > row.end_offset >= 0]
    opened = [row for row in view.newest(OldTransaction) if row.topic == topic]
    if opened:
        yield not_now(f"a transaction is open in {name}-{opened[0].partition} (KA614)", "its end")
    if written:
        yield not_now(f"records are written to {counted(len(written), 'partition')} of {name} now", "the end of its producers")
    elif len([row for row in ends if row.end_offset >= 0 and row.later_offset >= 0]) < partitions:
        failed = next((read for read in view.last_reads if read.operation == _ENDS and read.outcome == "failed"), None)
        why = failed.error if failed else "its leaders did not report where its partitions end"
        yield unknown_whether(
            f"whether records are written to {name}: {why}", (failed and failed.needs) or "`kafka-audit may` on the cluster"
        )


@dataclass(frozen=True, kw_only=True)
class Move:
    """One entry of a plan: where the replicas of a partition are to be; a log dir for each, or none named."""

    topic: str
    partition: int
    replicas: tuple[int, ...]
    log_dirs: tuple[str, ...] = ()


def read_plan(text: bytes, name: str) -> tuple[Move, ...]:
    """Read a plan of kafka-reassign-partitions.sh; raises UsageError where the tool would not take it."""
    try:
        if len(text) > _MOST_BYTES:
            raise ValueError("more than 16 MB")  # noqa: EM101, TRY301, TRY003 -- one place for what a plan is not
        entries = json.loads(text)["partitions"]
        found = tuple(
            Move(
                topic=str(entry["topic"]),
                partition=int(entry["partition"]),
                replicas=tuple(map(int, entry["replicas"])),
                log_dirs=tuple(map(str, entry.get("log_dirs", ()))),
            )
            for entry in entries
        )
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        msg = f"{clean(name)} is no plan of kafka-reassign-partitions.sh: {type(error).__name__} {clean(error)}"
        raise UsageError(msg) from error
    if not 0 < len(found) <= _MOST_MOVES:
        msg = f"{clean(name)}: a plan has 1 to {_MOST_MOVES} partitions, not {len(found)}"
        raise UsageError(msg)
    return found


def reassignment(view: ClusterView, moves: Sequence[Move]) -> Iterator[Objection]:
    """Yield what stands against a plan: Kafka refuses all of it, copies are lost or the disks are full."""
    seen: set[tuple[str, int]] = set()
    by_topic: dict[str, Mapping[int, TopicPlacement]] = {}
    moving = {(row.topic, row.partition): {*row.removing} for row in view.newest(Reassignment)}
    yield from read_failed(view, "zookeeper /admin/reassign_partitions", "whether partitions are being reassigned already")
    asked = [read for read in view.last_reads if read.operation == "ListPartitionReassignments"]
    if view.kraft and not any(read.outcome == "answered" for read in asked):
        yield unknown_whether("whether partitions are being reassigned already", "Describe on Cluster")
    for move in moves:
        place = f"{clean(move.topic)}-{move.partition}"
        if (move.topic, move.partition) in seen:
            yield not_now(f"the plan names {place} twice: Kafka refuses it", "one entry for each partition")
        seen.add((move.topic, move.partition))
        if move.topic not in by_topic:
            by_topic[move.topic] = {row.partition: row for row in placements(view, move.topic)}
            yield from missing_topic(view, move.topic)
        now = by_topic[move.topic].get(move.partition)
        if now is None:
            if by_topic[move.topic]:
                yield not_now(f"the cluster has no partition {place}: Kafka refuses the plan", "a partition that exists")
            continue
        if now.leader is None or now.leader < 0:
            yield not_now(f"{place} has no leader, from which replicas could be copied", f"a leader of {place}")
        leaving = moving.get((move.topic, move.partition), set())
        yield from _move(view, move, place, tuple(broker for broker in now.replicas if broker not in leaving))
        if (move.topic, move.partition) in moving:
            yield not_now(f"{place} is being reassigned already", "the end of that reassignment, or its cancellation")
    yield from _targets(
        view, moves, {topic: {number: row.replicas for number, row in rows.items()} for topic, rows in by_topic.items()}
    )


def _move(view: ClusterView, move: Move, place: str, now: tuple[int, ...]) -> Iterator[Objection]:
    if len({*move.replicas}) < len(move.replicas) or not move.replicas or min(move.replicas) < 0:
        yield not_now(f"the replicas of {place} in the plan are no list of distinct brokers: Kafka refuses it", "another list")
    elif len(move.replicas) < len(now):
        why = f"{place} would have {counted(len(move.replicas), 'replica')} instead of {len(now)}"
        yield not_now(why, f"a plan in which {place} keeps {counted(len(now), 'replica')}")
    if move.log_dirs and len(move.log_dirs) != len(move.replicas):
        yield not_now(
            f"{place} has {len(move.log_dirs)} log dirs for {len(move.replicas)} replicas: the tool refuses", "one for each"
        )
    racks = {broker: row.rack for broker, row in view.brokers.items() if row.rack is not None}
    before, after = ({racks.get(broker) for broker in of} for of in (now, move.replicas))
    if len(after) == 1 < len(before) and len(move.replicas) > 1 and None not in after:
        yield not_now(f"all replicas of {place} would be in rack {clean(after.pop())}", "a plan that uses several racks")


def _targets(view: ClusterView, moves: Sequence[Move], now: Mapping[str, Mapping[int, tuple[int, ...]]]) -> Iterator[Objection]:
    """Yield what is wrong with brokers and log dirs that get replicas."""
    if gap := [*unread(view, "brokers", "which brokers there are")]:
        yield from gap
        return
    added = _added(moves, now)
    for broker in sorted({broker for move in moves for broker in move.replicas} - view.brokers.keys() - view.unlisted):
        if broker in added:
            yield not_now(
                f"broker {broker} is not registered", f"the registration of broker {broker}, or another broker in the plan"
            )
    named = {
        (broker, path) for move in moves for broker, path in zip(move.replicas, move.log_dirs, strict=False) if path != _ANY_DIR
    }
    for broker, path in sorted(named):
        dirs = view.log_dirs(broker)
        if not dirs:
            yield unknown_whether(f"the log dirs of broker {broker}", "Describe on Cluster, for DescribeLogDirs")
        elif path not in dirs:
            yield not_now(
                f"broker {broker} has no log dir {clean(path)}: Kafka refuses the plan", f"one of {listing(map(clean, dirs), 5)}"
            )
    for broker in sorted(added.keys() & view.brokers.keys()):
        yield from _room(view, broker, added[broker], now, {path for other, path in named if other == broker})


def _added(moves: Sequence[Move], now: Mapping[str, Mapping[int, tuple[int, ...]]]) -> Mapping[int, set[tuple[str, int]]]:
    """Return the partitions of which each broker gets a replica that it does not have."""
    added: dict[int, set[tuple[str, int]]] = {}
    for move in moves:
        held = now[move.topic].get(move.partition)
        for broker in () if held is None else (broker for broker in move.replicas if broker not in held):
            added.setdefault(broker, set()).add((move.topic, move.partition))
    return added


def _room(
    view: ClusterView,
    broker: int,
    added: set[tuple[str, int]],
    now: Mapping[str, Mapping[int, tuple[int, ...]]],
    named: set[str],
) -> Iterator[Objection]:
    dirs, closed = view.log_dirs(broker), cordoned(view, broker)
    if not dirs:
        yield unknown_whether(f"the log dirs of broker {broker}", "Describe on Cluster, for DescribeLogDirs")
        return
    if view.kraft and not view.settings.running(broker, CORDONED).known:
        yield unknown_whether(f"whether broker {broker} takes new replicas ({CORDONED})", "DescribeConfigs on Cluster")
    offline = [path for path, row in dirs.items() if row.error and (path in named or not named)]
    if offline:
        yield not_now(f"log dir {clean(offline[0])} of broker {broker} is offline (KA501)", "its repair")
    if closed and (closed >= dirs.keys() or closed & named):
        which = "every log dir" if closed >= dirs.keys() else f"log dir {clean(min(closed & named))}"
        yield not_now(f"{which} of broker {broker} is cordoned: Kafka refuses new replicas", "cordoned.log.dirs without it")
    holders = {other for topic, partition in added for other in now[topic][partition]}
    held = [row.replica_bytes for other in holders for row in view.log_dirs(other).values()]
    usable = [row.usable_bytes for path, row in dirs.items() if not row.error and path not in closed]
    what = f"whether broker {broker} has room for {counted(len(added), 'new replica')}"
    sizes = "kafka-log-dirs.sh --bootstrap-server BROKER:9092 --describe, and the free bytes of its disks"
    known = [size for size in usable if size is not None]
    if not known or None in held or len(known) < len(usable):
        yield unknown_whether(f"{what}: this release does not report free bytes", sizes)
    elif min(known) < sum(size or 0 for size in held):
        yield unknown_whether(f"{what}: {min(known)} bytes are free, and brokers that hold them have more in all", sizes)
