"""KA501."""

from collections.abc import Iterator

from kafka_audit.checks import check
from kafka_audit.checks.gaps import nothing_asked
from kafka_audit.cluster.answers.broker_reads import LOG_DIRS, STORAGE_ERROR, BrokerReads
from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.finding import Judgement, Severity, Status


@check(
    code="KA501",
    severity=Severity.CRITICAL,
    says={
        Status.FAIL: "Log dir {path} of broker {broker} is offline: the broker returns error 56 KAFKA_STORAGE_ERROR for it; "
        "{left} of {dirs} log dirs are online",
        Status.PASS: "Log dir {path} of broker {broker} is online with {replicas} replicas",
        Status.UNKNOWN: "Cannot determine whether the log dirs of {who} are online ({error})",
    },
)
def log_dir_offline(view: ClusterView) -> Iterator[Judgement]:
    """A log dir of a broker is offline: its disk failed.

    ## Why it matters
    The broker continues with its other disks, so monitors of processes and ports show no fault. The partitions of this log dir
    have one replica less, and their leaders moved (in KRaft since Kafka 3.7; before, the failed replicas stay leaders). The
    broker does not use the log dir again before a restart.

    ## Fails when
    The broker itself answers DescribeLogDirs with error 56 KAFKA_STORAGE_ERROR for the log dir: an operation on it failed with
    an I/O error, for example an append, a checkpoint, or its opening at start. A full disk is such an error.

    ## Not known when
    The broker did not answer, or the auditor lacks Describe on Cluster. Before Kafka 3.2 the broker then returns an empty list,
    which is not a valid answer: a broker always has a log dir.

    ## Passes only when
    The broker listed the log dir without an error.

    ## What to do
    On the host of broker {broker} run `grep -iE -A3 '(error|failed) .*{path}' server.log | tail`, `df -h {path}`, `dmesg | grep
    -i 'i/o error' | tail` and `findmnt -no OPTIONS -T {path}` (`ro`: the kernel has remounted the disk read-only).

    Before you install an empty disk, list the partitions without a leader: `kafka-topics.sh --bootstrap-server BROKER:9092
    --describe --unavailable-partitions`. If broker {broker} is the only replica in the ISR, which includes a replication factor
    of 1, its records are lost: the broker returns as the leader of an empty log, and the followers truncate to it. Copy the
    files from {path} first, or bring back another replica that has the records.

    Then replace the disk or free space on it, mount it at {path} and restart broker {broker}: it fetches the replicas from
    their leaders. In KRaft, format an empty disk first: `kafka-storage.sh format --ignore-formatted --cluster-id ID --config
    server.properties`; a controller without `controller.quorum.voters` (Kafka 3.9 and later) also needs
    `--no-initial-controllers`. Repeat `kafka-topics.sh --bootstrap-server BROKER:9092 --describe
    --under-replicated-partitions` until it lists nothing, then run `kafka-leader-election.sh --bootstrap-server BROKER:9092
    --election-type preferred --all-topic-partitions`. Without a new disk: remove {path} from `log.dirs` and restart; the other
    log dirs need space for the fetched replicas, and the same records are lost.

    ## References
    KIP-112 (disk failure of JBOD), KIP-858 (JBOD in KRaft); `kafka.server.ReplicaManager.handleLogDirFailure`.
    """
    reads = BrokerReads(view.last_reads, LOG_DIRS)
    yield from nothing_asked(view, "KA501", reads)
    for broker in reads.brokers:
        dirs = view.log_dirs(broker)
        left = sum(not row.error for row in dirs.values())
        for path, row in sorted(dirs.items()):
            status = Status.FAIL if row.error == STORAGE_ERROR else Status.UNKNOWN if row.error else Status.PASS
            evidence = {"broker": broker, "who": f"broker {broker}", "path": path, "left": left, "dirs": len(dirs)}
            evidence |= {"replicas": row.replicas, "error": f"error {row.error} for {path}"}
            evidence |= {"needs": "an answer without an error for it"}
            yield view.judge("KA501", f"broker/{broker}/logdir/{path}", status, evidence)
        if not dirs:
            gap = reads.gap(broker) or {"error": "it offers no DescribeLogDirs", "needs": "Kafka 1.0 or later"}
            yield view.judge("KA501", f"broker/{broker}", Status.UNKNOWN, gap, who=f"broker {broker}")
