"""KA711."""

from collections.abc import Iterator

from kafka_audit.checks import check
from kafka_audit.cluster.unclean import UNCLEAN, not_yet_used
from kafka_audit.cluster.view import ClusterView
from kafka_audit.differences.tables import TopicSetting
from kafka_audit.model.finding import Judgement, Severity, Status


@check(
    code="KA711",
    severity=Severity.MEDIUM,
    says={
        Status.FAIL: "{count:# topic allows|# topics allow} unclean leader elections{from}, which lose records: {topics}",
        Status.PASS: "No topic setting allows unclean leader elections",
        Status.UNKNOWN: "Cannot determine whether topics allow unclean leader elections ({error})",
    },
)
def unclean_topics(view: ClusterView) -> Iterator[Judgement]:
    """Topic settings allow unclean leader elections.

    ## Why it matters
    A topic's setting overrides the brokers'. If all in-sync replicas of a partition are unavailable, a replica that lacks records
    becomes the leader: acknowledged records are lost, without an error at any client. `kafka-topics.sh` shows a leader and a full
    ISR afterwards.

    ## Fails when
    `unclean.leader.election.enable` is true in the configuration of a topic. MEDIUM: for some topics, availability is worth more
    than complete data. LOW in KRaft up to Kafka 3.8, whose controllers ignore the setting: it takes effect with the upgrade to
    3.9.

    ## Not known when
    The configurations of topics were not read, or those of some topics were not.

    ## Passes only when
    The configurations of all topics were read, and none sets it to true. KA704 checks the brokers' own setting.

    ## What to do
    Ask the owners of these topics: {topics}. If it was set to get a partition back, remove it: `kafka-configs.sh
    --bootstrap-server BROKER:9092 --alter --entity-type topics --entity-name TOPIC --delete-config
    unclean.leader.election.enable`. Before you remove it, make sure that the partitions have a leader (KA601).

    ## References
    KIP-106; Kafka documentation, "Topic Configs" and "Unclean leader election: What if they all die?".
    """
    found = next((row for row in view.differences.of(TopicSetting) if row.key == UNCLEAN and row.filled), None)
    gap = view.min_isr_gap
    if found is not None:
        later = not_yet_used(view)
        evidence = {"count": found.filled, "topics": found.first, "from": " from Kafka 3.9 on" if later else ""}
        yield view.judge("KA711", "cluster", Status.FAIL, evidence, severity=Severity.LOW if later else None)
    elif gap is not None and gap.topics_unread:
        yield view.judge("KA711", "cluster", Status.UNKNOWN, error=gap.error, needs=gap.needs)
    else:
        yield view.judge("KA711", "cluster", Status.PASS)
