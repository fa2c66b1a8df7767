"""KA604."""

from collections.abc import Iterator, Mapping

from kafka_audit.checks import check
from kafka_audit.checks.replication.partitions import judge_partitions
from kafka_audit.cluster.view import ClusterView
from kafka_audit.differences.tables import ReplicaState
from kafka_audit.model.finding import Judgement, Severity, Status
from kafka_audit.model.tables import RegisteredPartition, RegisteredTopic


@check(
    code="KA604",
    severity=Severity.HIGH,
    needs=(RegisteredTopic, RegisteredPartition),
    parts=("topics",),
    says={
        Status.FAIL: "{partition} is not replicated by {missing}: ISR {isr} of replicas {replicas}, {since}",
        Status.PASS: "All replicas of {total} partitions with a leader are in sync",
        Status.UNKNOWN: "Cannot determine whether replicas stay out of sync ({error})",
        Status.NOT_APPLICABLE: "Replicas in sync are not compared: {reason}",
    },
)
def under_replicated(view: ClusterView) -> Iterator[Judgement]:
    """Replicas of a partition are not in sync.

    ## Why it matters
    What is written now is on fewer brokers than it is meant to be. If the leader goes as well, less is left to go on with; if all
    in sync go, the partition is offline although a replica is alive.

    ## Fails when
    A replica is out of the ISR in two samples, unchanged in between. HIGH where the same replica was missing in the previous
    audit and its broker has not registered anew since; else MEDIUM: restarts and failovers do that for a while. Replicas that a
    reassignment is adding are no lack.

    ## Not known when
    Topics were not read, or the ISR changed between two samples. A KRaft cluster that does not tell reassignments counts what
    they add as missing.

    ## Passes only when
    The ISR of every partition with a leader has all of its replicas. Partitions without one are KA601.

    ## What to do
    Of the missing replicas {missing} these brokers are not registered: {gone}; start those. One that is registered and does not
    catch up: `grep -E 'ReplicaFetcher|Error while appending' server.log` there, its disks (KA501), its way to the leader {leader}
    (KA302), its ClusterAction (KA401), a throttle left behind (KA608).

    ## References
    `replica.lag.time.max.ms` (30 seconds); metric `UnderReplicatedPartitions`, which leaves out adding replicas as well.
    """
    yield from judge_partitions(view, "KA604", "under_replicated", severity=_severity, more=_since)


def _severity(state: ReplicaState) -> Severity | None:
    return None if state.lasting else Severity.MEDIUM


def _since(state: ReplicaState) -> Mapping[str, object]:
    if state.lasting is None:
        since = "seen in this audit for the first time: temporary in a restart"
    elif state.lasting:
        since = "as in the previous audit"
    else:
        since = "temporary so far: not so in the audit before, or its broker is back"
    return {"gone": state.unregistered or "none", "since": since}
