"""Partitions of which more than the segment that is written to is still to be copied to remote storage."""

from collections.abc import Iterator

from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.tables import TieredPartition
from kafka_audit.model.tables.views import DEFAULT_SOURCE
from kafka_audit.progress.rule import Observed

_SEGMENT, _DEFAULT = "log.segment.bytes", 2**30
_QUOTA = "remote.log.manager.copy.max.bytes.per.second"
_SEGMENTS = 2
"""The one that is written to, and one that has just been rolled."""


def copies_to_tier(view: ClusterView) -> Iterator[Observed]:
    """Yield a row for each partition with segments that are not in remote storage, and could be."""
    before, earlier = (
        {(row.topic, row.partition): row for row in rows if left_bytes(view, row)}
        for rows in (view.before(TieredPartition), view.earlier(TieredPartition))
    )
    for row in view.newest(TieredPartition):
        if not left_bytes(view, row):
            continue
        sample, last = (rows.get((row.topic, row.partition)) for rows in (before, earlier))
        quota = view.settings.answers.get(row.broker_id, {}).get(_QUOTA)
        yield Observed(
            kind="tier",
            parties=(f"topic/{row.topic}/partition/{row.partition}", f"broker/{row.broker_id}"),
            what=f"copy of {row.topic}-{row.partition} to remote storage",
            now=row.tiered_offset,
            sample=None if sample is None else sample.tiered_offset,
            snapshot=None if last is None else last.tiered_offset,
            was_there=last is not None,
            left=_left(row),
            left_before=None if (reference := last or sample) is None else _left(reference),
            whole=row.end_offset,
            unit="offset",
            waits_for=f"{_QUOTA}={quota.value}" if quota is not None and quota.source != DEFAULT_SOURCE else "",
        )


def left_bytes(view: ClusterView, row: TieredPartition) -> int:
    """Return about how many bytes are still to be copied, by the share of records; 0 where these may not be whole segments."""
    records = row.end_offset - row.local_offset
    left = row.end_offset - max(row.local_offset, row.tiered_offset + 1)
    size = row.local_bytes * left // records if records > 0 else 0
    return size if size > _SEGMENTS * (row.segment_bytes or view.settings.number(row.broker_id, _SEGMENT, _DEFAULT)) else 0


def _left(row: TieredPartition) -> int:
    return max(0, row.end_offset - 1 - row.tiered_offset)
