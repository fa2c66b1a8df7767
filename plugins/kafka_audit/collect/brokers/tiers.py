"""How far leaders have copied partitions to remote storage (KIP-405), by ListOffsets; nothing is read from there.

The last offset in remote storage can be asked for from version 9 on (Kafka 3.9), the first one on the leader's disk from 8 on.
"""

import time
from collections.abc import Mapping, Sequence
from functools import partial

from kafka.protocol.admin import DescribeLogDirsRequest
from kafka.protocol.consumer import ListOffsetsRequest

from kafka_audit.clients.protocol.conversation import Conversation, demand
from kafka_audit.clients.read_error import ReadError, any_answer
from kafka_audit.clients.targets import Target
from kafka_audit.collect.brokers import answers
from kafka_audit.collect.brokers.copied_replicas import by_topic, replica_sizes
from kafka_audit.collect.rows.source_reads import Asking
from kafka_audit.model.read_failure import ReadFailure
from kafka_audit.model.tables import Row, TieredPartition

TIER = "ListOffsets tier"
MOST = 2000
_VERSION = 9
_LATEST, _FIRST_LOCAL, _LAST_TIERED = -1, -4, -5
_ANYBODY = -1
_MOVED = frozenset({3, 6, 74, 76})
"""The topic is gone, or its leader is another one now: the next audit sees it."""

_NEEDS = {"TOPIC_AUTHORIZATION_FAILED": "Describe on Topic '*'"}
_Partition = tuple[str, int]


def read_tiers(
    conversation: Conversation,
    target: Target,
    asking: Asking,
    partitions: Sequence[_Partition],
    segments: Mapping[str, int | None],
) -> list[Row]:
    """Return how far each of these partitions is copied, which the broker leads, and how the read ended."""
    started = time.monotonic()
    if conversation.version(ListOffsetsRequest, _VERSION) is None:
        return [asking.failed(TIER, ReadError(ReadFailure.NOT_SUPPORTED, "ListOffsets 9 is not offered", "Kafka 3.9 or later"))]
    rows: list[Row] = []
    try:
        with any_answer():
            asked = partitions[:MOST]
            ends, local, tiered = (_offsets(conversation, asked, which) for which in (_LATEST, _FIRST_LOCAL, _LAST_TIERED))
            known = [name for name in asked if name in ends and name in local and name in tiered]
            sizes = replica_sizes(conversation, conversation.version(DescribeLogDirsRequest) or 0, known)
            conversation.add_rows(len(known))
            rows += [
                TieredPartition(
                    sample=asking.sample,
                    observer=target.observer,
                    broker_id=target.broker_id,
                    topic=topic,
                    partition=partition,
                    tiered_offset=tiered[topic, partition],
                    local_offset=local[topic, partition],
                    end_offset=ends[topic, partition],
                    local_bytes=sizes.get((topic, partition), 0),
                    segment_bytes=segments.get(topic),
                )
                for topic, partition in known
            ]
    except ReadError as error:
        return [*rows, asking.failed(TIER, error, started)]
    if len(partitions) > MOST:
        many = ReadError(ReadFailure.TOO_LARGE, f"the broker leads {len(partitions)} partitions with remote storage")
        return [*rows, asking.failed(TIER, many, started)]
    return [*rows, asking.answered(TIER, started)]


def _offsets(conversation: Conversation, partitions: Sequence[_Partition], which: int) -> Mapping[_Partition, int]:
    kind = ListOffsetsRequest.ListOffsetsTopic
    one = partial(kind.ListOffsetsPartition, current_leader_epoch=-1, timestamp=which)
    topics = by_topic(partitions)
    named = [kind(name=topic, partitions=[one(partition_index=number) for number in topics[topic]]) for topic in topics]
    answer = conversation.ask(ListOffsetsRequest(version=_VERSION, replica_id=_ANYBODY, isolation_level=0, topics=named))
    found: dict[_Partition, int] = {}
    for entry in answers.each(answer.topics, "topics"):
        for partition in answers.each(entry.partitions, "partitions"):
            if partition.error_code not in _MOVED:
                demand(partition.error_code, None, _NEEDS)
                found[entry.name, partition.partition_index] = answers.at_least(
                    -1, partition.offset, f"an offset of {entry.name}"
                )
    return {name: found[name] for name in partitions if name in found}
