from kafka_audit.checks import ClusterView, Judgements, Severity, Status, check
from kafka_audit.checks.on_its_way import standing, under_way
from kafka_audit.cluster.coordinators import groups_gap, has_topic, unused
from kafka_audit.model.progress import ProgressRow
from kafka_audit.model.tables import RebalancingGroup
from kafka_audit.model.text import clean, counted
from kafka_audit.progress.rows import progress_of

_TOPIC, _READ = "__consumer_offsets", "DescribeGroups rebalancing"


@check(code="KA622", severity=Severity.HIGH, parts=("topics",))
def group_rebalances(view: ClusterView) -> Judgements:
    """A group stays in a rebalance: a member does not join again, or does not give up partitions."""
    rows = progress_of(view).of_kind("group")
    groups = {f"group/{row.group}": row for row in view.newest(RebalancingGroup)}
    yield from standing(view, rows, lambda row: _evidence(row, groups[row.parties[0]]))
    exists = has_topic(view, _TOPIC)
    needs = "an answer to ListGroups 4 (Kafka 2.6 or later)"
    gap = groups_gap(view, _READ, "list groups by their state", needs) if exists else unused(view, _TOPIC)
    begun = [row for row in rows if row.state != "standing"]
    if begun:
        number = f"{counted(len(rows), 'group')} {'is' if len(rows) == 1 else 'are'} in a rebalance"
        first = groups[begun[0].parties[0]]
        yield from under_way(view, rows, number, group=first.group, tool=_tool(first))
    elif not exists and gap is None:
        yield view.not_applicable("cluster", f"no topic {_TOPIC} was found")
    elif gap is not None:
        yield view.judge("cluster", Status.UNKNOWN, gap)
    else:
        yield view.judge("cluster", Status.PASS)


def _evidence(progress: ProgressRow, row: RebalancingGroup) -> dict[str, object]:
    """Return what is known of the group, and the step for its protocol."""
    repair = {
        "classic": "restart the member whose log does not say `Successfully joined group`",
        "consumer": "restart the member that it waits for, whose poll loop is blocked",
    }
    lasts = counted(progress.unchanged_minutes or 0, "minute")
    return {
        "what": f"The rebalance of group {clean(row.group)} stands still for {lasts}",
        "group": row.group,
        "state": row.state,
        "members": row.members,
        "late": row.late_clients or None,
        "broker": row.broker_id,
        "tool": _tool(row),
        "repair": repair.get(row.kind, "create the source topics of its topology, or restart the member that it waits for"),
    }


def _tool(row: RebalancingGroup) -> str:
    return f"kafka-{'streams' if row.kind == 'streams' else 'consumer'}-groups.sh"
