from kafka_audit.checks import ClusterView, Confidence, Judgement, Judgements, Severity, Status, check
from kafka_audit.checks.controller.since_previous import gap_judgement, partition_resource
from kafka_audit.differences.tables import LISTED, EpochChange
from kafka_audit.model.tables import BrokerView, QuorumView
from kafka_audit.model.text import listing


@check(code="KA204", severity=Severity.CRITICAL, parts=("controller epoch", "topics"))
def epoch_went_back(view: ClusterView) -> Judgements:
    """A controller epoch or leader epoch is lower than in the previous snapshot."""
    gap = gap_judgement(view)
    if gap is not None:
        yield gap
        return
    fell = next((row for row in view.differences.of(EpochChange) if row.kind == "fell"), None)
    if view.kraft and fell is not None and (silent := _silent(view)):
        error = f"{listing(silent)} returned a view in the previous snapshot and returns none now"
        yield view.unknown("cluster", error, "the view of every broker")
        return
    confidence = Confidence.INFERRED if view.kraft else Confidence.MEASURED
    many = fell is not None and fell.partitions > LISTED
    yield _of_cluster(view, fell if many else None)
    if fell is not None and not many:
        for partition, before, after in zip(fell.first, fell.before, fell.after, strict=True):
            what = f"the leader epoch of {partition}"
            evidence = {"what": what, "before": before, "after": after}
            yield view.judge(partition_resource(partition), Status.FAIL, evidence, confidence=confidence)


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
        return view.judge("cluster", Status.FAIL, evidence, confidence=confidence)
    if before is None or after is None:
        error, needs = "/controller_epoch is absent", "a /controller_epoch in both snapshots"
        if after is not None:
            error, needs = "the previous snapshot has no controller epoch", "another audit"
        if view.kraft:
            error, needs = "the quorum was not read in both snapshots", "an answer to DescribeQuorum in two snapshots"
        return view.unknown("cluster", error, needs, what=what, before=before, after=after)
    return view.judge("cluster", Status.PASS, what=what, before=before, after=after)
