from kafka_audit.checks import ClusterView, Judgements, Severity, Status, check
from kafka_audit.checks.replication.partitions import NO_TOPIC
from kafka_audit.differences.tables import InternalTopic, InternalTopicSetting

_COMPACT = "compact"
_LOST = {
    "__consumer_offsets": "committed offsets are deleted by age, and their groups start again at auto.offset.reset",
    "__transaction_state": "transactional ids are forgotten by age, and an open transaction of one of them hangs",
}


@check(code="KA616", severity=Severity.HIGH, parts=("topics",))
def internal_topic_not_compacted(view: ClusterView) -> Judgements:
    """The topic of committed offsets or of transactions deletes records by age."""
    topics = [row for row in view.differences.of(InternalTopic) if row.topic in _LOST]
    settings = (row for row in view.differences.of(InternalTopicSetting) if row.key == "cleanup.policy")
    gap, policies = view.min_isr_gap, {row.topic: row.value for row in settings}
    if not topics:
        if view.kraft and not view.partitions.count.partitions:
            yield view.judge("cluster", Status.UNKNOWN, NO_TOPIC, who="an internal topic")
        else:
            yield view.not_applicable("cluster", f"neither {' nor '.join(_LOST)} was found")
    for row in topics:
        resource = f"topic/{row.topic}"
        evidence: dict[str, object] = {"topic": row.topic, "who": row.topic, "lost": _LOST[row.topic]}
        policy = tuple(part.strip().lower() for part in policies.get(row.topic, "").split(",") if part.strip())
        if policy:
            yield view.judge(resource, Status.PASS if {*policy} == {_COMPACT} else Status.FAIL, evidence, policy=policy)
        elif gap is not None and gap.topics_unread:
            yield view.unknown(resource, gap.error, gap.needs, evidence)
        else:
            error = "it has no cleanup.policy of its own, so log.cleanup.policy of the brokers applies"
            yield view.unknown(resource, error, f"cleanup.policy=compact in the configuration of {row.topic}", evidence)
