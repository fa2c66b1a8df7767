from kafka_audit.checks import ClusterView, Judgements, Severity, Status, check
from kafka_audit.checks.replication.partitions import NO_TOPIC
from kafka_audit.differences.tables import InternalTopic

_ENOUGH = 3
_CONSEQUENCE = {
    "__consumer_offsets": ("consumer groups stop", "offsets.topic.replication.factor"),
    "__transaction_state": ("transactions stop", "transaction.state.log.replication.factor"),
    "__share_group_state": ("share groups stop", "share.coordinator.state.topic.replication.factor"),
    "__remote_log_metadata": (
        "no segment is copied to or read from the remote storage",
        "rlmm.config.remote.log.metadata.topic.replication.factor",
    ),
}
"""What stops with an internal topic, and the setting that it is created with."""


@check(code="KA609", severity=Severity.HIGH, parts=("topics",))
def internal_topic_weak(view: ClusterView) -> Judgements:
    """An internal topic has too few replicas."""
    brokers = len(view.known_brokers)
    if brokers == 1:
        yield view.not_applicable("cluster", "the cluster has one broker")
        return
    enough, topics = min(brokers, _ENOUGH), view.differences.of(InternalTopic)
    weak = [row for row in topics if row.factor < enough]
    for row in weak:
        single = row.factor == 1
        consequence, key = _CONSEQUENCE[row.topic]
        yield view.judge(
            f"topic/{row.topic}",
            Status.FAIL,
            severity=None if single else Severity.MEDIUM,
            topic=row.topic,
            factor="a single replica" if single else f"{row.factor} replicas",
            enough=enough,
            loss="that broker stops" if single else "two brokers stop",
            consequence=consequence,
            key=key,
        )
    if weak:
        return
    if view.kraft and not view.partitions.count.partitions:
        yield view.judge("cluster", Status.UNKNOWN, NO_TOPIC)
    else:
        names = tuple(sorted(row.topic for row in topics)) or "none"
        yield view.judge("cluster", Status.PASS, topics=names, enough=enough)
