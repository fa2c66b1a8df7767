"""Consumer groups, from each coordinator itself, never by FindCoordinator, which creates a topic.

ListGroups names them. DescribeGroups describes the classic ones, ConsumerGroupDescribe those of the consumer protocol (KIP-848),
which DescribeGroups answers with GROUP_ID_NOT_FOUND.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from kafka.protocol.admin import DescribeGroupsRequest, ListGroupsRequest
from kafka.protocol.consumer.metadata import ConsumerProtocolAssignment

from kafka_audit.clients.protocol.conversation import Conversation, demand
from kafka_audit.clients.protocol.kafka_errors import UNDECODABLE
from kafka_audit.clients.protocol.kafka_python import ConsumerGroupDescribeRequest
from kafka_audit.clients.read_error import ReadError, any_answer
from kafka_audit.clients.targets import Target
from kafka_audit.collect.brokers import answers
from kafka_audit.collect.rows.source_reads import CLUSTER_DENIED, Asking
from kafka_audit.model.names import NameKind, can_be_name
from kafka_audit.model.read_failure import ReadFailure
from kafka_audit.model.tables import GroupMember, Row

LIST_GROUPS, GROUPS = "ListGroups", "DescribeGroups"
MAY_DESCRIBE_GROUPS = "Describe on Group '*'"
PAGE = 100
"""Groups of one request."""

_NAME_BYTES, _ROW_BYTES = 64, 1024  # what a name takes besides its letters, and what a row takes
_CONSUMERS = "consumer"  # other protocols share groups for other ends: Kafka Connect, schema registries
_NEW_PROTOCOL = "consumer"  # the group's type since ListGroups v5; "classic" is the other
_OTHER_KINDS = frozenset({"share", "streams"})
GROUP_GONE = 69
"""GROUP_ID_NOT_FOUND: it does not exist, or was deleted since ListGroups named it."""

GROUP_NEEDS = dict.fromkeys(("GROUP_AUTHORIZATION_FAILED", CLUSTER_DENIED), MAY_DESCRIBE_GROUPS)
GROUP_NEEDS |= {"TOPIC_AUTHORIZATION_FAILED": "Describe on Topic '*'"}
"""The right whose lack an error of a group means."""


def described_groups(
    conversation: Conversation,
    kind: Any,  # noqa: ANN401 -- kafka-python's messages are untyped
    names: Sequence[str],
    unoffered: str,
) -> Iterator[Any]:
    """Yield what a coordinator says of groups of one kind, page by page; raises ReadError, with `unoffered` without that API."""
    version = conversation.version(kind)
    if names and version is None:
        raise ReadError(ReadFailure.NOT_SUPPORTED, unoffered)
    field = "groups" if kind is DescribeGroupsRequest else "group_ids"
    for start in range(0, len(names), PAGE):
        page = {field: [*names[start : start + PAGE]]}
        question = kind(version=version, include_authorized_operations=False, **page)
        yield from answers.each(conversation.ask(question).groups, "groups")


class GroupReads:
    """Asks one broker for the groups that it coordinates."""

    def __init__(self, conversation: Conversation, target: Target, asking: Asking) -> None:
        """Take the conversation, the broker it is with, and whose reads these are."""
        self._conversation = conversation
        self._target = target
        self._asking = asking

    def rows(self) -> list[Row]:
        """Return members of groups; what failed is a row of the read."""
        if self._conversation.version(ListGroupsRequest) is None or self._conversation.version(DescribeGroupsRequest) is None:
            return []
        started = time.monotonic()
        rows: list[Row] = []
        try:
            with any_answer():
                classic, new, others = self._names()
                rows += others
                for start in range(0, len(classic), PAGE):
                    rows += self._members(self._described(DescribeGroupsRequest, classic[start : start + PAGE]), _assigned)
                for start in range(0, len(new), PAGE):
                    rows += self._members(
                        self._described(ConsumerGroupDescribeRequest, new[start : start + PAGE]), _assigned_by_new
                    )
        except ReadError as error:
            return [*rows, self._asking.failed(GROUPS, error, started)]
        return [*rows, self._asking.answered(GROUPS, started)]

    def _names(self) -> tuple[Sequence[str], Sequence[str], Sequence[GroupMember]]:
        """Return the consumer groups of the classic protocol, those of the new one, and groups of other kinds that may read."""
        version = self._conversation.version(ListGroupsRequest)
        answer = self._conversation.ask(ListGroupsRequest(version=version, states_filter=[], types_filter=[]))
        demand(answer.error_code, None, GROUP_NEEDS)
        listed = answers.each(answer.groups, "groups")
        consumers = [entry for entry in listed if entry.protocol_type == _CONSUMERS]
        others = [entry for entry in listed if (getattr(entry, "group_type", None) or "").lower() in _OTHER_KINDS]
        self._conversation.add_rows(len(others), sum(len(entry.group_id or "") for entry in others))
        names: dict[bool, list[str]] = {False: [], True: []}
        for item in consumers:
            new = (getattr(item, "group_type", None) or "").lower() == _NEW_PROTOCOL
            names[new].append(answers.checked_text(item.group_id, "a group"))
        return sorted(names[False]), sorted(names[True]), [self._unread(entry) for entry in others]

    def _unread(self, entry: Any) -> GroupMember:  # noqa: ANN401 -- kafka-python's messages are untyped
        """Return a group of which nothing but its state is read."""
        return GroupMember(
            sample=self._asking.sample,
            observer=self._target.observer,
            broker_id=self._target.broker_id,
            group=answers.checked_text(entry.group_id, "a group"),
            state=getattr(entry, "group_state", None) or "",
            client_id="",
            host="",
            partitions=(),
            kind=entry.group_type.lower(),
        )

    def _described(self, kind: Any, names: Sequence[str]) -> Iterator[Any]:  # noqa: ANN401 -- kafka-python's messages are untyped
        unoffered = "groups of the consumer protocol exist, but ConsumerGroupDescribe is not offered"
        return described_groups(self._conversation, kind, names, unoffered)

    def _members(self, groups: Iterable[Any], assigned: "_Reader") -> Iterator[GroupMember]:
        """Yield the members of groups; raises ReadError for the first that was refused, after the others."""
        refused: ReadError | None = None
        for group in groups:
            if group.error_code == GROUP_GONE:
                continue
            try:
                demand(group.error_code, None, GROUP_NEEDS)
            except ReadError as error:
                refused = refused or error
                continue
            members = answers.each(group.members, "members of a group")
            texts = (text for member in members for text in (group.group_id, member.client_id, member.client_host))
            self._conversation.add_rows(len(members), sum(len(text or "") for text in texts))
            for member in members:
                yield GroupMember(
                    sample=self._asking.sample,
                    observer=self._target.observer,
                    broker_id=self._target.broker_id,
                    group=answers.checked_text(group.group_id, "a group"),
                    state=group.group_state or "",
                    client_id=member.client_id or "",
                    host=(member.client_host or "").removeprefix("/"),
                    partitions=assigned(member, self._conversation.add_rows),
                )
        if refused is not None:
            raise refused


_Reader = Callable[[Any, Callable[[int], None]], tuple[str, ...]]


def _assigned(member: Any, add_rows: Callable[[int], None]) -> tuple[str, ...]:  # noqa: ANN401 -- kafka-python is untyped
    """Return assigned partitions; none where the bytes, which clients write, are in no form."""
    reported = member.member_assignment
    try:
        found = ConsumerProtocolAssignment.decode(reported) if isinstance(reported, bytes) and reported else reported
        return _partitions([(entry.topic, entry.partitions) for entry in getattr(found, "assigned_partitions", ())], add_rows)
    except (*UNDECODABLE, AttributeError):
        return ()


def _assigned_by_new(member: Any, add_rows: Callable[[int], None]) -> tuple[str, ...]:  # noqa: ANN401 -- see above
    """Return assigned partitions as the coordinator holds them."""
    found = answers.each(member.assignment.topic_partitions, "assigned topics")
    topics = [
        (answers.checked_text(entry.topic_name, "a topic"), answers.each(entry.partitions, "partitions")) for entry in found
    ]
    return _partitions(topics, add_rows)


def _partitions(topics: Sequence[tuple[str, Sequence[int]]], add_rows: Callable[[int], None]) -> tuple[str, ...]:
    """Return names of partitions, counted by their lengths.

    A whole name has four bytes for each partition: 16 MB could become gigabytes.
    """
    if not all(can_be_name(NameKind.TOPIC, topic) for topic, _ in topics):
        return ()
    add_rows(sum((len(topic) + _NAME_BYTES) * len(numbers) for topic, numbers in topics) // _ROW_BYTES)
    return tuple(sorted(f"{topic}-{number}" for topic, numbers in topics for number in numbers))
