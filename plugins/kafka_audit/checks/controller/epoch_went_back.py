"""KA204."""

from collections.abc import Iterator

from kafka_audit.checks import check
from kafka_audit.checks.controller.since_previous import gap_judgement, partition_resource
from kafka_audit.cluster.view import ClusterView
from kafka_audit.differences.tables import LISTED, EpochChange
from kafka_audit.model.finding import Confidence, Judgement, Severity, Status
from kafka_audit.model.tables import BrokerView, QuorumView
from kafka_audit.model.text import listing


@check(
    code="KA204",
    severity=Severity.CRITICAL,
    parts=("controller epoch", "topics"),
    says={
        Status.FAIL: "Brokers will reject the controller: {what} fell from {before} to {after} since the previous snapshot",
        Status.PASS: "The controller epoch did not fall since the previous snapshot (from {before} to {after})",
        Status.UNKNOWN: "Cannot determine whether epochs fell ({error})",
        Status.NOT_APPLICABLE: "Epochs cannot be compared: {reason}",
    },
)
def epoch_went_back(view: ClusterView) -> Iterator[Judgement]:
    """A controller epoch or leader epoch is lower than in the previous snapshot.

    ## Why it matters
    Epochs only rise. If an epoch fell, ZooKeeper was restored from a backup, rolled back or edited. Brokers keep the higher
    epoch in memory and reject the controller's requests as stale. Logs may be truncated to the wrong leader.

    ## Fails when
    `/controller_epoch`, or the leader epoch of a partition, is below the value of the previous snapshot, in every sample of
    this snapshot. In KRaft mode: the epoch of the quorum's leader, or the leader epoch of a partition in the newest view,
    inferred. Partitions are compared by topic id (before Kafka 2.8 by the znode's czxid), because a topic that is created
    again starts at 0. More than ten partitions are reported as one finding of the cluster.

    ## Not known when
    ZooKeeper was not read in one of the snapshots. In KRaft mode: the quorum was not read, or a broker that returned a view in
    the previous snapshot returns none now, because it may hold the newest. The check does not apply without a previous snapshot.

    ## Passes only when
    Both snapshots read ZooKeeper (KRaft: the quorum and every broker's view), and no epoch fell.

    ## What to do
    Stop all changes: no reassignment, no topic deletion, no broker restart. In KRaft mode a majority of the controllers has lost
    its metadata log, or an old one was restored: compare `kafka-metadata-quorum.sh --bootstrap-server BROKER:9092 describe
    --status` with the logs of all controllers. With ZooKeeper, find out which client wrote to ZooKeeper, and when:
    `zookeeper-shell.sh ZOOKEEPER:2181 stat /controller_epoch` (`mtime`). If a newer ZooKeeper backup exists: stop all
    brokers, restore it, start them. If not: a restarted broker takes the lower epochs and may truncate its log to them. Compare
    `leader-epoch-checkpoint` of the replicas first, then restart the brokers one at a time.

    ## References
    KIP-101 and KIP-320 (leader epochs); error 11 STALE_CONTROLLER_EPOCH.
    """
    gap = gap_judgement(view, "KA204")
    if gap is not None:
        yield gap
        return
    fell = next((row for row in view.differences.of(EpochChange) if row.kind == "fell"), None)
    if view.kraft and fell is not None and (silent := _silent(view)):
        error = f"{listing(silent)} returned a view in the previous snapshot and returns none now"
        yield view.judge("KA204", "cluster", Status.UNKNOWN, error=error, needs="the view of every broker")
        return
    confidence = Confidence.INFERRED if view.kraft else Confidence.MEASURED
    many = fell is not None and fell.partitions > LISTED
    yield _of_cluster(view, fell if many else None)
    if fell is not None and not many:
        for partition, before, after in zip(fell.first, fell.before, fell.after, strict=True):
            what = f"the leader epoch of {partition}"
            evidence = {"what": what, "before": before, "after": after}
            yield view.judge("KA204", partition_resource(partition), Status.FAIL, evidence, confidence=confidence)


def _silent(view: ClusterView) -> list[str]:
    """Return the brokers that gave a view in the previous snapshot and give none now."""
    before = {row.broker_id for row in view.earlier(BrokerView)}
    return [f"broker {silent}" for silent in sorted(before - {row.broker_id for row in view.newest(BrokerView)})]


def _controller_epochs(view: ClusterView) -> tuple[int | None, int | None, int | None]:
    """Return the controller epoch now, in the sample before, and in the previous snapshot; in KRaft of the quorum's leader."""
    if not view.kraft:
        now, before, earlier = (
            None if state is None else state.controller_epoch for state in (view.state, view.state_before, view.state_earlier)
        )
        return now, before, earlier
    tables = (view.newest(QuorumView), view.before(QuorumView), view.earlier(QuorumView))
    now, before, earlier = (
        max((row.leader_epoch for row in rows if row.leader_epoch is not None), default=None) for rows in tables
    )
    return now, before, earlier


def _of_cluster(view: ClusterView, partitions: EpochChange | None) -> Judgement:
    """Judge the controller epoch; `partitions` are those that fell, where they are too many for a judgement each."""
    after, sample_before, before = _controller_epochs(view)
    fell = after is not None and before is not None and max(after, after if sample_before is None else sample_before) < before
    what = "the controller epoch"
    if partitions is not None:
        first = partitions.first[0]
        epochs = f"the leader epochs of {partitions.partitions} partitions (first {first})"
        what = f"{what} and {epochs}" if fell else epochs
        if not fell:
            before, after = partitions.before[0], partitions.after[0]
    if fell or partitions is not None:
        confidence = Confidence.INFERRED if view.kraft else Confidence.MEASURED
        evidence = {"what": what, "before": before, "after": after}
        return view.judge("KA204", "cluster", Status.FAIL, evidence, confidence=confidence)
    if before is None or after is None:
        error, needs = "/controller_epoch is absent", "a /controller_epoch in both snapshots"
        if view.kraft:
            error, needs = "the quorum was not read in both snapshots", "an answer to DescribeQuorum in two snapshots"
        return view.judge("KA204", "cluster", Status.UNKNOWN, what=what, before=before, after=after, error=error, needs=needs)
    return view.judge("KA204", "cluster", Status.PASS, what=what, before=before, after=after)
