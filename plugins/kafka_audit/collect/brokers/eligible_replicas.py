"""Who may lead partitions without a replica in sync: eligible leader replicas by DescribeTopicPartitions (KIP-966)."""

import time
from collections.abc import Iterator, Sequence
from typing import Any

from kafka.protocol.admin import DescribeTopicPartitionsRequest

from kafka_audit.clients.protocol.conversation import Conversation, demand
from kafka_audit.clients.read_error import ReadError, any_answer
from kafka_audit.collect.brokers import answers
from kafka_audit.collect.rows.source_reads import Asking
from kafka_audit.model.tables import EligibleReplicas, Row

ELIGIBLE = "DescribeTopicPartitions"
MOST_TOPICS = 100
"""Topics that are asked about. Of more topics what-if says that it is not known whether an eligible replica may lead."""

_PAGES = 20
_GONE, _NO_LEADER = 3, -1
_NEEDS = {"TOPIC_AUTHORIZATION_FAILED": "Describe on Topic '*'"}


def read_eligible_replicas(conversation: Conversation, asking: Asking, topics: Sequence[str]) -> list[Row]:
    """Return partitions without a leader or with replicas out of sync, and how the read ended.

    Nothing where the broker has no such API. Of `topics` the first are asked about.
    """
    version = conversation.version(DescribeTopicPartitionsRequest)
    if version is None:
        return []
    started = time.monotonic()
    rows: list[Row] = []
    try:
        with any_answer():
            for topic, partition in _partitions(conversation, version, sorted(topics[:MOST_TOPICS])):
                if partition.leader_id == _NO_LEADER or len(partition.isr_nodes) < len(partition.replica_nodes):
                    conversation.add_rows(1)
                    rows.append(_row(asking, topic, partition))
    except ReadError as error:
        return [*rows, asking.failed(ELIGIBLE, error, started)]
    return [*rows, asking.answered(ELIGIBLE, started)]


def _partitions(conversation: Conversation, version: int, topics: Sequence[str]) -> Iterator[tuple[str, Any]]:
    """Yield each partition behind its topic, a page at a time; raises ReadError for a topic that was refused."""
    kind = DescribeTopicPartitionsRequest
    cursor: Any = None
    for _ in range(_PAGES):
        requested = [kind.TopicRequest(name=topic) for topic in topics]
        answer = conversation.ask(kind(version=version, topics=requested, response_partition_limit=2000, cursor=cursor))
        for topic in answers.each(answer.topics, "topics"):
            if topic.error_code != _GONE:
                demand(topic.error_code, None, _NEEDS)
                for partition in answers.each(topic.partitions, "partitions"):
                    yield answers.checked_name(topic.name, "a topic"), partition
        after = answer.next_cursor
        if after is None:
            return
        topics = [topic for topic in topics if topic >= after.topic_name]
        cursor = kind.Cursor(topic_name=after.topic_name, partition_index=after.partition_index)


def _row(asking: Asking, topic: str, partition: Any) -> EligibleReplicas:  # noqa: ANN401 -- kafka-python's messages are untyped
    return EligibleReplicas(
        sample=asking.sample,
        observer=asking.observer,
        topic=topic,
        partition=answers.at_least(0, partition.partition_index, f"a partition of {topic}"),
        leader=None if partition.leader_id == _NO_LEADER else partition.leader_id,
        isr=tuple(sorted(answers.replicas(partition.isr_nodes, f"in-sync replicas of {topic}"))),
        eligible=tuple(sorted(answers.replicas(partition.eligible_leader_replicas or (), f"eligible replicas of {topic}"))),
        last_known=tuple(sorted(answers.replicas(partition.last_known_elr or (), f"last known eligible replicas of {topic}"))),
    )
