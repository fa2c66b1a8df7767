"""KA604."""

from kafka_audit.checks import sql_check
from kafka_audit.checks.replication.partitions import partitions
from kafka_audit.model.finding import Severity, Status
from kafka_audit.model.tables import RegisteredPartition, RegisteredTopic


@sql_check(
    code="KA604",
    severity=Severity.HIGH,
    needs=(RegisteredTopic, RegisteredPartition),
    says={
        Status.FAIL: "{partition} is not replicated by {missing}: ISR {isr} of replicas {replicas}, {since}",
        Status.PASS: "All replicas of {total} partitions with a leader are in sync",
        Status.UNKNOWN: "Not known: whether replicas stay out of sync ({error})",
        Status.NOT_APPLICABLE: "Replicas in sync are not compared: {reason}",
    },
)
def under_replicated() -> str:
    """Replicas of a partition are not in sync.

    ## Why it matters
    What is written now is on fewer brokers than it is meant to be. If the leader goes as well, less is left to go on with; if all
    in sync go, the partition is offline although a replica is alive.

    ## Fails when
    A replica is out of the ISR in two looks, unchanged in between. HIGH where the same replica was missing in the previous audit
    and its broker has not registered anew since; else MEDIUM: restarts and failovers do that for a while. Replicas that a
    reassignment is adding are no lack.

    ## Not known when
    Topics were not read, or the ISR changed between two looks. A KRaft cluster that does not tell reassignments counts what they
    add as missing.

    ## Passes only when
    The ISR of every partition with a leader has all of its replicas. Partitions without one are KA601.

    ## What to do
    Of the missing replicas {missing} these brokers are not registered: {gone}; start those. One that is registered and does not
    catch up: `grep -E 'ReplicaFetcher|Error while appending' server.log` there, its disks (KA501), its way to the leader {leader}
    (KA302), its ClusterAction (KA401), a throttle left behind (KA608).

    ## References
    `replica.lag.time.max.ms` (30 seconds); metric `UnderReplicatedPartitions`, which leaves out adding replicas as well.
    """
    since = """'gone', coalesce(nullif(array_join(gone, ', '), ''), 'none'),
                   'since', CASE WHEN lasting IS NULL THEN 'seen in this audit for the first time: temporary in a restart'
                                 WHEN size(lasting) = 0 THEN 'temporary so far: not so in the audit before, or its broker is back'
                                 ELSE 'as in the previous audit' END,"""
    severity = "if(size(lasting) > 0, NULL, 'MEDIUM')"
    return partitions("KA604", "leader >= 0 AND size(missing) > 0", severity=severity, more=since)
