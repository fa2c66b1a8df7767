"""What row checks ask of a snapshot: the newest rows of a table, the rows before them, ZooKeeper's gaps."""

from collections.abc import Iterator, Mapping
from typing import TypeVar

from kafka_audit.checks.reads import last_reads, resources
from kafka_audit.model.finding import Judgement, Status
from kafka_audit.model.tables import (
    BrokerConfig,
    BrokerView,
    RegisteredBroker,
    RegisteredEndpoint,
    Registry,
    Sample,
    Snapshot,
    SnapshotInfo,
    SourceRead,
)

_Sampled = TypeVar("_Sampled", Registry, RegisteredBroker, RegisteredEndpoint)

MOVING = {"error": "in motion", "needs": "another audit: what is registered or listed changed between looks, or is too young"}
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


def kraft(snapshot: Snapshot) -> bool:
    """Tell whether there is no ZooKeeper to judge by."""
    return any(info.mode == "kraft" for info in snapshot.of(SnapshotInfo))


def registrations_gap(snapshot: Snapshot, code: str) -> Iterator[Judgement]:
    """Yield the one judgement of a check of registrations where they cannot be judged: KRaft mode, or not read."""
    if kraft(snapshot):
        yield judge(snapshot, code, "cluster", Status.NOT_APPLICABLE, who="any broker", reason=NO_ZOOKEEPER)
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
            who="any broker",
            error=f"ZooKeeper was not read: {error or 'no answer'}",
            needs=needs or "a ZooKeeper that answers",
        )


def moved(snapshot: Snapshot) -> frozenset[int]:
    """Return the brokers whose registration was written between the two newest looks."""
    if looks(snapshot)[1] is None:
        return frozenset()
    before = {row.broker_id: row.mzxid for row in earlier(snapshot, RegisteredBroker)}
    return frozenset(row.broker_id for row in newest(snapshot, RegisteredBroker) if before.get(row.broker_id) != row.mzxid)


def ages_ms(snapshot: Snapshot) -> Mapping[int, int]:
    """Return for how long each broker had been registered when the snapshot began, in milliseconds."""
    started = min((info.started_ms for info in snapshot.of(SnapshotInfo)), default=0)
    return {row.broker_id: started - row.registered_ms for row in newest(snapshot, RegisteredBroker)}


def inter_broker_listeners(snapshot: Snapshot) -> frozenset[str]:
    """Return the names of the listeners that brokers say they use between each other, as far as DescribeConfigs told."""
    settings = {(row.broker_id, row.key): row.value for row in snapshot.of(BrokerConfig)}
    names = (
        settings.get((broker, "inter.broker.listener.name")) or settings.get((broker, "security.inter.broker.protocol"))
        for broker in {broker for broker, _ in settings}
    )
    return frozenset(name for name in names if name)


def judge(snapshot: Snapshot, code: str, resource: str, status: Status, **evidence: str) -> Judgement:
    """Return a judgement with the check's own severity."""
    return Judgement(snapshot_id=snapshot.snapshot_id, code=code, resource=resource, status=status, evidence=evidence)


def endpoint_name(endpoint: RegisteredEndpoint) -> str:
    """Return the resource name of an endpoint."""
    return f"broker/{endpoint.broker_id}/listener/{endpoint.listener}"


def silent_brokers(snapshot: Snapshot) -> frozenset[str]:
    """Return registered brokers without a view in the newest look; where no registry was read, those that were asked."""
    now, _ = looks(snapshot)
    of = resources(snapshot)
    seen = {of.get(view.observer) for view in snapshot.of(BrokerView) if view.sample == now}
    known = {f"broker/{row.broker_id}" for row in newest(snapshot, RegisteredBroker)}
    if all(registry.brokers_pzxid is None for registry in newest(snapshot, Registry)):
        reads = (read for read in snapshot.of(SourceRead) if read.sample == now and read.observer.startswith("broker:"))
        known = {of[read.observer] for read in reads}
    return frozenset(known - seen)
