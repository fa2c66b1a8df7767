from kafka_audit.checks import ClusterView, Judgements, Severity, Status, check
from kafka_audit.differences.tables import DeletedTopic


@check(code="KA610", severity=Severity.MEDIUM, parts=("controller", "topics"))
def deletion_stuck(view: ClusterView) -> Judgements:
    """A topic is marked for deletion and is not deleted."""
    deleted = view.differences.of(DeletedTopic)
    count = max(view.partitions.count.deleting, len(deleted))
    stuck = [row for row in deleted if row.before]
    for row in stuck:
        waits_for = ", ".join(f"broker {broker}" for broker in row.unregistered)
        why = f"it waits for {waits_for}, not registered" if waits_for else "all brokers with replicas of it are registered"
        yield view.judge(f"topic/{row.topic}", Status.FAIL, topic=row.topic, why=why, brokers=row.unregistered or None)
    if len(stuck) == len(deleted) < count:
        error = f"{count - len(deleted)} more topics in deletion are not listed"
        yield view.unknown("cluster", error, "fewer faults at once", deleting=count)
    elif count and view.previous_gap is not None:
        error = f"{count} are in progress, and no earlier audit shows since when"
        yield view.unknown("cluster", error, "another audit", deleting=count)
    elif not stuck:
        yield view.judge("cluster", Status.PASS, deleting=count)
