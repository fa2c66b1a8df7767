"""The group coordinator of one broker: whether it is ready, and which of its groups are in a rebalance.

ListGroups of the new coordinator (Kafka 4.0) leaves out partitions that it could not load. So each partition of
__consumer_offsets is asked of its leader by DescribeGroups of a made-up group that belongs there: nothing is created by that.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from hashlib import sha256
from itertools import count
from typing import Any

from kafka.protocol.admin import DescribeGroupsRequest, ListGroupsRequest

from kafka_audit.clients.protocol.conversation import Conversation, demand
from kafka_audit.clients.protocol.kafka_python import ConsumerGroupDescribeRequest, StreamsGroupDescribeRequest
from kafka_audit.clients.read_error import ReadError, any_answer, clean_line
from kafka_audit.clients.targets import Target
from kafka_audit.cluster.coordinators import id_number
from kafka_audit.collect.brokers import answers
from kafka_audit.collect.brokers.consumer_groups import GROUP_GONE, GROUP_NEEDS, LIST_GROUPS, described_groups
from kafka_audit.collect.rows.source_reads import Asking
from kafka_audit.model.read_failure import ReadFailure
from kafka_audit.model.tables import CoordinatorPartition, GroupCoordinator, RebalancingGroup, Row

COORDINATORS, REBALANCING = "DescribeGroups coordinators", "DescribeGroups rebalancing"
NOT_READY = (14, 15, 16)
"""Errors of a coordinator: it loads, it does not run, it is another broker."""

STATES = ("PreparingRebalance", "CompletingRebalance", "Assigning", "Reconciling", "NotReady")
"""States of a group in a rebalance: of the classic protocol, of the consumer protocol, of a streams group."""

_STATES_FROM = 4  # the version of ListGroups from which it lists only groups in some states
_MOST_PARTITIONS, _MOST_GROUPS, _LISTED = 1000, 500, 3
_CLIENT_CHARACTERS = 80
_NAME = "kafka-audit-asks-"


@cache
def made_up_groups(partitions: int) -> tuple[str, ...]:
    """Return a group id for each partition of a topic of so many, as coordinators assign them."""
    found: dict[int, str] = {}
    for number in count():
        name = f"{_NAME}{number}"
        found.setdefault(id_number(name) % partitions, name)
        if len(found) == partitions:
            break
    return tuple(found[partition] for partition in range(partitions))


class CoordinatorReads:
    """Asks the group coordinator of one broker whether it is ready, and for groups in a rebalance; others are not kept."""

    def __init__(self, conversation: Conversation, target: Target, asking: Asking, led: Sequence[int], partitions: int) -> None:
        """Take the conversation, whose reads these are, and the partitions of __consumer_offsets that it leads, of how many."""
        self._conversation = conversation
        self._asking = asking
        self._led = led
        self._partitions = partitions
        self._head: dict[str, Any] = {"sample": asking.sample, "observer": target.observer, "broker_id": target.broker_id}

    def rows(self) -> list[Row]:
        """Return what it answers, and how the reads ended; nothing where the broker has no such API."""
        version = self._conversation.version(ListGroupsRequest)
        if version is None:
            return []
        started = time.monotonic()
        try:
            with any_answer():
                # Below version 4 all groups are listed, without their states: only the error is required.
                answer = self._conversation.ask(ListGroupsRequest(version=version, states_filter=[*STATES], types_filter=[]))
                if answer.error_code not in NOT_READY:
                    demand(answer.error_code, None, GROUP_NEEDS)
        except ReadError as error:
            return [self._asking.failed(LIST_GROUPS, error, started)]
        rows: list[Row] = [GroupCoordinator(**self._head, error=answer.error_code), self._asking.answered(LIST_GROUPS, started)]
        rows += self._read(COORDINATORS, self._unready) if self._led else ()
        if version >= _STATES_FROM and not answer.error_code:
            rows += self._read(REBALANCING, lambda: self._rebalancing(answer.groups))
        return rows

    def _read(self, operation: str, read: Callable[[], Iterator[Row]]) -> list[Row]:
        started = time.monotonic()
        rows: list[Row] = []
        try:
            with any_answer():
                for row in read():
                    self._conversation.add_rows(1)
                    rows.append(row)
        except ReadError as error:
            return [*rows, self._asking.failed(operation, error, started)]
        return [*rows, self._asking.answered(operation, started)]

    def _unready(self) -> Iterator[CoordinatorPartition]:
        """Yield the partitions that it leads and does not coordinate; raises ReadError."""
        if self._partitions > _MOST_PARTITIONS:
            raise ReadError(ReadFailure.TOO_LARGE, f"__consumer_offsets has {self._partitions} partitions")
        names = made_up_groups(self._partitions)
        own = {names[partition]: partition for partition in self._led if partition < self._partitions}
        for group in self._described(DescribeGroupsRequest, [*own]):
            partition = own.get(group.group_id)
            if partition is None:
                answers.refuse_answer("DescribeGroups: a group that was not asked for")
            elif group.error_code in NOT_READY:
                yield CoordinatorPartition(**self._head, partition=partition, error=group.error_code)
            elif group.error_code != GROUP_GONE:
                demand(group.error_code, None, GROUP_NEEDS)

    def _described(self, kind: Any, names: Sequence[str], what: str = "classic") -> Iterator[Any]:  # noqa: ANN401 -- see below
        unoffered = f"{what} groups exist, but their description is not offered"
        return described_groups(self._conversation, kind, names, unoffered)

    def _rebalancing(self, listed: Any) -> Iterator[RebalancingGroup]:  # noqa: ANN401 -- kafka-python's messages are untyped
        """Yield the groups that are in a rebalance; raises ReadError for the first that was refused, after the others."""
        kinds: dict[str, list[str]] = {"classic": [], "consumer": [], "streams": []}
        moving = [group for group in answers.each(listed, "groups") if group.group_state in STATES]
        for group in sorted(moving, key=lambda group: group.group_id or "")[:_MOST_GROUPS]:
            kind = (getattr(group, "group_type", None) or "classic").lower()
            kinds.get(kind, kinds["classic"]).append(answers.checked_text(group.group_id, "a group"))
        found = {
            "classic": self._described(DescribeGroupsRequest, kinds["classic"]),
            "consumer": self._described(ConsumerGroupDescribeRequest, kinds["consumer"], "consumer"),
            "streams": self._described(StreamsGroupDescribeRequest, kinds["streams"], "streams"),
        }
        refused: ReadError | None = None
        for kind, groups in found.items():
            for group in groups:
                try:
                    if group.error_code != GROUP_GONE:
                        demand(group.error_code, None, GROUP_NEEDS)
                except ReadError as error:
                    refused = refused or error
                    continue
                if not group.error_code and group.group_state in STATES:
                    yield self._row(kind, group)
        if refused is None and len(moving) > _MOST_GROUPS:
            refused = ReadError(ReadFailure.TOO_LARGE, f"{len(moving)} groups are in a rebalance")
        if refused is not None:
            raise refused

    def _row(self, kind: str, group: Any) -> RebalancingGroup:  # noqa: ANN401 -- kafka-python's messages are untyped
        members = answers.each(group.members, "members of a group")
        ids = sorted(answers.checked_text(member.member_id, "a member") for member in members)
        epoch = getattr(group, "assignment_epoch", None)
        late = [member for member in members if epoch is not None and member.member_epoch < epoch]
        return RebalancingGroup(
            **self._head,
            group=answers.checked_text(group.group_id, "a group"),
            kind=kind,
            state=group.group_state,
            members=len(members),
            members_digest=sha256("\0".join(ids).encode("utf-8", "replace")).hexdigest()[:16],
            group_epoch=getattr(group, "group_epoch", None),
            assignment_epoch=epoch,
            late=len(late),
            late_clients=tuple(sorted(map(client_of, late))[:_LISTED]),
        )


def client_of(member: Any) -> str:  # noqa: ANN401 -- kafka-python's messages are untyped
    """Return who a member is, for people."""
    host = (member.client_host or "").removeprefix("/")
    return clean_line(f"{member.client_id} at {host}, epoch {member.member_epoch}", _CLIENT_CHARACTERS)
