"""KA207."""

from collections.abc import Iterator

from kafka_audit.checks import check
from kafka_audit.cluster.view import ClusterView
from kafka_audit.differences.tables import StateFault
from kafka_audit.model.finding import Judgement, Severity, Status
from kafka_audit.model.tables import RegisteredPartition, RegisteredTopic, Registry


@check(
    code="KA207",
    severity=Severity.HIGH,
    needs=(Registry, RegisteredTopic, RegisteredPartition),
    parts=("controller", "topics"),
    says={
        Status.FAIL: "{count} partitions have a leader that was elected unclean and has not recovered ({partitions}): records"
        " are lost",
        Status.PASS: "No leader of {total} partitions is recovering from an unclean election",
        Status.UNKNOWN: "Not known: whether leaders recover from unclean elections ({error})",
        Status.NOT_APPLICABLE: "Recovery of leaders is told by ZooKeeper alone: {reason}",
    },
)
def leader_recovering(view: ClusterView) -> Iterator[Judgement]:
    """A leader that was elected unclean has not recovered.

    ## Why it matters
    The controller made a replica leader that was not in sync. What the replicas in sync had, and it had not, is gone; consumers
    may see offsets again with other records. As long as the leader does not say that it has recovered, no other is elected
    cleanly.

    ## Fails when
    `leader_recovery_state` in a partition's `state` is RECOVERING in two looks, unchanged in between. Kafka 3.2 and later write
    it.

    ## Not known when
    Topics were not read, or it was seen once: a leader recovers within moments. In KRaft no API of brokers tells.

    ## Passes only when
    No state says so. Before Kafka 3.2 none ever does: then it passes with what there is.

    ## What to do
    Find out when and why: `grep -i unclean controller.log state-change.log`, and who set `unclean.leader.election.enable`
    (KA704). Compare what consumers of {partitions} have processed with what is there now; replicas that come back cut their logs
    to the new leader's, so copy a former leader's log folder before it starts, if the records matter.

    ## References
    KIP-704 (a leader is told that it must recover).
    """
    total = view.partitions.count.partitions
    found = next((row for row in view.differences.of(StateFault) if row.kind == "recovering"), None)
    if found is None:
        yield view.judge("KA207", "cluster", Status.PASS, total=total)
    elif found.repeated:
        yield view.judge("KA207", "cluster", Status.FAIL, count=found.repeated, total=total, partitions=found.first)
    else:
        error = f"{found.partitions} partitions in one look"
        yield view.judge("KA207", "cluster", Status.UNKNOWN, total=total, error=error, needs="another audit")
