"""Transactions that are open for long, as the leaders of partitions know them, and then their coordinators.

Leaders are asked by ListOffsets, for which Describe on topics suffices. The last stable offset is the first record of the oldest
open transaction. It is asked for after the high watermark, so that it is below it only where a transaction is open. Then the
first record that is young enough is asked for by its timestamp: if it lies behind the stable offset, or there is none, the
transaction is older, by the clock of its producer.

What coordinators know decides whether an abort loses what is committed. They are asked only if a partition has such a
transaction. ListTransactions leaves out, without a word, what the auditor may not describe. DescribeTransactions denies each id:
one that no client has shows whether the auditor may describe all (`kafka.server.KafkaApis`, `handleListTransactionsRequest`,
`handleDescribeTransactionsRequest`).
"""

import time
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from kafka.protocol.admin import DescribeTransactionsRequest, ListTransactionsRequest
from kafka.protocol.consumer import ListOffsetsRequest

from kafka_audit.clients.protocol.conversation import ClientOptions, Conversation, demand
from kafka_audit.clients.protocol.primitive_types import WireError
from kafka_audit.clients.read_error import ReadError, any_answer
from kafka_audit.clients.targets import Target
from kafka_audit.collect.brokers import answers, list_offsets
from kafka_audit.collect.brokers.leader_questions import LeaderQuestion, LeaderQuestions
from kafka_audit.collect.rows.columns import Ints
from kafka_audit.collect.rows.source_reads import CLUSTER_DENIED, Asking
from kafka_audit.model.read_failure import ReadFailure
from kafka_audit.model.tables import CoordinatedTransaction, OldTransaction, Row
from kafka_audit.model.tables.storage import OPEN_FOR_LONG_MS

COMMITTED = "read_committed offsets"
PAGE = 2000
"""Partitions of one request."""

_SLACK_MS = 60_000
"""After its time-out a transaction is aborted within seconds (transaction.abort.timed.out.transaction.cleanup.interval.ms)."""

_DENIED = 29
_MAY_DESCRIBE_TOPICS = "Describe on Topic '*'"


class TransactionReads:
    """Asks one leader, at the connection that is open."""

    def __init__(self, conversation: Conversation, target: Target, asking: Asking, longest_ms: int) -> None:
        """Take the conversation, the broker it is with, whose reads these are, and how long a transaction may be open."""
        self._conversation = conversation
        self._target = target
        self._asking = asking
        self._older_ms = longest_ms + _SLACK_MS
        version = conversation.version(ListOffsetsRequest, list_offsets.COMMITTED_FROM) or list_offsets.COMMITTED_FROM
        self._version = min(version, list_offsets.HIGHEST)

    def rows(self, questions: LeaderQuestions) -> Sequence[Row]:
        """Return the partitions with transactions that are open for long, and how the read ended."""
        led = questions.at(np.flatnonzero(questions.as_leader))
        started = time.monotonic()
        rows: list[Row] = []
        refused = 0
        try:
            with any_answer():
                for start in range(0, len(led), PAGE):
                    page = led.part(start, start + PAGE)
                    ends, denied = self._ask(page, list_offsets.LATEST)
                    refused += denied
                    stable, _ = self._ask(page, list_offsets.LATEST, committed=True)
                    opened = np.flatnonzero((stable >= 0) & (ends > stable))
                    rows += self._old(page.at(opened), stable[opened], ends[opened]) if len(opened) else ()
        except ReadError as error:
            return [*rows, self._asking.failed(COMMITTED, error, started)]
        if refused:
            message = f"refused for {refused} of {len(led)} partitions"
            requested = ReadError(ReadFailure.NOT_AUTHORIZED, message, _MAY_DESCRIBE_TOPICS, error="TOPIC_AUTHORIZATION_FAILED")
            return [*rows, self._asking.failed(COMMITTED, requested, started)]
        return [*rows, self._asking.answered(COMMITTED, started)]

    def _old(self, page: LeaderQuestions, stable: Ints, ends: Ints) -> Sequence[Row]:
        found = self._older(page, stable, OPEN_FOR_LONG_MS)
        page, stable, ends = page.at(found), stable[found], ends[found]
        past = {*self._older(page, stable, self._older_ms).tolist()} if len(found) else set()
        self._conversation.add_rows(len(found))
        return [
            self._row(
                page.one(place), int(stable[place]), int(ends[place]), self._older_ms if place in past else OPEN_FOR_LONG_MS
            )
            for place in range(len(found))
        ]

    def _older(self, page: LeaderQuestions, stable: Ints, than_ms: int) -> Ints:
        """Return the places of partitions whose record at the stable offset is older."""
        young, _ = self._ask(page, round(time.time() * 1000) - than_ms, unknown=0)
        found: Ints = np.flatnonzero((young < 0) | (young > stable))
        return found

    def _row(self, question: LeaderQuestion, stable: int, end: int, older_ms: int) -> OldTransaction:
        return OldTransaction(
            sample=self._asking.sample,
            observer=self._target.observer,
            broker_id=self._target.broker_id,
            topic=question.topic,
            partition=question.partition,
            stable_offset=stable,
            end_offset=end,
            older_than_ms=older_ms,
        )

    def _ask(self, page: LeaderQuestions, timestamp: int, *, committed: bool = False, unknown: int = -1) -> tuple[Ints, int]:
        """Return offsets, `unknown` where the leader gave an error, and how many were denied; raises ReadError."""
        request = list_offsets.list_offsets_request(page, self._version, timestamp, committed=committed)
        body = bytes(self._conversation.ask(request))
        try:
            codes, offsets = list_offsets.offsets(body, self._version, page)
        except WireError as error:
            raise ReadError(ReadFailure.MALFORMED_ANSWER, str(error)) from error
        return np.where(codes == 0, offsets, unknown), int(np.count_nonzero(codes == _DENIED))


