"""Partitions of share groups (KIP-932) of which members process nothing, while records are left.

Members of a healthy group that is busy have records left at any moment: only what was the same in the previous snapshot is a
row, or what was one in the previous report.
"""

import math
from collections.abc import Iterator

from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.tables import SharePartition
from kafka_audit.model.text import counted
from kafka_audit.progress.rule import Observed

KIND = "share"
_DEFAULTS = {"group.share.max.delivery.count.limit": 10, "group.share.max.record.lock.duration.ms": 60_000}
_MINUTE_MS = 60_000
_DEFAULT_MS = 10 * _MINUTE_MS


def share_groups(view: ClusterView) -> Iterator[Observed]:
    """Yield a row for each group with a partition that does not get on: the one of the previous report, or the first."""
    moments = view.before(SharePartition), view.earlier(SharePartition)
    before, earlier = ({_key(row): row for row in rows if row.left > 0} for rows in moments)
    reported = {row.parties for row in view.reported_progress if row.kind == KIND}
    groups: dict[str, list[SharePartition]] = {}
    for row in view.newest(SharePartition):
        if row.left > 0 and _key(row) in earlier:
            groups.setdefault(row.group, []).append(row)
    for group, rows in sorted(groups.items()):
        same = [row for row in rows if not _moved(row, earlier[_key(row)])]
        shown = [row for row in same or rows if share_parties(row) in reported] or same
        for row in shown[:1]:
            last, sample = earlier[_key(row)], before.get(_key(row))
            more = f" and {counted(len(same) - 1, 'more partition')}" if len(same) > 1 else ""
            yield Observed(
                kind=KIND,
                parties=share_parties(row),
                what=f"work of share group {group} on {row.topic}-{row.partition}{more}",
                now=row.start_offset,
                sample=None if sample is None else sample.start_offset,
                snapshot=last.start_offset,
                was_there=True,
                moved=_moved(row, last),
                left=row.left,
                left_before=last.left,
                minutes=_longest(view, row.broker_id),
                unit="offset",
                waits_for=_waits_for(row),
            )


def share_parties(row: SharePartition) -> tuple[str, str]:
    """Return the resources that a row is about."""
    return f"group/{row.group}", f"topic/{row.topic}/partition/{row.partition}"


def _key(row: SharePartition) -> tuple[str, str, int]:
    return row.group, row.topic, row.partition


def _moved(row: SharePartition, last: SharePartition) -> bool:
    """Return whether something was processed: the offset stays where it is as long as its first record is held."""
    return row.start_offset != last.start_offset or row.left < last.left


def _longest(view: ClusterView, broker: int) -> float | None:
    """Return how long one record may be held by the coordinator's settings, which those of a group cannot exceed."""
    longest = math.prod(view.settings.number(broker, key, default) for key, default in _DEFAULTS.items())
    return longest / _MINUTE_MS if longest > _DEFAULT_MS else None


def _waits_for(row: SharePartition) -> str:
    more = f" and {row.members - len(row.clients)} more" if row.members > len(row.clients) else ""
    return f"{', '.join(row.clients)}{more}, to process {counted(row.left, 'record')}"
