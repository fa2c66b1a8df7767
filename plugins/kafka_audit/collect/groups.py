"""Consumer groups, from each coordinator itself: ListGroups and DescribeGroups, never FindCoordinator, which creates a topic."""

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from kafka.protocol.admin import DescribeGroupsRequest, ListGroupsRequest
from kafka.protocol.consumer.metadata import ConsumerProtocolAssignment

from kafka_audit.collect import answers
from kafka_audit.collect.reads import CLUSTER_DENIED, Asking, ReadError, any_answer
from kafka_audit.collect.targets import Target
from kafka_audit.collect.wire import Conversation, demand
from kafka_audit.collect.wire_errors import UNDECODABLE
from kafka_audit.model.tables import GroupMember, Row

LIST_GROUPS, GROUPS = "ListGroups", "DescribeGroups"
MAY_DESCRIBE_GROUPS = "Describe on Group '*'"
PAGE = 100
"""Groups of one request."""

_LONGEST_TOPIC = 255  # characters; Kafka's own bound is 249
_NAME_BYTES, _ROW_BYTES = 64, 1024  # what a name takes besides its letters, and what a row takes
_CONSUMERS = "consumer"  # other protocols share groups for other ends: Kafka Connect, schema registries
_NEEDS = dict.fromkeys(("GROUP_AUTHORIZATION_FAILED", CLUSTER_DENIED), MAY_DESCRIBE_GROUPS)


class GroupReads:
    """Asks one broker for the groups that it coordinates."""

    def __init__(self, talk: Conversation, target: Target, asking: Asking) -> None:
        """Take the conversation, the broker it is with, and whose reads these are."""
        self._talk = talk
        self._target = target
        self._asking = asking

    def rows(self) -> list[Row]:
        """Return members of groups; what failed is a row of the read."""
        if self._talk.version(ListGroupsRequest) is None or self._talk.version(DescribeGroupsRequest) is None:
            return []
        started = time.monotonic()
        rows: list[Row] = []
        try:
            with any_answer():
                names = self._names()
                for start in range(0, len(names), PAGE):
                    rows += self._members(names[start : start + PAGE])
        except ReadError as error:
            return [*rows, self._asking.failed(GROUPS, error, started)]
        return [*rows, self._asking.answered(GROUPS, started)]

    def _names(self) -> list[str]:
        version = self._talk.version(ListGroupsRequest)
        answer = self._talk.ask(ListGroupsRequest(version=version, states_filter=[], types_filter=[]))
        demand(answer.error_code, None, _NEEDS)
        consumers = [one for one in answers.each(answer.groups, "groups") if one.protocol_type == _CONSUMERS]
        return sorted(answers.text(one.group_id, "a group") for one in consumers)

    def _members(self, names: Sequence[str]) -> Iterator[GroupMember]:
        version = self._talk.version(DescribeGroupsRequest)
        answer = self._talk.ask(DescribeGroupsRequest(version=version, groups=[*names], include_authorized_operations=False))
        for group in answers.each(answer.groups, "groups"):
            demand(group.error_code, None, _NEEDS)
            members = answers.each(group.members, "members of a group")
            self._talk.add_rows(len(members))
            for member in members:
                yield GroupMember(
                    sample=self._asking.sample,
                    observer=self._target.observer,
                    broker_id=self._target.broker_id,
                    group=answers.text(group.group_id, "a group"),
                    state=group.group_state or "",
                    client_id=member.client_id or "",
                    host=(member.client_host or "").removeprefix("/"),
                    partitions=_assigned(member.member_assignment, self._talk.add_rows),
                )


def _assigned(told: Any, add_rows: Callable[[int], None]) -> tuple[str, ...]:  # noqa: ANN401 -- bytes, or kafka-python's
    """Return assigned partitions, counted by their names' lengths; none where the bytes, which clients write, are in no form.

    Four bytes of a partition stand for a whole name: 16 MB could become gigabytes.
    """
    try:
        found = ConsumerProtocolAssignment.decode(told) if isinstance(told, bytes) and told else told
        assigned = getattr(found, "assigned_partitions", ())
        if any(len(one.topic) > _LONGEST_TOPIC for one in assigned):
            return ()
        add_rows(sum((len(one.topic) + _NAME_BYTES) * len(one.partitions) for one in assigned) // _ROW_BYTES)
        return tuple(sorted(f"{one.topic}-{number}" for one in assigned for number in one.partitions))
    except (*UNDECODABLE, AttributeError):
        return ()
