"""Brokers that start again and again: in audits in a row their registrations in ZooKeeper are young, and others than before.

Audits that are more than an hour apart say nothing of it: somebody may restart a broker before each of them. KRaft shows no
registration: there the watch counts how often a broker comes back, and its log has its starts.
"""

from collections.abc import Iterator

from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.tables import SnapshotInfo
from kafka_audit.progress.rule import Observed

KIND = "start"
_YOUNG_MS, _APART_MS = 900_000, 3_600_000
_MEASURE = "registered for less than 15 minutes"


def repeated_starts(view: ClusterView) -> Iterator[Observed]:
    """Yield a row for each broker whose registration was young in the previous snapshot, and is young and a new one now."""
    before = None if view.previous is None else next(iter(view.previous.of(SnapshotInfo)), None)
    if before is None or not 0 < view.started_ms - before.started_ms < _APART_MS:
        return
    reported = {row.parties[0] for row in view.reported_progress if row.kind == KIND}
    for broker, row in view.brokers.items():
        last, party = view.brokers_earlier.get(broker), f"broker/{broker}"
        if last is None or last.created == row.created or last.registered_ms is None:
            continue
        if view.ages_ms.get(broker, _YOUNG_MS) < _YOUNG_MS and before.started_ms - last.registered_ms < _YOUNG_MS:
            again = party in reported
            yield Observed(
                kind=KIND,
                parties=(party,),
                what=f"{'repeated ' if again else ''}start of broker {broker}",
                now=_MEASURE,
                snapshot=_MEASURE if again else None,
                was_there=again,
                unit="state",
                aside=not again or any(held.broker_id == broker for held in view.held_views),
            )
