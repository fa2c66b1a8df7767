"""How far share groups (KIP-932) are, as the coordinator of each has it: the start offsets of what their members are to process.

Without Describe on a topic DescribeShareGroupOffsets leaves it out, if it is not named. So the partitions that are assigned to
members are named, and ShareGroupDescribe refuses a group with such a topic.
"""

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from kafka.protocol.admin import ListGroupsRequest

from kafka_audit.clients.protocol.conversation import Conversation, demand
from kafka_audit.clients.protocol.kafka_python import DescribeShareGroupOffsetsRequest, ShareGroupDescribeRequest
from kafka_audit.clients.read_error import ReadError, any_answer
from kafka_audit.clients.targets import Target
from kafka_audit.collect.brokers import answers
from kafka_audit.collect.brokers.consumer_groups import GROUP_GONE, GROUP_NEEDS, described_groups
from kafka_audit.collect.brokers.copied_replicas import by_topic
from kafka_audit.collect.brokers.group_coordinators import client_of
from kafka_audit.collect.rows.source_reads import Asking
from kafka_audit.model.read_failure import ReadFailure
from kafka_audit.model.tables import Row, SharePartition

SHARES = "DescribeShareGroupOffsets"
_TYPES_FROM, _LAG_FROM = 5, 1
_GONE = frozenset({3, GROUP_GONE})
"""The group or topic was deleted meanwhile."""

_MOST_PARTITIONS, _LISTED = 2000, 3
_WITH_MEMBERS = "Stable"
_Group = DescribeShareGroupOffsetsRequest.DescribeShareGroupOffsetsRequestGroup
_Members = dict[tuple[str, str, int], list[Any]]


def read_share_partitions(conversation: Conversation, target: Target, asking: Asking) -> list[Row]:
    """Return the partitions of the share groups that the broker coordinates, which have members, and how the read ended."""
    if conversation.version(ListGroupsRequest, _TYPES_FROM) is None:
        return []
    started = time.monotonic()
    rows: list[Row] = []
    try:
        with any_answer():
            for row in _rows(conversation, {"sample": asking.sample, "observer": target.observer, "broker_id": target.broker_id}):
                conversation.add_rows(1)
                rows.append(row)
    except ReadError as error:
        return [*rows, asking.failed(SHARES, error, started)]
    return [*rows, asking.answered(SHARES, started)]


def _rows(conversation: Conversation, head: Mapping[str, Any]) -> Iterator[SharePartition]:
    """Yield what is left to process of partitions that members have; raises ReadError for what was refused, at the end."""
    version = conversation.version(ListGroupsRequest)
    answer = conversation.ask(ListGroupsRequest(version=version, states_filter=[_WITH_MEMBERS], types_filter=["share"]))
    demand(answer.error_code, None, GROUP_NEEDS)
    names = sorted(answers.checked_text(group.group_id, "a group") for group in answers.each(answer.groups, "groups"))
    if names and conversation.version(DescribeShareGroupOffsetsRequest, _LAG_FROM) is None:
        raise ReadError(ReadFailure.NOT_SUPPORTED, "DescribeShareGroupOffsets 1 is not offered", "Kafka 4.2 or later")
    refused: list[ReadError] = []
    members: _Members = {}
    for group in described_groups(conversation, ShareGroupDescribeRequest, names, "share groups are not described"):
        if _serves(group, refused):
            members |= _assigned(group)
    if len(members) > _MOST_PARTITIONS:
        refused.append(ReadError(ReadFailure.TOO_LARGE, f"share groups have {len(members)} partitions"))
    members = dict(islice(members.items(), _MOST_PARTITIONS))
    yield from _offsets(conversation, head, members, refused)
    if refused:
        raise refused[0]


def _serves(answer: Any, refused: list[ReadError]) -> bool:  # noqa: ANN401 -- kafka-python's messages are untyped
    """Return whether something was answered about a group or a partition that is there; an error is added to those refused."""
    try:
        if answer.error_code not in _GONE:
            demand(answer.error_code, answer.error_message, GROUP_NEEDS)
    except ReadError as error:
        refused.append(error)
    return not answer.error_code


def _assigned(group: Any) -> _Members:  # noqa: ANN401 -- kafka-python's messages are untyped
    """Return the members of a group by partition; a topic of which it has offsets need not be subscribed to any more."""
    found: _Members = {}
    name = answers.checked_text(group.group_id, "a group")
    for member in answers.each(group.members, "members of a group"):
        for topic in answers.each(member.assignment.topic_partitions, "assigned topics"):
            for partition in answers.each(topic.partitions, "partitions"):
                found.setdefault((name, answers.checked_name(topic.topic_name, "a topic"), partition), []).append(member)
    return found


def _offsets(
    conversation: Conversation, head: Mapping[str, Any], members: _Members, refused: list[ReadError]
) -> Iterator[SharePartition]:
    version = conversation.version(DescribeShareGroupOffsetsRequest)
    asked: dict[str, list[tuple[str, int]]] = {}
    for group, topic, partition in members:
        asked.setdefault(group, []).append((topic, partition))
    groups = [_Group(group_id=group, topics=_topics(partitions)) for group, partitions in asked.items()]
    answer = conversation.ask(DescribeShareGroupOffsetsRequest(version=version, groups=groups)) if groups else None
    for group in answers.each(answer.groups, "groups") if answer is not None else ():
        if not _serves(group, refused):
            members = {key: having for key, having in members.items() if key[0] != group.group_id}
        for topic in answers.each(group.topics, "topics"):
            for partition in answers.each(topic.partitions, "partitions"):
                having = members.pop((group.group_id, topic.topic_name, partition.partition_index), ())
                if having and _serves(partition, refused) and partition.lag:
                    yield SharePartition(
                        **head,
                        group=group.group_id,
                        topic=topic.topic_name,
                        partition=partition.partition_index,
                        start_offset=answers.at_least(-1, partition.start_offset, "a start offset"),
                        left=answers.at_least(-1, partition.lag, "records of a share group"),
                        members=len(having),
                        clients=tuple(sorted({client_of(member) for member in having})[:_LISTED]),
                    )
    for group, topic, partition in members:
        answers.refuse_answer(f"DescribeShareGroupOffsets: nothing about {topic}-{partition} of group {group}")


def _topics(partitions: Iterable[tuple[str, int]]) -> Sequence[Any]:
    kind = _Group.DescribeShareGroupOffsetsRequestTopic
    return [kind(topic_name=name, partitions=numbers) for name, numbers in by_topic(partitions).items()]
