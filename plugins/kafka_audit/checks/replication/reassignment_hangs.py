"""KA608."""

from kafka_audit.checks import sql_check
from kafka_audit.model.finding import Severity, Status
from kafka_audit.model.tables import Reassignment, RegisteredPartition, RegisteredTopic, TopicConfig


@sql_check(
    code="KA608",
    severity=Severity.MEDIUM,
    needs=(Reassignment, RegisteredTopic, RegisteredPartition, TopicConfig),
    says={
        Status.FAIL: "{what}",
        Status.PASS: "No reassignment hangs and no throttle is left behind; {moving} partitions are being reassigned",
        Status.UNKNOWN: "Not known: whether reassignments hang or throttles are left behind ({error})",
        Status.NOT_APPLICABLE: "Reassignments are not compared: {reason}",
    },
)
def reassignment_hangs() -> str:
    """A reassignment does not go on, or its throttle is still there.

    ## Why it matters
    A reassignment that hangs keeps both the old and the new replicas, and no other can be begun for that partition. A throttle
    that was left behind slows down replication for ever: replicas that fall back never catch up, and nobody remembers why.

    ## Fails when
    The same reassignment was under way in the previous audit, and no further replica has joined the ISR since. Suspected where
    the brokers that are to be added are registered: a big partition takes longer than the time between two audits. Or a topic has
    throttled replicas, or a broker a rate for them, and nothing is being reassigned.

    ## Not known when
    Reassignments or settings of topics were not read, or there is no previous snapshot to compare a reassignment with.

    ## Passes only when
    They were read, and none of that is so.

    ## What to do
    First: {repair}.

    See how far new replicas are: `kafka-log-dirs.sh --bootstrap-server <broker>:9092 --describe`, twice. Take a reassignment
    back: `kafka-reassign-partitions.sh --bootstrap-server <broker>:9092 --reassignment-json-file plan.json --cancel`. Take
    throttles away: the same with `--verify`, or delete `leader.replication.throttled.replicas` and
    `follower.replication.throttled.replicas` of the topics with `kafka-configs.sh`.

    ## References
    KIP-455 (reassignments by API), KIP-73 (replication quotas).
    """
    return """
        SELECT snapshot_id, 'KA608' AS code, concat('topic/', topic, '/partition/', partition) AS resource, 'FAIL' AS status,
               CAST(NULL AS STRING) AS severity, if(size(dead) > 0, 'measured', 'suspected') AS confidence,
               map('what', concat('The reassignment of ', topic, '-', partition,
                   ' has not gone on since the previous audit: adding ',
                                  coalesce(nullif(array_join(adding, ', '), ''), 'none'), ', removing ',
                                  coalesce(nullif(array_join(removing, ', '), ''), 'none'), ', in sync ',
                                  coalesce(array_join(isr, ', '), 'none'),
                                  if(size(dead) > 0, concat('; not registered: broker ', array_join(dead, ', broker ')),
                                     '; that a big partition is still being copied is not ruled out')),
                   'adding', array_join(adding, ', '), 'removing', array_join(removing, ', '), 'dead', array_join(dead, ', '),
                   'repair', if(size(dead) > 0,
                                concat('start broker ', array_join(dead, ', broker '), ', or take the reassignment back'),
                                'see whether the new replicas grow, and whether their brokers reach the leader')) AS evidence
        FROM reassignment_now WHERE hangs
        UNION ALL
        SELECT snapshot_id, 'KA608', 'cluster',
               CASE WHEN error IS NOT NULL THEN 'UNKNOWN' WHEN throttled THEN 'FAIL' ELSE 'PASS' END, NULL, 'measured',
               map('what', concat('A throttle is left behind on ', places, ', and nothing is being reassigned'),
                   'repair', 'run the verification of that plan once more, which takes the throttle away',
                   'moving', string(moving), 'error', error, 'needs', needs)
        FROM reassignment_count WHERE hanging = 0 OR error IS NOT NULL
    """
