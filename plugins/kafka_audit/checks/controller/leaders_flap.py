from kafka_audit.checks import ClusterView, Confidence, Judgements, Severity, Status, check
from kafka_audit.checks.controller.since_previous import gap_judgement, minutes, rounded
from kafka_audit.cluster.releases import finalized
from kafka_audit.differences.tables import EpochChange


@check(code="KA206", severity=Severity.MEDIUM, parts=("topics",))
def leaders_flap(view: ClusterView) -> Judgements:
    """Partitions get a new leader repeatedly."""
    gap = gap_judgement(view)
    if gap is not None:
        yield gap
        return
    total = view.partitions.count.partitions
    shrinks = view.kraft and not finalized(view, "isr_shrinks_in_epoch")
    rose = next((row for row in view.differences.of(EpochChange) if row.kind == "rose"), None)
    if rose is None:
        yield view.judge("cluster", Status.PASS, total=total)
        return
    yield view.judge(
        "cluster",
        Status.FAIL,
        confidence=Confidence.SUSPECTED if shrinks else Confidence.MEASURED,
        what="Leaders change, or (below metadata.version 3.6) the ISR shrinks" if shrinks else "Leaders change",
        count=rose.partitions,
        most=rose.most,
        minutes=rounded(minutes(view)),
        partitions=rose.first,
        broker=rose.broker_id,
        share=rose.share,
        total=total,
    )
