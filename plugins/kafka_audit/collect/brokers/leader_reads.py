"""Ask a broker by ListOffsets whether it serves partitions, by DescribeTopicPartitions who may lead without being in sync.

Both only read, a page at a time, with a deadline for each.

The earliest offset is requested, because a newly elected leader does not know the latest offset yet.
"""

import time
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from kafka.protocol.admin import DescribeTopicPartitionsRequest
from kafka.protocol.consumer import ListOffsetsRequest

from kafka_audit.clients.protocol.conversation import ClientOptions, Conversation, demand
from kafka_audit.clients.protocol.primitive_types import WireError
from kafka_audit.clients.read_error import ReadError, any_answer
from kafka_audit.clients.targets import Target
from kafka_audit.collect.brokers import answers, list_offsets
from kafka_audit.collect.brokers.consumer_groups import GroupReads
from kafka_audit.collect.brokers.copied_replicas import read_copied_replicas
from kafka_audit.collect.brokers.group_coordinators import CoordinatorReads
from kafka_audit.collect.brokers.leader_questions import OFFSETS, LeaderQuestion, LeaderQuestionPlan, LeaderQuestions
from kafka_audit.collect.brokers.share_groups import read_share_partitions
from kafka_audit.collect.brokers.tiers import read_tiers
from kafka_audit.collect.brokers.transactions import TransactionReads
from kafka_audit.collect.rows.columns import Ints
from kafka_audit.collect.rows.source_reads import Asking
from kafka_audit.model.read_failure import ReadFailure
from kafka_audit.model.tables import (
    BrokerIdentity,
    BrokerView,
    EligibleReplicas,
    LeadershipAnswer,
    LeadershipAsked,
    Row,
    TopicEnd,
)

ENDS = "end offsets"
_APART_S = 3.0
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


LIST_OFFSETS = "ListOffsets"
MAY_DESCRIBE_TOPICS = "Describe on Topic '*'"
PAGE = 2000
"""Partitions of one request."""

_NOT_LEADER, _TOPIC_DENIED = 6, 29


