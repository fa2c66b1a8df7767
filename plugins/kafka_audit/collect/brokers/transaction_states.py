"""What coordinators know of transactions that are open for long: it decides whether an abort loses what is committed.

Asked only if a partition has a transaction that is open for long. ListTransactions leaves out, without a word, what the auditor
may not describe. DescribeTransactions denies each id: one that no client has shows whether the auditor may describe all
(`kafka.server.KafkaApis`, `handleListTransactionsRequest`, `handleDescribeTransactionsRequest`).
"""

import time
from collections.abc import Iterator, Sequence
from typing import Any

from kafka.protocol.admin import DescribeTransactionsRequest, ListTransactionsRequest

from kafka_audit.clients.protocol.conversation import ClientOptions, Conversation, demand
from kafka_audit.clients.read_error import ReadError, any_answer
from kafka_audit.clients.targets import Target
from kafka_audit.collect.brokers import answers
from kafka_audit.collect.rows.source_reads import CLUSTER_DENIED, Asking
from kafka_audit.model.read_failure import ReadFailure
from kafka_audit.model.tables import CoordinatedTransaction, OldTransaction, Row

STATES = "ListTransactions"
MADE_UP = "kafka-audit-made-up-id"
MOST_IDS, PAGE = 2000, 200
"""Transactions that are described, at one coordinator and in one request."""

_MAY_DESCRIBE = "Describe on TransactionalId '*'"
_OPEN = ("PrepareCommit", "PrepareAbort", "Ongoing")
_DENIED, _GONE = 53, (14, 15, 16, 105)  # loads, is not available, is another broker; there is no such id
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
        for start in range(0, len(ids), PAGE):
            for entry in self._described(conversation, ids[start : start + PAGE]):
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
