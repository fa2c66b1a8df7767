"""KA610."""

from collections.abc import Iterator

from kafka_audit.checks import check
from kafka_audit.cluster.view import ClusterView
from kafka_audit.differences.tables import DeletedTopic
from kafka_audit.model.finding import Judgement, Severity, Status


@check(
    code="KA610",
    severity=Severity.MEDIUM,
    parts=("controller", "topics"),
    says={
        Status.FAIL: "The deletion of {topic} has not finished since the previous audit: {why}",
        Status.PASS: "No topic deletion is stuck; {deleting:# topic is|# topics are} being deleted",
        Status.UNKNOWN: "Cannot determine whether topic deletions are stuck ({error})",
        Status.NOT_APPLICABLE: "Topic deletions cannot be observed: {reason}",
    },
)
def deletion_stuck(view: ClusterView) -> Iterator[Judgement]:
    """A topic is marked for deletion and is not deleted.

    ## Why it matters
    No client can create the topic again and, once its deletion has begun, write to it or read it. Brokers that have not deleted
    their replica keep its data on disk. Operations that wait for the deletion do not continue.

    ## Fails when
    The same topic was under `/admin/delete_topics` in the previous audit. A deletion waits until every broker with a replica is
    up, and until reassignments of the topic have finished.

    ## Not known when
    Topics were not read in one of the audits, or a deletion is in progress and there is no previous audit. The check does not
    apply in KRaft, where a deletion is complete when it is accepted.

    ## Passes only when
    No topic was marked for deletion in both audits.

    ## What to do
    Start the brokers that have replicas of the topic; the controller then continues the deletion. If all of them are up, run
    `grep -i 'delet' controller.log` on the controller's host to see what it waits for. A new controller election retries the
    deletion. Never delete znodes or log directories of {topic} while brokers run.

    ## References
    Conditions of a deletion: `kafka.controller.TopicDeletionManager`.
    """
    deleted = view.differences.of(DeletedTopic)
    count = max(view.partitions.count.deleting, len(deleted))
    stuck = [row for row in deleted if row.before]
    for row in stuck:
        waits_for = ", ".join(f"broker {broker}" for broker in row.unregistered)
        why = f"it waits for {waits_for}, not registered" if waits_for else "all brokers with replicas of it are registered"
        yield view.judge("KA610", f"topic/{row.topic}", Status.FAIL, topic=row.topic, why=why, brokers=row.unregistered or None)
    if len(stuck) == len(deleted) < count:
        error = f"{count - len(deleted)} more topics in deletion are not listed"
        yield view.judge("KA610", "cluster", Status.UNKNOWN, deleting=count, error=error, needs="fewer faults at once")
    elif count and view.previous_gap is not None:
        error = f"{count} are in progress, and no earlier audit shows since when"
        yield view.judge("KA610", "cluster", Status.UNKNOWN, deleting=count, error=error, needs="another audit")
    elif not stuck:
        yield view.judge("KA610", "cluster", Status.PASS, deleting=count)
