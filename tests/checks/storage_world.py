"""The rows of a world that tell of disks and of who serves what; keys of `world.py` beside the others:

log_dirs:   by broker id and path what differs from a dir in use: {error, total, usable, replicas, held, offsets, future, holds}.
            `held` is in GiB, `offsets` in MiB; `future` is {topic-partition: [offset lag, size]}, `holds` the partitions in one
            of several dirs by topic (not there: of an old snapshot). A broker that is not named has one dir, `/data`.
copied:     by topic-partition and broker id, the bytes of replicas that are copied (not there: of an old snapshot).
tiered:     by topic-partition of a topic with remote storage {tiered, local, end, bytes, segment}, as its leader has it.
leadership: answers to ListOffsets that nobody would expect: {broker, of: topic-partition, error, listed: whether a view lists it
            as offline}, and by `asked` of a broker id what differs from the counts that follow from the topics; `unasked` are
            brokers that nothing was asked.
coordinators: by broker id, the error of its group coordinator; asked where __consumer_offsets exists.
unready:    by broker id, the partitions of __consumer_offsets that it leads and does not coordinate, with the error of each.
rebalancing: groups in a rebalance by name, `{at, kind, state, members, digest, epochs: [group, assignment], late: clients}`.
shares:     by share group and topic-partition `{at, start, left, members, clients}`; asked where __share_group_state exists.
eligible:   by topic-partition {eligible, last_known, leader}: who may lead where no broker of the ISR does, as broker 0 tells it.
groups:     groups by name, `{at, client, host, partitions, state, kind}`: the broker that coordinates it, and its one member.
ends:       by topic and partition, where it ends and where it ends some seconds later; then groups are asked for, too.
transactions: {of: topic-partition, stable, end, older_s}: transactions that are open for too long. Where there are some, each
            broker is asked for those that it coordinates.
coordinated: {of, id, state, at: the coordinator, producer, epoch, began_s, timeout_s}: transactions that a coordinator has.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from kafka_audit.model.tables import (
    CoordinatedTransaction,
    CoordinatorPartition,
    CopiedReplica,
    DiskReplicas,
    EligibleReplicas,
    GroupCoordinator,
    GroupMember,
    LeadershipAnswer,
    LeadershipAsked,
    LogDir,
    LogDirReplica,
    OldTransaction,
    RebalancingGroup,
    Row,
    SharePartition,
    TieredPartition,
    TopicEnd,
)

World = Mapping[str, Any]
GIGABYTE = 10**9
STARTED_MS = 1700000100000  # of `base.yaml`
COMMITTED, ENDS = "read_committed offsets", "end offsets"
COPIED, TIER, SHARES = "DescribeLogDirs of copied replicas", "ListOffsets tier", "DescribeShareGroupOffsets"


def reads_of_disks(world: World, observer: str) -> tuple[str, ...]:
    """Return what a registered broker is asked beside what every address is."""
    number = observer.removeprefix("broker:")
    if not number.isdigit():
        return ()
    committed = (COMMITTED,) if "__transaction_state" in world["topics"] else ()
    copied = (COPIED,) if any(int(number) in held for held in world["copied"].values()) else ()
    copied += (TIER,) if any(_leader(world, name) == int(number) for name in world["tiered"]) else ()
    unasked = int(number) in world["leadership"].get("unasked", ())
    committed += ("ListTransactions",) if committed and world["transactions"] else ()
    groups = ("ListGroups", "DescribeGroups coordinators", "DescribeGroups rebalancing")
    committed += groups if "__consumer_offsets" in world["topics"] else ()
    committed += (SHARES,) if "__share_group_state" in world["topics"] else ()
    committed += ("DescribeGroups", ENDS) if world["ends"] else ()
    return ("DescribeLogDirs",) if unasked else ("DescribeLogDirs", *copied, "ListOffsets", *committed)


def stored(sample: int, world: World, failed: set[tuple[str, str]]) -> Iterator[Row]:
    """Yield what one look reads; `failed` are (observer, operation) of reads that were not answered."""
    for name, replicas in world["eligible"].items():
        topic, _, number = name.rpartition("-")
        who = {key: tuple(replicas[key]) for key in ("eligible", "last_known")}
        head = {"sample": sample, "observer": "broker:0", "topic": topic, "partition": int(number), "isr": ()}
        yield EligibleReplicas(**head, leader=replicas.get("leader"), **who)
    yield from _clients(sample, world, failed)
    for broker in world["brokers"]:
        observer = f"broker:{broker}"
        head = {"sample": sample, "observer": observer, "broker_id": broker}
        if (observer, "DescribeLogDirs") not in failed:
            assigned = sum(
                broker in state["replicas"] for held in world["topics"].values() for state in held["partitions"].values()
            )
            for path, log_dir in world["log_dirs"].get(broker, {"/data": {"replicas": assigned}}).items():
                yield from _log_dir(head, path, log_dir)
        if (observer, COPIED) not in failed:
            yield from _copied(head, world)
        if (observer, TIER) not in failed:
            yield from _tiered(head, world)
        if (observer, "ListOffsets") not in failed:
            yield from _leadership(head, world)
        if "__consumer_offsets" in world["topics"] and (observer, "ListGroups") not in failed:
            yield GroupCoordinator(**head, error=world["coordinators"].get(broker, 0))
            for partition, error in world["unready"].get(broker, {}).items():
                yield CoordinatorPartition(**head, partition=partition, error=error)
        yield from _transactions(head, world, failed)


def _tiered(head: World, world: World) -> Iterator[Row]:
    for name, held in world["tiered"].items():
        if _leader(world, name) == head["broker_id"]:
            topic, _, number = name.rpartition("-")
            offsets = {f"{key}_offset": held[key] for key in ("tiered", "local", "end")}
            sizes = {"local_bytes": held["bytes"], "segment_bytes": held.get("segment")}
            yield TieredPartition(**head, topic=topic, partition=int(number), **offsets, **sizes)


def _leader(world: World, name: str) -> int:
    topic, _, number = name.rpartition("-")
    leader: int = world["topics"][topic]["partitions"][int(number)]["leader"]
    return leader


def _clients(sample: int, world: World, failed: set[tuple[str, str]]) -> Iterator[Row]:
    for name, group in world["groups"].items():
        head = {"sample": sample, "observer": f"broker:{group['at']}", "broker_id": group["at"], "group": name}
        head |= {"state": group.get("state", "Stable"), "kind": group.get("kind", "")}
        yield GroupMember(**head, client_id=group["client"], host=group["host"], partitions=tuple(group["partitions"]))
    for name, group in world["rebalancing"].items():
        at, epochs = group.get("at", 0), group.get("epochs", [None, None])
        head = {"sample": sample, "observer": f"broker:{at}", "broker_id": at, "group": name}
        if (head["observer"], "DescribeGroups rebalancing") not in failed:
            late = tuple(group.get("late", ()))
            head |= {
                "members": group["members"],
                "members_digest": group.get("digest", ""),
                "late": len(late),
                "late_clients": late,
            }
            head |= {"kind": group.get("kind", "classic"), "state": group.get("state", "PreparingRebalance")}
            yield RebalancingGroup(**head, group_epoch=epochs[0], assignment_epoch=epochs[1])
    for name, partitions in world["shares"].items():
        for place, held in partitions.items():
            topic, _, number = place.rpartition("-")
            head = {"sample": sample, "observer": f"broker:{held['at']}", "broker_id": held["at"], "group": name}
            clients = tuple(held.get("clients", ()))
            counts = {"start_offset": held["start"], "left": held["left"], "members": held.get("members", len(clients))}
            if (head["observer"], SHARES) not in failed:
                yield SharePartition(**head, topic=topic, partition=int(number), clients=clients, **counts)
    for topic, ends in world["ends"].items():
        for number, (end, later) in ends.items():
            leader = world["topics"][topic]["partitions"][number]["leader"]
            head = {"sample": sample, "observer": f"broker:{leader}", "broker_id": leader}
            if (head["observer"], ENDS) not in failed:
                yield TopicEnd(**head, topic=topic, partition=number, end_offset=end, later_offset=later)


def _copied(head: World, world: World) -> Iterator[Row]:
    for name, held in world["copied"].items():
        topic, _, number = name.rpartition("-")
        if head["broker_id"] in held:
            yield CopiedReplica(**head, topic=topic, partition=int(number), size_bytes=held[head["broker_id"]])


def _transactions(head: World, world: World, failed: set[tuple[str, str]]) -> Iterator[Row]:
    if (head["observer"], "ListTransactions") not in failed:
        yield from _coordinated(head, world)
    for transaction in () if (head["observer"], COMMITTED) in failed else world["transactions"]:
        topic, _, number = transaction["of"].rpartition("-")
        if world["topics"][topic]["partitions"][int(number)]["leader"] == head["broker_id"]:
            offsets = {
                "stable_offset": transaction["stable"],
                "end_offset": transaction["end"],
                "older_than_ms": 1000 * transaction["older_s"],
            }
            yield OldTransaction(**head, topic=topic, partition=int(number), **offsets)


def _coordinated(head: World, world: World) -> Iterator[Row]:
    for known in world["coordinated"]:
        if known["at"] == head["broker_id"]:
            yield CoordinatedTransaction(
                **head,
                transactional_id=known["id"],
                producer_id=known["producer"],
                producer_epoch=known["epoch"],
                state=known["state"],
                started_ms=STARTED_MS - 1000 * known["began_s"],
                timeout_ms=1000 * known["timeout_s"],
                partitions=tuple(known["of"].split(", ")),
            )


def _log_dir(head: World, path: str, log_dir: World) -> Iterator[Row]:
    dead = bool(log_dir.get("error"))
    sizes = {
        "total_bytes": log_dir.get("total", None if dead else 100),
        "usable_bytes": log_dir.get("usable", None if dead else 60),
    }
    sizes = {key: None if value is None else value * GIGABYTE for key, value in sizes.items()}
    held, future = log_dir.get("held", 0), log_dir.get("future", {})
    digest = {"replicas_digest": f"of {head['broker_id']}{path}" if "holds" in log_dir else None}
    sizes |= {"replica_bytes": None if held is None else held * 2**30}
    sizes |= {"offsets_bytes": log_dir["offsets"] * 2**20 if "offsets" in log_dir else None}
    yield LogDir(
        **head, path=path, error=log_dir.get("error", 0), replicas=log_dir.get("replicas", 0 if dead else 4), **sizes, **digest
    )
    for topic, partitions in log_dir.get("holds", {}).items():
        yield DiskReplicas(replicas_digest=digest["replicas_digest"], topic=topic, partitions=tuple(partitions))
    for name, (lag, size) in future.items():
        topic, _, number = name.rpartition("-")
        yield LogDirReplica(**head, path=path, topic=topic, partition=int(number), offset_lag=lag, size_bytes=size)


def _leadership(head: World, world: World) -> Iterator[Row]:
    broker = head["broker_id"]
    states = {
        f"{topic}-{number}": state for topic, held in world["topics"].items() for number, state in held["partitions"].items()
    }
    mine = [answer for answer in world["leadership"].get("answers", ()) if answer["broker"] == broker]
    for partition in mine:
        topic, _, number = partition["of"].rpartition("-")
        state = states[partition["of"]]
        yield LeadershipAnswer(
            **head,
            topic=topic,
            partition=int(number),
            asked_as="leader" if state["leader"] == broker else "former",
            error=partition["error"],
            leader=state["leader"],
            leader_epoch=state["leader_epoch"],
            preferred=state["replicas"][0] == broker,
            listed_offline=partition.get("listed", False),
        )
    leading = sum(state["leader"] == broker for state in states.values())
    preferred = sum(state["replicas"][0] == broker != state["leader"] for state in states.values())
    counts = {
        "as_leader": leading,
        "as_former": preferred,
        "listed_offline": sum(partition.get("listed", False) for partition in mine),
    }
    counts |= world["leadership"].get("asked", {}).get(broker, {})
    if any(counts.values()):
        yield LeadershipAsked(**head, **counts)
