"""Transactions that are open for long, by ListOffsets of the partitions' leaders: nothing but Describe on topics is needed.

The last stable offset is the first record of the oldest open transaction. It is asked for after the high watermark, so that it
is below it only where a transaction is open. Then the first record that is young enough is asked for by its timestamp: if it lies
behind the stable offset, or there is none, the transaction is older, by the clock of its producer.
"""

import time
from collections.abc import Sequence

import numpy as np
from kafka.protocol.consumer import ListOffsetsRequest

from kafka_audit.clients.protocol.conversation import Conversation
from kafka_audit.clients.protocol.primitive_types import WireError
from kafka_audit.clients.read_error import ReadError, any_answer
from kafka_audit.clients.targets import Target
from kafka_audit.collect.brokers import list_offsets
from kafka_audit.collect.brokers.leader_questions import LeaderQuestion, LeaderQuestions
from kafka_audit.collect.rows.columns import Ints
from kafka_audit.collect.rows.source_reads import Asking
from kafka_audit.model.read_failure import ReadFailure
from kafka_audit.model.tables import OldTransaction, Row
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
