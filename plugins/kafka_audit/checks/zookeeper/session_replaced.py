"""KA805."""

from kafka_audit.checks import sql_check
from kafka_audit.model.finding import Severity, Status
from kafka_audit.model.tables import RegisteredBroker, Registry


@sql_check(
    code="KA805",
    severity=Severity.MEDIUM,
    needs=(Registry, RegisteredBroker),
    says={
        Status.FAIL: "Broker {broker} lost its ZooKeeper session: {why}",
        Status.PASS: "Broker {broker} has the ZooKeeper session that it had in the previous snapshot",
        Status.UNKNOWN: "Not known: whether {who} lost its ZooKeeper session ({error})",
        Status.NOT_APPLICABLE: "No session to compare with: {reason}",
    },
)
def session_replaced() -> str:
    """A broker lost its ZooKeeper session without being restarted.

    ## Why it matters
    A broker whose session expires is dead to the controller while it runs: its leaders move, clients are sent elsewhere, and it
    registers again a moment later. The cause (a pause of the garbage collector, a saturated host, a slow ZooKeeper) comes back.

    ## Fails when
    The owner of `/brokers/ids/N` is another session than in the previous snapshot, and the broker's log says that the old one
    expired just before it registered. Or, without its log, the owner changed twice since: between the snapshots and between two
    looks a few seconds apart (inferred).

    ## Not known when
    The owner changed once and no log tells whether the broker restarted or lost its session.

    ## Passes only when
    The owner is the same in both snapshots. Does not apply without a previous snapshot, or in KRaft.

    ## What to do
    See it on broker {broker}: `grep -E 'have not heard from server|Session expired' server.log`, at the same times the garbage
    collector's log and the host's load, and KA803 for ZooKeeper. End the pause; a longer `zookeeper.session.timeout.ms` (18 s
    since 2.5) hides shorter ones, and makes every real failover later by as much.

    ## References
    KIP-537 (session time-out 18 s); `kafka.zookeeper.ZooKeeperClient`.
    """
    return """
        WITH owner AS (
            SELECT n.snapshot_id, n.broker_id, n.ephemeral_owner AS now, b.ephemeral_owner AS before, p.ephemeral_owner AS was
            FROM registered_broker_at AS n
            JOIN registered_broker_at AS p
                ON p.snapshot_id = n.snapshot_id AND p.broker_id = n.broker_id AND p.slot = 'previous'
            LEFT JOIN registered_broker_at AS b
                ON b.snapshot_id = n.snapshot_id AND b.broker_id = n.broker_id AND b.slot = 'before'
            WHERE n.slot = 'now'),
        told AS (
            SELECT snapshot_id, concat('broker/', broker_id) AS resource, string(broker_id) AS broker,
                   CASE WHEN now = was AND coalesce(before, now) = now THEN 'PASS'
                        WHEN before <> now AND before <> was THEN 'FAIL' ELSE 'UNKNOWN' END AS status,
                   'its session is a new one since, and whether it restarted is not told' AS error, NULL AS reason,
                   '`logs` of the brokers in the cluster file' AS needs
            FROM owner
            UNION ALL
            SELECT snapshot_id, 'cluster', 'any broker', status, error, reason, needs FROM zookeeper_gap
            WHERE slot = 'previous' AND part = 'brokers' AND whole)
        SELECT snapshot_id, 'KA805' AS code, resource, status, CAST(NULL AS STRING) AS severity,
               if(status = 'FAIL', 'inferred', 'measured') AS confidence,
               map('broker', broker, 'who', if(broker = 'any broker', broker, concat('broker ', broker)), 'error', error,
                   'reason', reason, 'needs', needs, 'why',
                   'its registration is of a third session since the previous snapshot, the last one seconds old') AS evidence
        FROM told
    """
