"""Transactions that are open for long, and what their coordinators know of them.

While a coordinator has one as `Ongoing`, it aborts it at the time-out of its producer. One that is prepared is decided: its
coordinator writes the markers until every partition has one, and what is committed must not be aborted. One that no coordinator
knows never ends by itself.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property

from kafka_audit.cluster.answers.broker_reads import BrokerReads
from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.tables import CoordinatedTransaction, OldTransaction
from kafka_audit.model.text import brokers, counted, listing
from kafka_audit.progress.rule import Observed

STATES, TOPIC = "ListTransactions", "__transaction_state"
_MINUTE_MS, _SHOWN = 60_000, 3
_SLACK_MINUTES = 1
"""A coordinator looks for transactions beyond their time-out every 10 s."""

_Place = tuple[str, int]


class OpenTransactions:
    """The transactions of one view by their partitions."""

    def __init__(self, view: ClusterView) -> None:
        """Keep the view; nothing is read yet."""
        self._view = view

    @cached_property
    def known(self) -> Mapping[str, CoordinatedTransaction]:
        """What a coordinator has of each partition's transaction, by Kafka's name of the partition; prepared ones count first."""
        rows = sorted(self._view.newest(CoordinatedTransaction), key=lambda row: row.state == "Ongoing", reverse=True)
        return {name: row for row in rows for name in row.partitions}

    @cached_property
    def gap(self) -> Mapping[str, str] | None:
        """Why a coordinator may have a transaction that none is known to have; None if all were asked, and all answered."""
        reads = BrokerReads(self._view.last_reads, STATES)
        silent = [broker for broker in self._view.brokers if not reads.answered(broker)]
        if any(state.topic == TOPIC for state in self._view.partitions.of_kind("leaderless")):
            return {"error": f"a partition of {TOPIC} has no leader", "needs": "a leader of that partition"}
        if not silent and self._view.brokers:
            return None
        needs = "an answer of each broker to ListTransactions (Kafka 3.0 or later)"
        gaps = (reads.gap(broker) for broker in silent)
        return next((gap for gap in gaps if gap is not None), {"error": "not every coordinator was asked", "needs": needs})

    def rows(self) -> Iterator[Observed]:
        """Yield a row for each transaction that is open for long; one that no coordinator has, for each partition."""
        earlier = {(row.topic, row.partition): row for row in self._view.earlier(OldTransaction)}
        known_earlier = {name: row for row in self._view.earlier(CoordinatedTransaction) for name in row.partitions}
        together: dict[CoordinatedTransaction | _Place, list[OldTransaction]] = {}
        for row in self._view.newest(OldTransaction):
            place = (row.topic, row.partition)
            together.setdefault(self.known.get(f"{row.topic}-{row.partition}", place), []).append(row)
        for key, rows in together.items():
            row, known = rows[0], key if isinstance(key, CoordinatedTransaction) else None
            names = sorted(f"{row.topic}-{row.partition}" for row in rows)
            before, last = known_earlier.get(names[0]), earlier.get((row.topic, row.partition))
            ongoing = known is not None and known.state == "Ongoing"
            yield Observed(
                kind="transaction",
                parties=tuple(sorted(f"topic/{row.topic}/partition/{row.partition}" for row in rows)),
                what=f"{_what(known)} in {_where(names, {row.topic for row in rows})}",
                now=row.stable_offset if known is None else _measure(known),
                snapshot=_measure_of(last, before, known=known is not None),
                was_there=(last if known is None else before) is not None,
                began_ms=known.started_ms if known is not None and ongoing else None,
                minutes=_minutes(row, known),
                unit="last stable offset" if known is None else "state",
                waits_for=_waits_for(known),
                clients_wait=True,
            )


def _what(known: CoordinatedTransaction | None) -> str:
    return "transaction" if known is None else f"transaction {known.transactional_id}, {known.state},"


def _where(names: Sequence[str], topics: Collection[str]) -> str:
    if len(names) == 1:
        return names[0]
    return f"{counted(len(names), 'partition')} of {listing(sorted(topics), _SHOWN)}"


def _measure(known: CoordinatedTransaction) -> str:
    """Return which transaction it is, and its state: a producer's next one has another start."""
    return f"{known.state} of producer {known.producer_id}, epoch {known.producer_epoch}, begun {known.started_ms}"


def _measure_of(last: OldTransaction | None, before: CoordinatedTransaction | None, *, known: bool) -> int | str | None:
    if known:
        return None if before is None else _measure(before)
    return None if last is None else last.stable_offset


def _minutes(row: OldTransaction, known: CoordinatedTransaction | None) -> float | None:
    if known is None:
        return row.older_than_ms / _MINUTE_MS
    return known.timeout_ms / _MINUTE_MS + _SLACK_MINUTES if known.state == "Ongoing" else None


def _waits_for(known: CoordinatedTransaction | None) -> str:
    if known is None:
        return ""
    if known.state == "Ongoing":
        return f"its producer, or its time-out of {known.timeout_ms / _MINUTE_MS:g} minutes"
    return f"the markers of {brokers([known.broker_id])}, its coordinator"
