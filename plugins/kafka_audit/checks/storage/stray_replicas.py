"""KA507."""

from collections.abc import Iterator

from kafka_audit.checks import check
from kafka_audit.checks.gaps import MOVING, nothing_asked
from kafka_audit.cluster.answers.broker_reads import LOG_DIRS, BrokerReads
from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.finding import Confidence, Judgement, Severity, Status
from kafka_audit.model.tables import LogDir


@check(
    code="KA507",
    severity=Severity.LOW,
    parts=("topics",),
    says={
        Status.FAIL: "Broker {broker} has {stray:# more replica|# more replicas} in its log dirs than are assigned "
        "to it ({held} and {assigned})",
        Status.PASS: "Broker {broker} has at most as many replicas in its log dirs as are assigned to it ({assigned})",
        Status.UNKNOWN: "Cannot determine whether {who} has replicas that are not assigned to it ({error})",
        Status.NOT_APPLICABLE: "Replicas are not compared: {reason}",
    },
)
def stray_replicas(view: ClusterView) -> Iterator[Judgement]:
    """A broker has replicas in its log dirs that are not assigned to it.

    ## Why it matters
    The broker serves files that no assignment names: of a topic that was deleted, or of a partition that was moved, while the
    broker was down or did not receive the request. They take space, retention may never delete them, and if a topic of that name
    is created again, the old files can come back to life.

    ## Fails when
    In two samples, DescribeLogDirs lists more replicas on the broker than the assignments (ZooKeeper; in KRaft the newest view)
    give it. Suspected in KRaft if brokers have an authorizer: topics that the auditor may not describe are not in any view.

    ## Not known when
    DescribeLogDirs was not answered, a log dir of the broker is offline (KA501), or the numbers changed between two samples.

    ## Passes only when
    Both were read, and the broker lists at most as many replicas as are assigned to it. Directories that Kafka has renamed
    (`-delete`, `-stray`) are not listed and do not count.

    ## What to do
    List the replicas of the broker and compare them with the assignments: `kafka-log-dirs.sh --bootstrap-server BROKER:9092
    --describe --broker-list {broker}` and `kafka-topics.sh --bootstrap-server BROKER:9092 --describe`.

    Make sure that no application needs the records of these replicas: they may be the last copy of a topic that was deleted
    by mistake. Then restart broker {broker}; KRaft brokers from Kafka 3.7 on rename strays at the start. If they are still
    there, stop the broker and move their directories away.

    ## References
    `kafka.log.LogManager` (stray partitions, KAFKA-14616); KIP-113 (`DescribeLogDirs`).
    """
    reads = BrokerReads(view.last_reads, LOG_DIRS)
    yield from nothing_asked(view, "KA507", reads)
    confidence = Confidence.SUSPECTED if view.kraft and _may_hide(view) else Confidence.MEASURED
    for broker in reads.brokers:
        resource, facts = f"broker/{broker}", {"broker": broker, "who": f"broker {broker}"}
        dirs = [row for row in view.newest(LogDir) if row.broker_id == broker]
        before = [row for row in view.before(LogDir) if row.broker_id == broker]
        if not dirs or any(row.error for row in dirs):
            offline = {"error": "a log dir is offline", "needs": "all log dirs of the broker online (KA501)"}
            gap = reads.gap(broker) or (
                offline if dirs else {"error": "it offers no DescribeLogDirs", "needs": "Kafka 1.0 or later"}
            )
            yield view.judge("KA507", resource, Status.UNKNOWN, {**facts, **gap})
            continue
        held, assigned = sum(row.replicas for row in dirs), view.partitions.held_by(broker)
        evidence = facts | {"held": held, "assigned": assigned, "stray": held - assigned}
        if held <= assigned:
            yield view.judge("KA507", resource, Status.PASS, evidence)
        elif not view.steady or sum(row.replicas for row in before) != held:
            yield view.judge("KA507", resource, Status.UNKNOWN, facts | MOVING)
        else:
            yield view.judge("KA507", resource, Status.FAIL, evidence, confidence=confidence)


def _may_hide(view: ClusterView) -> bool:
    """Return whether a broker may have topics that the auditor may not describe."""
    between = view.inter_broker
    return any(between.authorizer(broker).state != "unset" for broker in between.brokers)
