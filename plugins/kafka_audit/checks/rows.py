"""What row checks ask of a snapshot: the newest rows of a table, the rows before them, reads that failed, ZooKeeper's gaps."""

from collections.abc import Iterator, Mapping
from typing import TypeVar

from kafka_audit.model.finding import Judgement, Status
from kafka_audit.model.tables import (
    BrokerIdentity,
    RegisteredBroker,
    RegisteredEndpoint,
    Registry,
    Sample,
    Snapshot,
    SnapshotInfo,
    SourceRead,
)

_Sampled = TypeVar("_Sampled", Registry, RegisteredBroker, RegisteredEndpoint)

MOVING = {"error": "in motion", "needs": "another audit: a registration changed between two looks, or is too young"}
"""Evidence of what cannot be judged because it was caught while it changed."""

NO_ZOOKEEPER = "the cluster runs in KRaft mode, without ZooKeeper"


def looks(snapshot: Snapshot) -> tuple[int | None, int | None]:
    """Return the numbers of the newest sample and of the one before it; None where there is none."""
    numbers = sorted({row.sample for row in snapshot.of(Sample)}, reverse=True)
    return (numbers[0] if numbers else None, numbers[1] if len(numbers) > 1 else None)


def newest(snapshot: Snapshot, table: type[_Sampled]) -> tuple[_Sampled, ...]:
    """Return the rows of the newest sample."""
    now, _ = looks(snapshot)
    return tuple(row for row in snapshot.of(table) if row.sample == now)


def earlier(snapshot: Snapshot, table: type[_Sampled]) -> tuple[_Sampled, ...]:
    """Return the rows of the sample before the newest."""
    _, before = looks(snapshot)
    return tuple(row for row in snapshot.of(table) if row.sample == before)


def last_reads(snapshot: Snapshot) -> tuple[SourceRead, ...]:
    """Return each read as it ended when it was asked last."""
    last: dict[tuple[str, str, str], SourceRead] = {}
    for read in snapshot.of(SourceRead):
        key = (read.observer, read.operation, read.target)
        if key not in last or read.sample >= last[key].sample:
            last[key] = read
    return tuple(last.values())


def kraft(snapshot: Snapshot) -> bool:
    """Tell whether there is no ZooKeeper to judge by."""
    return any(info.mode == "kraft" for info in snapshot.of(SnapshotInfo))


def registrations_gap(snapshot: Snapshot, code: str) -> Iterator[Judgement]:
    """Yield the one judgement of a check of registrations where they cannot be judged: KRaft mode, or not read."""
    if kraft(snapshot):
        yield judge(snapshot, code, "cluster", Status.NOT_APPLICABLE, reason=NO_ZOOKEEPER)
        return
    failed = [r for r in last_reads(snapshot) if r.outcome == "failed" and r.operation == "zookeeper /brokers/ids"]
    if failed or not newest(snapshot, Registry):
        error = failed[0].error if failed else None
        needs = failed[0].needs if failed else None
        yield judge(
            snapshot,
            code,
            "cluster",
            Status.UNKNOWN,
            error=f"ZooKeeper was not read: {error or 'no answer'}",
            needs=needs or "a ZooKeeper that answers",
        )


def moved(snapshot: Snapshot) -> frozenset[int]:
    """Return the brokers whose registration was written between the two newest looks."""
    if looks(snapshot)[1] is None:
        return frozenset()
    before = {row.broker_id: row.mzxid for row in earlier(snapshot, RegisteredBroker)}
    return frozenset(row.broker_id for row in newest(snapshot, RegisteredBroker) if before.get(row.broker_id) != row.mzxid)


def judge(snapshot: Snapshot, code: str, resource: str, status: Status, **evidence: str) -> Judgement:
    """Return a judgement with the check's own severity."""
    return Judgement(snapshot_id=snapshot.snapshot_id, code=code, resource=resource, status=status, evidence=evidence)


def endpoint_name(endpoint: RegisteredEndpoint) -> str:
    """Return the resource name of an endpoint."""
    return f"broker/{endpoint.broker_id}/listener/{endpoint.listener}"


def resources(snapshot: Snapshot) -> Mapping[str, str]:
    """Return the resource that each asked broker's reads are about, by observer.

    An address of the cluster file that no broker registered is the broker that the socket says it is, where it says so.
    """
    told = {
        row.address: row.answered_by for row in snapshot.of(BrokerIdentity) if row.broker_id < 0 and row.answered_by is not None
    }
    found = {}
    for read in snapshot.of(SourceRead):
        if read.observer.startswith(("broker:", "broker@")):
            name = read.observer[len("broker:") :]
            found[read.observer] = f"broker/{told.get(read.target, name)}"
    return found
