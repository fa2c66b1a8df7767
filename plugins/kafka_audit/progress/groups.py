"""Groups in a rebalance, as their coordinators report them in both samples.

Of the classic protocol, nothing but the state is known: consumers wait until each member has joined again. A group of the
consumer protocol (KIP-848) or of Kafka Streams (KIP-1071) has the epoch of its target assignment, and each member the epoch that
it has reached. Share groups (KIP-932) give nothing up, and are in no rebalance.
"""

from collections.abc import Iterator

from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.tables import RebalancingGroup
from kafka_audit.model.text import counted
from kafka_audit.progress.rule import Observed

NOT_READY = "NotReady"


def rebalances(view: ClusterView) -> Iterator[Observed]:
    """Yield a row for each group that is in a rebalance, in the sample before, too, where there is one."""
    before, earlier = (
        {row.group: row for row in rows} for rows in (view.before(RebalancingGroup), view.earlier(RebalancingGroup))
    )
    for row in view.newest(RebalancingGroup):
        last_sample, last = before.get(row.group), earlier.get(row.group)
        if last_sample is not None or view.samples[1] is None:
            yield Observed(
                kind="group",
                parties=(f"group/{row.group}", f"broker/{row.broker_id}"),
                what=f"rebalance of {'' if row.kind == 'consumer' else f'{row.kind} '}group {row.group}",
                now=_measure(row),
                sample=None if last_sample is None else _measure(last_sample),
                snapshot=None if last is None else _measure(last),
                was_there=last is not None,
                unit="state",
                waits_for=_waits_for(row, last),
                clients_wait=row.kind == "classic" or row.state == NOT_READY,
            )


def _measure(row: RebalancingGroup) -> str:
    """Return what changes when a rebalance gets on; a classic one that begins anew, as members come and go, gets nowhere."""
    if row.kind == "classic":
        return "in a rebalance"
    late = f"{row.late} of {counted(row.members, 'member')} behind"
    return f"{row.state}, group epoch {row.group_epoch}, assignment epoch {row.assignment_epoch}, {late}"


def _waits_for(row: RebalancingGroup, last: RebalancingGroup | None) -> str:
    if row.state == NOT_READY:
        return "its source topics, or topics of its own that are not created"
    if row.late:
        more = f" and {row.late - len(row.late_clients)} more" if row.late > len(row.late_clients) else ""
        return f"{', '.join(row.late_clients)}{more}, to give up partitions"
    if row.kind != "classic":
        return ""
    if last is not None and last.members_digest != row.members_digest:
        return f"{counted(row.members, 'member')}, of which some left or joined anew meanwhile"
    return f"one of {counted(row.members, 'member')} to join again"
