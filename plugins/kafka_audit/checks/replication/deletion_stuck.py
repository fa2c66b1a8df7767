"""KA610."""

from collections.abc import Iterator

from kafka_audit.checks import check
from kafka_audit.cluster.view import ClusterView
from kafka_audit.differences.tables import DeletedTopic
from kafka_audit.model.finding import Judgement, Severity, Status
from kafka_audit.model.tables import RegisteredPartition, RegisteredTopic, Registry


@check(
    code="KA610",
    severity=Severity.MEDIUM,
    needs=(Registry, RegisteredTopic, RegisteredPartition),
    parts=("controller", "topics"),
    says={
        Status.FAIL: "The deletion of {topic} has not ended since the previous audit: {why}",
        Status.PASS: "No deletion of a topic hangs; {deleting} topics are being deleted",
        Status.UNKNOWN: "Cannot determine whether deletions of topics hang ({error})",
        Status.NOT_APPLICABLE: "Deletions leave no trace to judge by: {reason}",
    },
)
def deletion_stuck(view: ClusterView) -> Iterator[Judgement]:
    """A topic is marked for deletion and does not go away.

    ## Why it matters
    Nobody can write to the topic, read it or create it anew, and its disks stay full. What waits for it to go, waits.

    ## Fails when
    The same topic was under `/admin/delete_topics` in the previous audit. A deletion waits until every broker that has a replica
    is up, and for reassignments of the topic to end.

    ## Not known when
    Topics were not read in either audit, or a deletion is under way and there is no previous audit. In KRaft a deletion is done
    when it is accepted, so it does not apply.

    ## Passes only when
    No topic was marked in both.

    ## What to do
    Start the brokers that have replicas of it; the controller then goes on by itself. If all of them are up:
    `grep -i 'delet' controller.log` on the controller's host names what it waits for; a new election of the controller tries
    again. Never delete znodes or folders of {topic} by hand while brokers run.

    ## References
    What a deletion waits for: `kafka.controller.TopicDeletionManager`.
    """
    deleted = view.differences.of(DeletedTopic)
    count = max(view.partitions.count.deleting, len(deleted))
    stuck = [row for row in deleted if row.before]
    for row in stuck:
        waits_for = ", ".join(f"broker {broker}" for broker in row.unregistered)
        why = f"it waits for {waits_for}, not registered" if waits_for else "all brokers with replicas of it are registered"
        yield view.judge("KA610", f"topic/{row.topic}", Status.FAIL, topic=row.topic, why=why)
    if len(stuck) == len(deleted) < count:
        error = f"{count - len(deleted)} more topics in deletion are not listed"
        yield view.judge("KA610", "cluster", Status.UNKNOWN, deleting=count, error=error, needs="fewer faults at once")
    elif count and view.previous_gap is not None:
        error = f"{count} are under way, and no earlier audit tells for how long"
        yield view.judge("KA610", "cluster", Status.UNKNOWN, deleting=count, error=error, needs="another audit")
    elif not stuck:
        yield view.judge("KA610", "cluster", Status.PASS, deleting=count)