STATES = "ListTransactions"
MADE_UP = "kafka-audit-made-up-id"
MOST_IDS, PAGE_OF_STATES = 2000, 200
"""Transactions that are described, at one coordinator and in one request."""

_MAY_DESCRIBE = "Describe on TransactionalId '*'"
_OPEN = ("PrepareCommit", "PrepareAbort", "Ongoing")
_DENIED_ID, _GONE = 53, (14, 15, 16, 105)  # loads, is not available, is another broker; there is no such id
_NEEDS = {"TRANSACTIONAL_ID_AUTHORIZATION_FAILED": _MAY_DESCRIBE, CLUSTER_DENIED: _MAY_DESCRIBE}


class TransactionStateAsker:
    """Asks one broker for the transactions that it coordinates in these partitions."""

    def __init__(self, target: Target, sample: int, options: ClientOptions, partitions: frozenset[str]) -> None:
        """Take the address at which the broker answered, and the partitions whose transactions are open for long."""
        self._target = target
        self._options = options
        self._partitions = partitions
        self._asking = Asking(sample=sample, observer=target.observer, target=target.address)

    def ask(self) -> tuple[Row, ...]:
        """Return the transactions, and how the read ended; nothing where the broker has no such API (before Kafka 3.0)."""
        started = time.monotonic()
        rows: list[Row] = []
        try:
            with Conversation(*self._target.dialled, self._options.at(self._target)) as conversation, any_answer():
                if None in {conversation.version(ListTransactionsRequest), conversation.version(DescribeTransactionsRequest)}:
                    return ()
                rows += self._rows(conversation)
        except ReadError as error:
            return (self._asking.failed(STATES, error, started),)
        return (*rows, self._asking.answered(STATES, started))

    def unanswered(self, error: ReadError) -> tuple[Row, ...]:
        """Return the row for when no answer came."""
        return (self._asking.failed(STATES, error),)

    def _rows(self, conversation: Conversation) -> Iterator[Row]:
        (made_up,) = self._described(conversation, [MADE_UP])
        if made_up.error_code not in _GONE:
            demand(made_up.error_code, None, _NEEDS)
        # Only the parameters of version 0 are used: later ones add filters.
        request = ListTransactionsRequest(version=0, state_filters=[*_OPEN], producer_id_filters=[])
        listed = conversation.ask(request)
        demand(listed.error_code, None, _NEEDS)
        found = [entry for entry in answers.each(listed.transaction_states, "transactions") if entry.transaction_state in _OPEN]
        ids = [answers.checked_text(entry.transactional_id, "a transactional id") for entry in found]
        if len(ids) > MOST_IDS:
            raise ReadError(ReadFailure.OVER_LIMIT, f"{len(ids)} transactions are open", f"at most {MOST_IDS} open transactions")
        conversation.add_rows(len(ids))
        for start in range(0, len(ids), PAGE_OF_STATES):
            for entry in self._described(conversation, ids[start : start + PAGE_OF_STATES]):
                if entry.error_code not in _GONE:
                    demand(entry.error_code, None, _NEEDS)
                    yield from self._row(entry)

    @staticmethod
    def _described(conversation: Conversation, ids: Sequence[str]) -> Sequence[Any]:
        answer = conversation.ask(DescribeTransactionsRequest(version=0, transactional_ids=[*ids]))
        found = answers.each(answer.transaction_states, "transactions")
        if sorted(str(entry.transactional_id) for entry in found) != sorted(ids):
            answers.refuse_answer("other transactions than were asked for")
        return found

    def _row(self, entry: Any) -> Iterator[Row]:  # noqa: ANN401 -- kafka-python's messages are untyped
        names = {
            f"{topic.topic}-{partition}"
            for topic in answers.each(entry.topics, "topics of a transaction")
            for partition in answers.each(topic.partitions, "partitions of a transaction")
        }
        if not names & self._partitions:
            return
        yield CoordinatedTransaction(
            sample=self._asking.sample,
            observer=self._target.observer,
            broker_id=self._target.broker_id,
            transactional_id=answers.checked_text(entry.transactional_id, "a transactional id"),
            producer_id=entry.producer_id,
            producer_epoch=entry.producer_epoch,
            state=answers.checked_text(entry.transaction_state, "the state of a transaction"),
            started_ms=entry.transaction_start_time_ms if entry.transaction_start_time_ms >= 0 else None,
            timeout_ms=answers.at_least(0, entry.transaction_timeout_ms, "a time-out"),
            partitions=tuple(sorted(names & self._partitions)),
        )


def open_partitions(rows: Sequence[Row]) -> frozenset[str]:
    """Return the partitions whose transactions are open for long."""
    return frozenset(f"{row.topic}-{row.partition}" for row in rows if isinstance(row, OldTransaction))
