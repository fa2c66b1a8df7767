"""KA612."""

from collections.abc import Iterator

from kafka_audit.checks import row_check
from kafka_audit.checks.rows import judge, looks, newest, registrations_gap
from kafka_audit.model.finding import Judgement, Severity, Status
from kafka_audit.model.tables import RegisteredBroker, RegisteredPartition, Snapshot, SnapshotInfo


@row_check(
    code="KA612",
    severity=Severity.MEDIUM,
    needs=(RegisteredBroker,),
    says={
        Status.FAIL: "One broker carries the cluster: broker {broker} alone is registered, and nothing is assigned to another",
        Status.PASS: "{count} brokers carry the cluster",
        Status.UNKNOWN: "Not known: whether a single broker carries the cluster ({error})",
        Status.NOT_APPLICABLE: "A single broker is no fault here: {reason}",
    },
)
def single_broker(snapshot: Snapshot) -> Iterator[Judgement]:
    """A single broker carries the cluster.

    ## Why it matters
    Every restart is an outage, every dead disk is lost data. Replication cannot be had later without moving every partition.

    ## Fails when
    One broker is registered and no partition is assigned to another. MEDIUM: many run one on purpose, few know that they do.

    ## Not known when
    ZooKeeper was not read. It does not apply where the cluster file says `expect: {single_broker: true}`, nor where assignments
    or `expect.brokers` name more brokers: then the others are gone, which is KA113.

    ## Passes only when
    At least two brokers are registered.

    ## What to do
    Add brokers. Then give every partition three replicas, internal topics too, in a plan of your own:
    `kafka-reassign-partitions.sh --bootstrap-server <broker>:9092 --reassignment-json-file plan.json --execute`; with `--verify`
    instead it tells how far. For topics to come: `default.replication.factor=3` and `offsets.topic.replication.factor=3`. If one
    broker is meant to be, say so in the cluster file: `expect: {single_broker: true}`.

    ## References
    Settings `default.replication.factor` and `min.insync.replicas`.
    """
    gap = tuple(registrations_gap(snapshot, "KA612"))
    yield from gap
    if gap:
        return
    info = next(iter(snapshot.of(SnapshotInfo)), None)
    registered = {row.broker_id for row in newest(snapshot, RegisteredBroker)}
    now, _ = looks(snapshot)
    known = registered | {one for row in snapshot.of(RegisteredPartition) if row.sample == now for one in row.replicas}
    count = str(len(registered))
    if len(registered) > 1:
        yield judge(snapshot, "KA612", "cluster", Status.PASS, count=count)
    elif info is not None and info.expect_single_broker:
        yield judge(
            snapshot, "KA612", "cluster", Status.NOT_APPLICABLE, count=count, reason="the cluster file expects a single broker"
        )
    elif len(known) > 1 or not registered or (info is not None and (info.expect_brokers or 0) > 1):
        reason = f"{len(registered)} brokers are registered, and others are assigned or expected (KA113)"
        yield judge(snapshot, "KA612", "cluster", Status.NOT_APPLICABLE, count=count, reason=reason)
    else:
        yield judge(snapshot, "KA612", "cluster", Status.FAIL, count=count, broker=str(min(registered)))
