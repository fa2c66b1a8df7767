"""KA612."""

from collections.abc import Iterator

from kafka_audit.checks import row_check
from kafka_audit.checks.rows import judge, kraft, looks, newest, registrations_gap
from kafka_audit.model.finding import Judgement, Severity, Status
from kafka_audit.model.tables import (
    BrokerView,
    FencedBroker,
    RegisteredBroker,
    RegisteredPartition,
    Snapshot,
    SnapshotInfo,
    ViewBroker,
    ViewPartition,
)


@row_check(
    code="KA612",
    severity=Severity.MEDIUM,
    needs=(RegisteredBroker,),
    says={
        Status.FAIL: "One broker carries the cluster: broker {broker} alone is there, and nothing is assigned to another",
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
    One broker is registered (in KRaft: listed), and no partition is assigned to another. MEDIUM: many run one on purpose, few
    know that they do.

    ## Not known when
    ZooKeeper was not read; in KRaft: no broker answered, or one alone that lists others. It does not apply where the cluster file
    says `expect: {single_broker: true}`, nor where assignments or `expect.brokers` name more brokers: then the others are gone,
    which is KA113.

    ## Passes only when
    At least two brokers are registered (in KRaft: listed by two).

    ## What to do
    Add brokers. Then give every partition three replicas, internal topics too, in a plan of your own:
    `kafka-reassign-partitions.sh --bootstrap-server <broker>:9092 --reassignment-json-file plan.json --execute`; with `--verify`
    instead it tells how far. For topics to come: `default.replication.factor=3` and `offsets.topic.replication.factor=3`. If one
    broker is meant to be, say so in the cluster file: `expect: {single_broker: true}`.

    ## References
    Settings `default.replication.factor` and `min.insync.replicas`.
    """
    registered, assigned = _by_views(snapshot) if kraft(snapshot) else _by_zookeeper(snapshot)
    gap = tuple(_not_told(snapshot, registered, assigned) if kraft(snapshot) else registrations_gap(snapshot, "KA612"))
    yield from gap
    if gap:
        return
    info = next(iter(snapshot.of(SnapshotInfo)), None)
    known = registered | assigned
    count = str(len(registered))
    if len(registered) > 1:
        yield judge(snapshot, "KA612", "cluster", Status.PASS, count=count)
    elif info is not None and info.expect_single_broker:
        yield judge(
            snapshot, "KA612", "cluster", Status.NOT_APPLICABLE, count=count, reason="the cluster file expects a single broker"
        )
    elif len(known) > 1 or not registered or (info is not None and (info.expect_brokers or 0) > 1):
        reason = f"{len(registered)} brokers are there, and others are assigned or expected (KA113)"
        yield judge(snapshot, "KA612", "cluster", Status.NOT_APPLICABLE, count=count, reason=reason)
    else:
        yield judge(snapshot, "KA612", "cluster", Status.FAIL, count=count, broker=str(min(registered)))


def _by_zookeeper(snapshot: Snapshot) -> tuple[set[int], set[int]]:
    """Return who is registered, and to whom partitions are assigned."""
    now, _ = looks(snapshot)
    assigned = {one for row in snapshot.of(RegisteredPartition) if row.sample == now for one in row.replicas}
    return {row.broker_id for row in newest(snapshot, RegisteredBroker)}, assigned


def _by_views(snapshot: Snapshot) -> tuple[set[int], set[int]]:
    """Return whom brokers list, and to whom partitions are assigned or who is fenced."""
    digests = {view.brokers_digest for view in _views(snapshot)}
    listed = {row.broker_id for row in snapshot.of(ViewBroker) if row.brokers_digest in digests}
    assigned = {one for row in snapshot.of(ViewPartition) for one in row.replicas}
    return listed, assigned | {row.fenced_id for row in snapshot.of(FencedBroker)}


def _views(snapshot: Snapshot) -> tuple[BrokerView, ...]:
    now, _ = looks(snapshot)
    return tuple(view for view in snapshot.of(BrokerView) if view.sample == now)


def _not_told(snapshot: Snapshot, listed: set[int], assigned: set[int]) -> Iterator[Judgement]:
    """Yield what keeps the lists of brokers from being believed: there is none, or one broker alone speaks of others."""
    views = _views(snapshot)
    speakers = len({view.broker_id for view in views if view.broker_id >= 0}) or len(views[:1])
    words = {"who": "any broker"}
    if not listed or speakers < min(len(listed), 2):
        words["error"] = "one broker alone lists the others" if listed else "no broker listed any"
        words["needs"] = "a second broker that answers Metadata"
    elif len(listed) == 1 and not assigned:
        words["error"], words["needs"] = "no partition was seen", "a topic, and Describe on it"
    else:
        return
    yield judge(snapshot, "KA612", "cluster", Status.UNKNOWN, **words)
