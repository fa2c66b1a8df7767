"""Brokers that were asked to stop, and hand over what they lead before they do (a controlled shutdown), by their own logs.

A log that does not go on may be an old one: it says nothing of a broker that answers.
"""

from collections.abc import Iterator

from kafka_audit.cluster.processes import Processes
from kafka_audit.cluster.view import ClusterView
from kafka_audit.differences.tables import LeaderMove
from kafka_audit.model.tables import Sample
from kafka_audit.model.text import counted
from kafka_audit.progress.rule import Observed


def shutdowns(view: ClusterView) -> Iterator[Observed]:
    """Yield a row for each broker that stops, and still leads partitions."""
    moves = {row.broker_id: row for row in view.differences.of(LeaderMove)}
    before_ms = 0 if view.previous is None else max((row.started_ms for row in view.previous.of(Sample)), default=0)
    for broker, process in view.derived(Processes).all.items():
        led = view.partitions.led_by([broker])
        if process.stops is None or not led:
            continue
        move, begun_ms = moves.get(broker), process.stops.at_ms
        handed = move is not None and led < move.led
        was_there = move is not None and begun_ms is not None and before_ms > begun_ms
        yield Observed(
            kind="shutdown",
            parties=(f"broker/{broker}",),
            what=f"stop of broker {broker} with {counted(led, 'partition')} to hand over",
            now=led,
            snapshot=move.led if was_there and move is not None else None,
            was_there=was_there,
            moved=handed,
            began_ms=begun_ms,
            unit="partitions that it leads",
            waits_for=_alone(view, broker),
        )


def _alone(view: ClusterView, broker: int) -> str:
    """Return what no other broker can lead, as the others are out of sync; Kafka does not wait for single replicas."""
    states = view.partitions.of_kind("under_replicated")
    names = sorted({f"{state.topic}-{state.partition}" for state in states if state.leader == broker and len(state.isr) <= 1})
    more = f" and {counted(len(names) - 1, 'more partition')}" if len(names) > 1 else ""
    return f"another leader of {names[0]}{more}, whose other replicas are out of sync" if names else ""
