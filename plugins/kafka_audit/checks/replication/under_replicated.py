"""KA604."""

from collections.abc import Iterator, Mapping

from kafka_audit.checks import check
from kafka_audit.checks.replication.partitions import judge_partitions
from kafka_audit.cluster.view import ClusterView
from kafka_audit.differences.tables import ReplicaState
from kafka_audit.model.finding import Judgement, Severity, Status


@check(
    code="KA604",
    severity=Severity.HIGH,
    parts=("topics",),
    says={
        Status.FAIL: "{partition} is under-replicated: {missing:replica # is|replicas # are} not in sync (ISR {isr} of "
        "replicas {replicas}), {since}",
        Status.PASS: "All replicas of {total} partitions with a leader are in sync",
        Status.UNKNOWN: "Cannot determine whether replicas stay out of sync ({error})",
        Status.NOT_APPLICABLE: "In-sync replicas are not compared: {reason}",
    },
)
def under_replicated(view: ClusterView) -> Iterator[Judgement]:
    """Replicas of a partition are not in sync.

    ## Why it matters
    New records are on fewer brokers than intended. If the leader fails too, fewer replicas can take over. If all in-sync
    replicas fail, the partition is offline although a replica is alive.

    ## Fails when
    A replica is out of the ISR in two samples, unchanged in between. HIGH if the same replica was out of the ISR in the
    previous audit and its broker has not registered again since. Otherwise MEDIUM: restarts and failovers cause it temporarily.
    Replicas that a reassignment is adding do not count.

    ## Not known when
    Topics were not read, or the ISR changed between two samples. If a KRaft cluster does not report reassignments, replicas
    that they add count as missing.

    ## Passes only when
    The ISR of every partition with a leader contains all of its replicas. KA601 reports partitions without a leader.

    ## What to do
    Of the missing replicas {missing}, these brokers are not registered: {gone}. Start them. For a registered broker that does
    not catch up, run `grep -E 'ReplicaFetcher|Error while appending' server.log` on its host, and check its disks (KA501), its
    connection to leader {leader} (KA302), its ClusterAction right (KA401) and throttles (KA608).

    ## References
    `replica.lag.time.max.ms` (30 seconds; 10 before Kafka 2.5); metric `UnderReplicatedPartitions`, which does not
    count adding replicas either.
    """
    yield from judge_partitions(view, "KA604", "under_replicated", severity=_severity, more=_since)


def _severity(state: ReplicaState) -> Severity | None:
    return None if state.lasting else Severity.MEDIUM


def _since(state: ReplicaState) -> Mapping[str, object]:
    if state.lasting is None:
        since = "first seen in this audit (temporary during a restart)"
    elif state.lasting:
        since = "as in the previous audit"
    else:
        since = "temporary so far: in sync in the previous audit, or its broker has registered again"
    return {"gone": state.unregistered or "none", "since": since}