class LeadershipAsker:
    """Asks one broker what it makes of the partitions that it is said to lead, or may have led."""

    def __init__(
        self, target: Target, sample: int, options: ClientOptions, plan: LeaderQuestionPlan, *, first: bool = False
    ) -> None:
        """Take the address at which the broker answered, and what is asked of all; of the `first`, what one of them knows."""
        self._target = target
        self._sample = sample
        self._options = options
        self._questions = plan.questions.get(target.broker_id)
        self._listed_offline = plan.offline.get(target.broker_id, 0)
        self._topics = plan.topics
        self._tiered = plan.tiered
        self._asks_groups = plan.disks_fail or bool(plan.topics)
        self._coordinators = plan.coordinators
        self._shares = plan.shares
        self._transaction_ms = plan.transaction_ms
        self._elr_topics = plan.elr_topics if first else ()
        self._copied = plan.copied.get(target.broker_id, ())
        self._asking = Asking(sample=sample, observer=target.observer, target=target.address)

    def ask(self) -> tuple[Row, ...]:
        """Return unexpected answers, the number of requested partitions, and consumers while replicas are offline."""
        if not (self._questions or self._asks_groups or self._elr_topics or self._coordinators or self._shares or self._copied):
            return ()
        started = time.monotonic()
        try:
            with Conversation(*self._target.dialled, self._options.at(self._target)) as conversation:
                rows = self._asked(conversation, self._questions)
                if self._elr_topics:
                    rows += read_eligible_replicas(conversation, self._asking, self._elr_topics)
                if self._copied:
                    rows += read_copied_replicas(conversation, self._target, self._asking, self._copied)
                if tiered := [(topic, number) for topic in self._tiered for number in _led(self._questions, topic)]:
                    rows += read_tiers(conversation, self._target, self._asking, tiered, self._tiered)
                if self._coordinators:
                    led = _led(self._questions, OFFSETS)
                    rows += CoordinatorReads(conversation, self._target, self._asking, led, self._coordinators).rows()
                if self._shares:
                    rows += read_share_partitions(conversation, self._target, self._asking)
                if self._asks_groups:
                    rows += GroupReads(conversation, self._target, self._asking).rows()
                return tuple(rows)
        except ReadError as error:
            return (self._asking.failed(LIST_OFFSETS, error, started),)

    def unanswered(self, error: ReadError) -> tuple[Row, ...]:
        """Return the row for when no answer came, or none that makes sense."""
        return (self._asking.failed(LIST_OFFSETS, error),)

    def _asked(self, conversation: Conversation, questions: LeaderQuestions | None) -> list[Row]:
        if questions is None or not conversation.version(ListOffsetsRequest, list_offsets.LOWEST):
            return []
        rows = self._leadership(conversation, questions)
        if self._transaction_ms is not None and conversation.version(ListOffsetsRequest, list_offsets.COMMITTED_FROM):
            rows += TransactionReads(conversation, self._target, self._asking, self._transaction_ms).rows(questions)
        return [*rows, *self._ends(conversation, questions)] if self._topics else rows

    def _ends(self, conversation: Conversation, questions: LeaderQuestions) -> list[Row]:
        """Return where the partitions end that a user asks about, twice: whether something is written to them."""
        names = np.array([topic in self._topics for topic in questions.topics], bool)
        led = questions.at(np.flatnonzero(names[questions.topic] & questions.as_leader))
        version = min(conversation.version(ListOffsetsRequest, list_offsets.LOWEST) or list_offsets.LOWEST, list_offsets.HIGHEST)
        started = time.monotonic()
        found: list[Ints] = []
        try:
            with any_answer():
                for _ in range(2 if len(led) else 0):
                    if found:
                        time.sleep(_APART_S)
                    request = list_offsets.list_offsets_request(led, version, list_offsets.LATEST)
                    found.append(list_offsets.offsets(bytes(conversation.ask(request)), version, led)[1])
        except WireError as error:
            return [self._asking.failed(ENDS, ReadError(ReadFailure.UNREADABLE, str(error)), started)]
        except ReadError as error:
            return [self._asking.failed(ENDS, error, started)]
        conversation.add_rows(len(led))
        rows: list[Row] = [
            TopicEnd(
                sample=self._sample,
                observer=self._target.observer,
                broker_id=self._target.broker_id,
                topic=(question := led.one(place)).topic,
                partition=question.partition,
                end_offset=int(found[0][place]),
                later_offset=int(found[1][place]),
            )
            for place in range(len(led))
        ]
        return [*rows, self._asking.answered(ENDS, started)]

    def _leadership(self, conversation: Conversation, questions: LeaderQuestions) -> list[Row]:
        started = time.monotonic()
        rows: list[Row] = []
        refused = 0
        try:
            with any_answer():
                for start in range(0, len(questions), PAGE):
                    page = questions.part(start, start + PAGE)
                    errors = self._page(conversation, page)
                    refused += int(np.count_nonzero(errors == _TOPIC_DENIED))
                    expected = np.where(page.as_leader, 0, _NOT_LEADER)
                    for place in np.flatnonzero((errors != _TOPIC_DENIED) & (errors != expected)).tolist():
                        conversation.add_rows(1)
                        rows.append(self._row(page.one(place), int(errors[place])))
        except ReadError as error:
            return [*rows, self._asking.failed(LIST_OFFSETS, error, started)]
        if refused:
            text = f"refused for {refused} of {len(questions)} partitions"
            denied = ReadError(ReadFailure.NOT_AUTHORIZED, text, MAY_DESCRIBE_TOPICS, error="TOPIC_AUTHORIZATION_FAILED")
            return [*rows, self._asking.failed(LIST_OFFSETS, denied, started)]
        leading = int(np.count_nonzero(questions.as_leader))
        asked = LeadershipAsked(
            sample=self._sample,
            observer=self._target.observer,
            broker_id=self._target.broker_id,
            as_leader=leading,
            as_former=len(questions) - leading,
            listed_offline=self._listed_offline,
        )
        return [*rows, asked, self._asking.answered(LIST_OFFSETS, started)]

    @staticmethod
    def _page(conversation: Conversation, page: LeaderQuestions) -> Ints:
        """Ask about some partitions; return the error code of each. Raises ReadError."""
        version = min(conversation.version(ListOffsetsRequest, list_offsets.LOWEST) or list_offsets.LOWEST, list_offsets.HIGHEST)
        body = bytes(conversation.ask(list_offsets.list_offsets_request(page, version)))
        try:
            errors = list_offsets.errors(body, version, page)
        except WireError as error:
            raise ReadError(ReadFailure.UNREADABLE, str(error)) from error
        for place in np.flatnonzero(errors == list_offsets.NO_ANSWER)[:1].tolist():
            question = page.one(place)
            raise ReadError(ReadFailure.UNEXPECTED_ANSWER, f"no answer about partition {question.partition} of {question.topic}")
        return errors

    def _row(self, question: LeaderQuestion, error: int) -> LeadershipAnswer:
        return LeadershipAnswer(
            sample=self._sample,
            observer=self._target.observer,
            broker_id=self._target.broker_id,
            topic=question.topic,
            partition=question.partition,
            asked_as="leader" if question.as_leader else "former",
            error=error,
            leader=question.leader,
            leader_epoch=question.leader_epoch,
            preferred=question.preferred,
            listed_offline=question.listed_offline,
        )


def _led(questions: LeaderQuestions | None, topic: str) -> list[int]:
    """Return the partitions of a topic that the broker is said to lead."""
    if questions is None or topic not in questions.topics:
        return []
    own = (questions.topic == questions.topics.index(topic)) & questions.as_leader
    return sorted(questions.partition[own].tolist())


def targets_to_ask(rows: Sequence[Row], targets: Sequence[Target]) -> list[Target]:
    """Return the address of each registered broker that gave a view, where it did.

    A broker at whose address another one answers is not asked: whatever that says is about its own partitions.
    """
    gave = {(row.broker_id, row.address) for row in rows if isinstance(row, BrokerView)}
    others = {
        (row.broker_id, row.address)
        for row in rows
        if isinstance(row, BrokerIdentity) and row.answered_by not in {None, row.broker_id}
    }
    first: dict[int, Target] = {}
    for target in targets:
        if (target.broker_id, target.address) in gave - others:
            first.setdefault(target.broker_id, target)
    return [*first.values()]
