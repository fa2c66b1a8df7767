"""KA610."""

from kafka_audit.checks import sql_check
from kafka_audit.model.finding import Severity, Status
from kafka_audit.model.tables import RegisteredPartition, RegisteredTopic, Registry


@sql_check(
    code="KA610",
    severity=Severity.MEDIUM,
    needs=(Registry, RegisteredTopic, RegisteredPartition),
    says={
        Status.FAIL: "The deletion of {topic} has not ended since the previous audit: {why}",
        Status.PASS: "No deletion of a topic hangs; {deleting} topics are being deleted",
        Status.UNKNOWN: "Not known: whether deletions of topics hang ({error})",
        Status.NOT_APPLICABLE: "Deletions leave no trace to judge by: {reason}",
    },
)
def deletion_stuck() -> str:
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
    return """
        WITH marked AS (
            SELECT n.snapshot_id, n.topic, coalesce(p.deleting AND t.same, false) AS stuck, g.snapshot_id IS NOT NULL AS alone
            FROM registered_topic_at AS n
            LEFT JOIN registered_topic_at AS p ON p.snapshot_id = n.snapshot_id AND p.slot = 'previous' AND p.topic = n.topic
            LEFT JOIN topic_pair AS t ON t.snapshot_id = n.snapshot_id AND t.topic = n.topic
            LEFT JOIN previous_gap AS g ON g.snapshot_id = n.snapshot_id
            WHERE n.slot = 'now' AND n.deleting),
        waiting AS (
            SELECT m.snapshot_id, m.topic, array_sort(array_distinct(flatten(collect_list(array_except(r.replicas,
                k.ids))))) AS gone
            FROM marked AS m
            LEFT JOIN registered_partition_at AS r ON r.snapshot_id = m.snapshot_id AND r.slot = 'now' AND r.topic = m.topic
            LEFT JOIN rack_map AS k ON k.snapshot_id = m.snapshot_id
            WHERE m.stuck GROUP BY m.snapshot_id, m.topic),
        counted AS (
            SELECT snapshot_id, count(*) AS n, count_if(alone) AS alone, bool_or(stuck) AS stuck FROM marked GROUP BY snapshot_id)
        SELECT snapshot_id, 'KA610' AS code, concat('topic/', topic) AS resource, 'FAIL' AS status,
            CAST(NULL AS STRING) AS severity,
               'measured' AS confidence,
               map('topic', topic, 'why', if(size(gone) > 0,
                   concat('it waits for broker ', array_join(gone, ', broker '), ', not registered'),
                   'all brokers with replicas of it are registered')) AS evidence
        FROM waiting
        UNION ALL
        SELECT j.snapshot_id, 'KA610', 'cluster', if(c.alone > 0, 'UNKNOWN', 'PASS'), NULL, 'measured',
               map('deleting', string(coalesce(c.n, 0)), 'error', concat(c.alone,
                   ' are under way, and no earlier audit tells for how long'),
                   'needs', 'another audit')
        FROM judged AS j LEFT JOIN counted AS c ON c.snapshot_id = j.snapshot_id
        WHERE NOT coalesce(c.stuck, false)
    """
