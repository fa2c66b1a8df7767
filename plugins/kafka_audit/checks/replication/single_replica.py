"""KA606."""

from kafka_audit.checks import sql_check
from kafka_audit.checks.replication.partitions import partitions
from kafka_audit.model.finding import Severity, Status
from kafka_audit.model.tables import RegisteredPartition, RegisteredTopic

_ALONE = "snapshot_id IN (SELECT snapshot_id FROM known_broker GROUP BY snapshot_id HAVING count(*) = 1)"
_INTERNAL = "topic IN ('__consumer_offsets', '__transaction_state', '__share_group_state')"


@sql_check(
    code="KA606",
    severity=Severity.MEDIUM,
    needs=(RegisteredTopic, RegisteredPartition),
    says={
        Status.FAIL: "{partition} has a single replica, on broker {replicas}",
        Status.PASS: "All of {total} partitions have two replicas or more",
        Status.UNKNOWN: "Not known: whether partitions have a single replica ({error})",
        Status.NOT_APPLICABLE: "A single replica is no fault of its own here: {reason}",
    },
)
def single_replica() -> str:
    """A partition has one replica.

    ## Why it matters
    Every restart of that broker is an outage of the partition, and a dead disk loses what is in it.

    ## Fails when
    The partition is assigned to one broker, though the cluster has more. MEDIUM: many topics are like that on purpose. Kafka's
    own topics are KA609.

    ## Not known when
    Topics were not read. It does not apply to a cluster of one broker, which is KA612.

    ## Passes only when
    Every other partition has two replicas at least.

    ## What to do
    Give it replicas besides broker {replicas}, as a plan of your own:
    `kafka-reassign-partitions.sh --bootstrap-server <broker>:9092 --reassignment-json-file plan.json --execute`. If the loss of
    the topic is accepted, mute it with that reason.

    ## References
    Setting `default.replication.factor`, which is 1 unless set (KA707).
    """
    found = partitions("KA606", f"size(replicas) = 1 AND NOT {_INTERNAL} AND NOT {_ALONE}", lasts="true")
    return f"""
        SELECT * FROM ({found}) WHERE resource <> 'cluster' OR NOT {_ALONE}
        UNION ALL
        SELECT snapshot_id, 'KA606', 'cluster', 'NOT_APPLICABLE', NULL, 'measured',
               map('reason', 'a single broker carries the cluster (KA612)')
        FROM judged WHERE {_ALONE}
    """  # noqa: S608 -- our own text
