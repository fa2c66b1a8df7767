"""KA506."""

from kafka_audit.checks import sql_check
from kafka_audit.model.finding import Severity, Status
from kafka_audit.model.tables import LeadershipAnswer


@sql_check(
    code="KA506",
    severity=Severity.HIGH,
    needs=(LeadershipAnswer,),
    says={
        Status.FAIL: "Broker {broker} led {partitions} ({count} in all), {since}, and answers error 56 KAFKA_STORAGE_ERROR "
        "for them now, led by {now}: clients that do not refresh their metadata on 56 stay with it",
        Status.PASS: "Broker {broker} holds no client back: for nothing that it led it answers error 56",
        Status.UNKNOWN: "Not known: whether {who} holds back clients of partitions that it led ({error})",
        Status.NOT_APPLICABLE: "Broker {broker} was asked about no partition: {reason}",
    },
)
def old_leader_keeps_clients() -> str:
    """A broker that led partitions answers a storage error for them, at which not all clients look for the new leader.

    ## Why it matters
    From a dead disk a broker answers 56 KAFKA_STORAGE_ERROR, not 6 NOT_LEADER_OR_FOLLOWER. sarama before 1.43.3, and with it
    Filebeat up to 8.16.1, does not refresh its metadata on 56: such a producer fails on the moved partitions for as long as it
    runs, while the cluster has a leader for each of them. Java clients and kafka-python refresh.

    ## Fails when
    Asked by ListOffsets, the broker answers 56 for a partition that it does not lead and led in the previous snapshot; or,
    inferred, one whose preferred leader it is. From a mere follower 56 holds nobody back (KA503).

    ## Not known when
    ListOffsets was not answered; it needs Describe on the topics.

    ## Passes only when
    The broker was asked about all that it leads, is the preferred leader of, or is listed as offline for.

    ## What to do
    Restart the clients that still fail, or broker {broker}: either makes them ask for the leaders anew. Then upgrade: sarama
    1.43.3, Filebeat 8.16.2. Producers are named by no API that only reads. To find them: on the host of broker {broker}
    `ss -tnp state established '( sport = :9092 )'` shows who is connected, `kafka.request.logger=DEBUG` in its log4j file names
    client ids, and so do its `client-id` metrics of quotas.

    ## References
    KIP-112; IBM/sarama pull request 2939 (v1.43.3).
    """
    return """
        WITH pinned AS (
            SELECT a.snapshot_id, string(a.broker_id) AS name, count(*) AS n, count_if(p.previous_leader <=> a.broker_id) AS led,
                   array_sort(collect_list(struct(a.topic, a.partition))) AS items,
                   array_sort(collect_set(coalesce(a.leader, -1))) AS now
            FROM leadership_answer_at AS a
            LEFT JOIN partition_pair AS p
                ON p.snapshot_id = a.snapshot_id AND p.topic = a.topic AND p.partition = a.partition
            WHERE a.slot = 'now' AND a.asked_as = 'former' AND a.error = 56
                AND (a.preferred OR p.previous_leader <=> a.broker_id)
            GROUP BY a.snapshot_id, a.broker_id),
        told AS (
            SELECT snapshot_id, name, bool_or(operation = 'ListOffsets') AS asked, max(if(outcome = 'failed' AND
                       operation = 'ListOffsets', coalesce(error, 'no answer'), NULL)) AS error,
                   max(if(outcome = 'failed', coalesce(error, 'no answer'), NULL)) AS unreached,
                   bool_or(operation = 'ApiVersions' AND outcome = 'answered') AS reached, max(needs) AS needs
            FROM read_now WHERE slot = 'now' AND observer LIKE 'broker:%' AND operation IN ('ListOffsets', 'ApiVersions')
            GROUP BY snapshot_id, name)
        SELECT t.snapshot_id, 'KA506' AS code, concat('broker/', t.name) AS resource,
               CASE WHEN p.n > 0 THEN 'FAIL' WHEN t.error IS NOT NULL OR NOT t.reached THEN 'UNKNOWN'
                    WHEN t.asked THEN 'PASS' ELSE 'NOT_APPLICABLE' END AS status,
               CAST(NULL AS STRING) AS severity, if(p.n > 0 AND p.led = 0, 'inferred', 'measured') AS confidence,
               map('broker', t.name, 'who', concat('broker ', t.name), 'count', string(p.n), 'led', string(p.led),
                   'since', if(p.led > 0, concat(if(p.led = p.n, 'all', string(p.led)), ' of them in the previous snapshot'),
                               'as their preferred leader'),
                   'partitions', array_join(transform(slice(p.items, 1, 10), i -> concat(i.topic, '-', i.partition)), ', '),
                   'now', replace(array_join(transform(p.now, i -> concat('broker ', i)), ', '), 'broker -1', 'nobody'),
                   'error', coalesce(t.error, t.unreached, 'no answer'), 'needs', coalesce(t.needs, 'an answer to ListOffsets'),
                   'reason', 'it leads nothing, and nobody lists a replica of it as offline') AS evidence
        FROM told AS t LEFT JOIN pinned AS p ON p.snapshot_id = t.snapshot_id AND p.name = t.name
    """
