"""KA616."""

from collections.abc import Iterator

from kafka_audit.checks import check
from kafka_audit.checks.replication.partitions import NO_TOPIC
from kafka_audit.cluster.view import ClusterView
from kafka_audit.differences.tables import InternalTopic, InternalTopicPolicy
from kafka_audit.model.finding import Judgement, Severity, Status

_COMPACT = "compact"
_LOST = {
    "__consumer_offsets": "committed offsets are deleted by age, and their groups start again at auto.offset.reset",
    "__transaction_state": "transactional ids are forgotten by age, and an open transaction of one of them hangs",
}


@check(
    code="KA616",
    severity=Severity.HIGH,
    parts=("topics",),
    says={
        Status.FAIL: "{topic} has the cleanup.policy {policy}: {lost}",
        Status.PASS: "{topic} is compacted",
        Status.UNKNOWN: "Cannot determine whether {who} is compacted ({error})",
        Status.NOT_APPLICABLE: "No compacted internal topics: {reason}",
    },
)
def internal_topic_not_compacted(view: ClusterView) -> Iterator[Judgement]:
    """The topic of committed offsets or of transactions deletes records by age.

    ## Why it matters
    Kafka creates `__consumer_offsets` and `__transaction_state` with `cleanup.policy=compact`: the newest record of a key counts,
    however old it is. If the policy contains delete, old segments are deleted with records that still count. Running coordinators
    keep them in memory, so the loss shows when a coordinator moves or a broker restarts: groups that committed long ago begin at
    the start or the end of their topics.

    ## Fails when
    `cleanup.policy` in the configuration of `__consumer_offsets` or `__transaction_state` is anything but compact.
    `__share_group_state` and `__remote_log_metadata` have the policy delete by design.

    ## Not known when
    The configurations of topics were not read. Or the topic itself has no `cleanup.policy`: then `log.cleanup.policy` of the
    brokers applies, which is delete by default.

    ## Passes only when
    The topic's own setting is compact. The check does not apply if neither topic exists.

    ## What to do
    Set it back at once, before a coordinator moves: `kafka-configs.sh --bootstrap-server BROKER:9092 --alter --entity-type topics
    --entity-name {topic} --add-config cleanup.policy=compact` (before Kafka 2.6 with `--zookeeper ZOOKEEPER:2181` instead of
    `--bootstrap-server`). It needs no restart. Offsets that are still in the coordinator's memory are written again by the next
    commit of each group. A topic that grew because it was not cleaned has another cause: `grep -i uncleanable log-cleaner.log`.

    ## References
    `GroupCoordinator.offsetsTopicConfigs`, `TransactionStateManager.transactionTopicConfigs`; topic setting `cleanup.policy`.
    """
    topics = [row for row in view.differences.of(InternalTopic) if row.topic in _LOST]
    gap, policies = view.min_isr_gap, {row.topic: row.cleanup_policy for row in view.differences.of(InternalTopicPolicy)}
    if not topics:
        if view.kraft and not view.partitions.count.partitions:
            yield view.judge("KA616", "cluster", Status.UNKNOWN, NO_TOPIC, who="an internal topic")
        else:
            yield view.judge("KA616", "cluster", Status.NOT_APPLICABLE, reason=f"neither {' nor '.join(_LOST)} was found")
    for row in topics:
        resource = f"topic/{row.topic}"
        evidence: dict[str, object] = {"topic": row.topic, "who": row.topic, "lost": _LOST[row.topic]}
        policy = tuple(part.strip().lower() for part in policies.get(row.topic, "").split(",") if part.strip())
        if policy:
            yield view.judge("KA616", resource, Status.PASS if {*policy} == {_COMPACT} else Status.FAIL, evidence, policy=policy)
        elif gap is not None and gap.topics_unread:
            yield view.judge("KA616", resource, Status.UNKNOWN, evidence, error=gap.error, needs=gap.needs)
        else:
            error = "it has no cleanup.policy of its own, so log.cleanup.policy of the brokers applies"
            needs = f"cleanup.policy=compact in the configuration of {row.topic}"
            yield view.judge("KA616", resource, Status.UNKNOWN, evidence, error=error, needs=needs)
