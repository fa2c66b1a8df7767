"""Ask a broker by ListOffsets, which only reads, whether it serves partitions; a page at a time, a deadline for each.

The earliest offset is asked for: a leader that has just been elected cannot tell the latest one yet.
"""

import time
from collections import defaultdict
from collections.abc import Iterator, Sequence

from kafka.protocol.consumer import ListOffsetsRequest

from kafka_audit.collect import list_offsets
from kafka_audit.collect.cursor import WireError
from kafka_audit.collect.groups import GroupReads
from kafka_audit.collect.leadership import Plan, Question
from kafka_audit.collect.reads import Asking, ReadError, any_answer
from kafka_audit.collect.targets import Target
from kafka_audit.collect.wire import ClientOptions, Conversation
from kafka_audit.model.tables import BrokerIdentity, BrokerView, LeadershipAnswer, LeadershipAsked, Row

LIST_OFFSETS = "ListOffsets"
MAY_DESCRIBE_TOPICS = "Describe on Topic '*'"
PAGE = 2000
"""Partitions of one request."""

_NO_EPOCH = -1
_NOT_LEADER, _TOPIC_DENIED = 6, 29
_UNEXPECTED, _UNREADABLE = "unexpected answer", "unreadable"


class LeadershipAsker:
    """Asks one broker what it makes of the partitions that it is said to lead, or may have led."""

    def __init__(self, target: Target, sample: int, options: ClientOptions, plan: Plan) -> None:
        """Take the address at which the broker answered, and what is asked of all."""
        self._target = target
        self._sample = sample
        self._options = options
        self._questions = plan.questions.get(target.broker_id, [])
        self._listed_offline = plan.offline.get(target.broker_id, 0)
        self._asks_groups = plan.disks_fail
        self._asking = Asking(sample=sample, observer=target.observer, target=target.address)

    def ask(self) -> tuple[Row, ...]:
        """Return answers that nobody would expect, how many were asked, and consumers while replicas are offline."""
        if not self._questions and not self._asks_groups:
            return ()
        started = time.monotonic()
        try:
            with Conversation(*self._target.dialled, self._options.at(self._target)) as talk:
                rows = self._leadership(talk) if self._questions and talk.version(ListOffsetsRequest, list_offsets.LOWEST) else []
                if self._asks_groups:
                    rows += GroupReads(talk, self._target, self._asking).rows()
                return tuple(rows)
        except ReadError as error:
            return (self._asking.failed(LIST_OFFSETS, error, started),)

    def unanswered(self, error: ReadError) -> tuple[Row, ...]:
        """Return the row for when no answer came, or none that makes sense."""
        return (self._asking.failed(LIST_OFFSETS, error),)

    def _leadership(self, talk: Conversation) -> list[Row]:
        started = time.monotonic()
        rows: list[Row] = []
        refused = 0
        try:
            with any_answer():
                for start in range(0, len(self._questions), PAGE):
                    for question, error in self._page(talk, self._questions[start : start + PAGE]):
                        refused += error == _TOPIC_DENIED
                        if error not in {_TOPIC_DENIED, 0 if question.as_leader else _NOT_LEADER}:
                            talk.add_rows(1)
                            rows.append(self._row(question, error))
        except ReadError as error:
            return [*rows, self._asking.failed(LIST_OFFSETS, error, started)]
        if refused:
            words = f"refused for {refused} of {len(self._questions)} partitions"
            denied = ReadError("TOPIC_AUTHORIZATION_FAILED", words, MAY_DESCRIBE_TOPICS)
            return [*rows, self._asking.failed(LIST_OFFSETS, denied, started)]
        leading = sum(question.as_leader for question in self._questions)
        asked = LeadershipAsked(
            sample=self._sample,
            observer=self._target.observer,
            broker_id=self._target.broker_id,
            as_leader=leading,
            as_former=len(self._questions) - leading,
            listed_offline=self._listed_offline,
        )
        return [*rows, asked, self._asking.answered(LIST_OFFSETS, started)]

    def _page(self, talk: Conversation, page: Sequence[Question]) -> Iterator[tuple[Question, int]]:
        """Ask about some partitions; yield each with the error code of its answer. Raises ReadError."""
        version = min(talk.version(ListOffsetsRequest, list_offsets.LOWEST) or list_offsets.LOWEST, list_offsets.HIGHEST)
        asked: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
        for question in page:
            # Of a leader the epoch shows who is behind; who does not lead would answer the epoch before the dead disk.
            known = question.as_leader and question.leader_epoch is not None
            asked[question.topic].append((question.partition, question.leader_epoch or 0 if known else _NO_EPOCH))
        body: bytes = talk.ask(list_offsets.request(asked, version))
        try:
            told = list_offsets.errors(body, version)
        except WireError as error:
            raise ReadError(_UNREADABLE, str(error)) from error
        for question in page:
            code = told.get((question.topic, question.partition))
            if code is None:
                raise ReadError(_UNEXPECTED, f"no answer about partition {question.partition} of {question.topic}")
            yield question, code

    def _row(self, question: Question, error: int) -> LeadershipAnswer:
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


def askers(
    rows: Sequence[Row], targets: Sequence[Target], sample: int, options: ClientOptions, plan: Plan
) -> list[LeadershipAsker]:
    """Return one asker for each registered broker that gave a view, at the address where it did.

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
    return [LeadershipAsker(target, sample, options, plan) for target in first.values()]
