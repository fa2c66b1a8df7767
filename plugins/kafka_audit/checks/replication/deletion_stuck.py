from kafka_audit.checks import ClusterView, Judgements, Severity, Status, check
from kafka_audit.differences.tables import DeletedTopic
from kafka_audit.progress.rows import progress_of


@check(code="KA610", severity=Severity.MEDIUM, parts=("controller", "topics"))
def deletion_stuck(view: ClusterView) -> Judgements:
    """A topic is marked for deletion and is not deleted."""
    deleted = {f"topic/{row.topic}": row for row in view.differences.of(DeletedTopic)}
    count = max(view.partitions.count.deleting, len(deleted))
    rows = progress_of(view).of_kind("deletion")
    stuck = [row for row in rows if row.state == "standing"]
    for row in stuck:
        topic, minutes = deleted[row.parties[0]], row.unchanged_minutes
        why = f"it waits for {row.waits_for}" if row.waits_for else "all brokers with replicas of it are registered"
        brokers = topic.unregistered or None
        yield view.judge(row.parties[0], Status.FAIL, topic=topic.topic, why=why, brokers=brokers, minutes=minutes)
    waiting = [row for row in rows if row.state == "unknown"]
    if len(stuck) == len(deleted) < count:
        error = f"{count - len(deleted)} more topics in deletion are not listed"
        yield view.unknown("cluster", error, "fewer faults at once", deleting=count)
    elif waiting:
        yield view.unknown("cluster", f"{count} in progress; {waiting[0].not_known}", "another audit", deleting=count)
    elif not stuck:
        yield view.judge("cluster", Status.PASS, deleting=count)
