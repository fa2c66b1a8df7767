from kafka_audit.checks import ClusterView, Judgements, Severity, Status, check
from kafka_audit.differences.tables import TopicIdDifference
from kafka_audit.model.text import counted


@check(code="KA109", severity=Severity.CRITICAL, parts=("controller", "topics"))
def topic_id_differs(view: ClusterView) -> Judgements:
    """A topic's id in ZooKeeper is missing, or differs from the id that its brokers report."""
    found = next(iter(view.differences.of(TopicIdDifference)), None)
    if not any(observer.answered for observer in view.observers):
        error, needs = "no broker returned a view", "an answer from a broker to Metadata"
        yield view.unknown("cluster", error, needs)
    elif found is None:
        yield view.not_applicable("cluster", "no broker reports topic ids (before Kafka 2.8)")
    elif found.differing:
        yield view.judge(
            "cluster",
            Status.FAIL,
            severity=None if found.other_id else Severity.HIGH,
            count=found.differing,
            compared=found.compared,
            topics=found.first,
            first=f"{found.first[0]} is {found.view_id} at brokers and {found.reference_id or 'without an id'} in ZooKeeper",
        )
    elif found.unrepeated:
        error = f"{counted(found.unrepeated, 'topic')} differed in one sample"
        yield view.unknown("cluster", error, "another audit", compared=found.compared)
    else:
        yield view.judge("cluster", Status.PASS, compared=found.compared)
