"""Brokers that receive the metadata log and have not applied what was committed in the sample before.

How far a broker has received it, the leader of the quorum knows; how far it has applied it is `finalized_features_epoch` in its
answer to ApiVersions.
"""

from collections.abc import Iterable, Iterator

from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.quorum import newest_view
from kafka_audit.model.tables import BrokerFeature, QuorumView
from kafka_audit.progress.rule import Observed

_USUAL = 20
"""Records that a broker may have not applied while brokers are asked one after the other: one comes every half second."""


def unapplied_metadata(view: ClusterView) -> Iterator[Observed]:
    """Yield a row for each broker that applies the log late, or not at all."""
    end, last = (newest_view(rows) for rows in (view.newest(QuorumView), view.earlier(QuorumView)))
    earlier = () if view.previous is None else view.previous.of(BrokerFeature)
    for broker, applied in view.quorum.unapplied.items():
        offsets, offsets_before = _offsets(view.of(BrokerFeature), broker), _offsets(earlier, broker)
        last_left = _left(last, max(offsets_before, default=None))
        was_there = last_left is not None and last_left > _USUAL
        snapshot = max(offsets_before) if was_there else None
        yield Observed(
            kind="metadata",
            parties=(f"broker/{broker}",),
            what=f"application of the metadata log at broker {broker}",
            now=applied,
            sample=min(offsets),
            snapshot=snapshot,
            was_there=was_there,
            left=_left(end, applied),
            left_before=last_left if was_there else _left(end, min(offsets)),
            unit="offset",
            waits_for=f"the metadata loader of broker {broker}",
            clients_wait=True,
        )


def _offsets(rows: Iterable[BrokerFeature], broker: int) -> set[int]:
    """Return what a broker has applied: one offset, or those of two samples."""
    return {row.finalized_epoch for row in rows if row.broker_id == broker and row.finalized_epoch is not None}


def _left(view: QuorumView | None, applied: int | None) -> int | None:
    return None if view is None or view.high_watermark is None or applied is None else view.high_watermark - 1 - applied
