from kafka_audit.checks import ClusterView, Judgements, Severity, Status, check
from kafka_audit.cluster.unclean import UNCLEAN, not_yet_used
from kafka_audit.differences.tables import TopicSetting


@check(code="KA711", severity=Severity.MEDIUM)
def unclean_topics(view: ClusterView) -> Judgements:
    """Topic settings allow unclean leader elections."""
    found = next((row for row in view.differences.of(TopicSetting) if row.key == UNCLEAN and row.filled), None)
    gap = view.min_isr_gap
    if found is not None:
        later = not_yet_used(view)
        evidence = {"count": found.filled, "topics": found.first, "from": " from Kafka 3.9 on" if later else ""}
        yield view.judge("cluster", Status.FAIL, evidence, severity=Severity.LOW if later else None)
    elif gap is not None and gap.topics_unread:
        yield view.unknown("cluster", gap.error, gap.needs)
    else:
        yield view.judge("cluster", Status.PASS)
