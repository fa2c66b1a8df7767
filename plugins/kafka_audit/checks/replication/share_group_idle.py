from kafka_audit.checks import ClusterView, Judgements, Severity, Status, check
from kafka_audit.checks.on_its_way import standing, under_way
from kafka_audit.cluster.coordinators import groups_gap, has_topic, unused
from kafka_audit.model.tables import SharePartition
from kafka_audit.model.text import counted
from kafka_audit.progress.rows import progress_of
from kafka_audit.progress.shares import share_parties

_TOPIC, _READ = "__share_group_state", "DescribeShareGroupOffsets"


@check(code="KA623", severity=Severity.MEDIUM, parts=("topics",))
def share_group_idle(view: ClusterView) -> Judgements:
    """Members of a share group process nothing of a partition that has records for them."""
    rows = progress_of(view).of_kind("share")
    found = {share_parties(row): row for row in view.newest(SharePartition)}
    yield from standing(view, rows, lambda row: _evidence(found[row.parties[0], row.parties[1]]))
    exists = has_topic(view, _TOPIC)
    needs = "an answer to ListGroups 5 (Kafka 4.0 or later)"
    gap = groups_gap(view, _READ, "describe offsets of share groups", needs) if exists else unused(view, _TOPIC)
    begun = [row for row in rows if row.state != "standing"]
    if not exists and gap is None:
        yield view.not_applicable("cluster", f"no topic {_TOPIC} was found")
    elif gap is not None:
        yield view.judge("cluster", Status.UNKNOWN, gap)
    elif begun:
        first = begun[0].parties[0].removeprefix("group/")
        yield from under_way(view, begun, f"{counted(len(begun), 'share group')} with records left", group=first)
    elif view.previous is None and any(row.left > 0 for row in found.values()):
        yield view.unknown("cluster", "records are left, and no earlier audit shows whether they become fewer", "another audit")
    elif not rows:
        unknown = sum(row.left < 0 for row in found.values())
        yield view.judge("cluster", Status.PASS, unknown=unknown)


def _evidence(row: SharePartition) -> dict[str, object]:
    return {
        "group": row.group,
        "partition": f"{row.topic}-{row.partition}",
        "offset": row.start_offset,
        "left": row.left,
        "clients": row.clients,
        "broker": row.broker_id,
    }
