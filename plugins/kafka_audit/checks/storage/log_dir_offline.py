"""KA501."""

from collections.abc import Iterator

from kafka_audit.checks import check
from kafka_audit.checks.gaps import nothing_asked
from kafka_audit.cluster.broker_reads import LOG_DIRS, STORAGE_ERROR, BrokerReads
from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.finding import Judgement, Severity, Status
from kafka_audit.model.tables import LogDir


@check(
    code="KA501",
    severity=Severity.CRITICAL,
    needs=(LogDir,),
    says={
        Status.FAIL: "Log dir {path} of broker {broker} is offline: the broker answers error 56 KAFKA_STORAGE_ERROR for it; "
        "of its log dirs, {left} of {dirs} still serve",
        Status.PASS: "Log dir {path} of broker {broker} serves {replicas} replicas",
        Status.UNKNOWN: "Cannot determine whether the log dirs of {who} serve ({error})",
    },
)
def log_dir_offline(view: ClusterView) -> Iterator[Judgement]:
    """A log dir of a broker is offline: its disk failed.

    ## Why it matters
    The broker goes on with its other disks, so every monitor of processes and ports is content. What lay on this one has a
    replica less from now on, its leaders moved, and the broker does not take the dir back before it is restarted.

    ## Fails when
    DescribeLogDirs, asked of the broker itself, answers error 56 KAFKA_STORAGE_ERROR for the dir: an append, a checkpoint or an
    index failed there with an I/O error, a full disk included.

    ## Not known when
    The broker did not answer, or not for want of Describe on the cluster. Before Kafka 3.2 it then sends an empty list, which is
    no answer: a broker always has a dir.

    ## Passes only when
    The broker listed the dir without an error.

    ## What to do
    On the host of broker {broker}: `grep -A3 'Error while .* in dir {path}' server.log | tail`, `df -h {path}`,
    `dmesg | grep -i 'i/o error' | tail`, `findmnt -no OPTIONS -T {path}` (`ro`: the kernel gave the disk up).

    Before an empty disk goes in, list the partitions without a leader:
    `kafka-topics.sh --bootstrap-server <broker>:9092 --describe --unavailable-partitions`. Where broker {broker} is the only
    replica in the ISR, a replication factor of 1 included, its records are lost: the broker comes back as leader of an empty log,
    and the followers truncate to it. Copy the files out of {path} first, or bring back another replica that holds the records.

    Then replace the disk, or make room on it, mount it at {path} and restart broker {broker}: it fetches the replicas from their
    leaders. In KRaft an empty disk is formatted before: `kafka-storage.sh format --ignore-formatted --cluster-id <id> --config
    server.properties`; a controller without `controller.quorum.voters` (Kafka 3.9 and later) takes `--no-initial-controllers` as
    well. Watch `kafka-topics.sh --bootstrap-server <broker>:9092 --describe --under-replicated-partitions` until it lists
    nothing, then `kafka-leader-election.sh --bootstrap-server <broker>:9092 --election-type preferred --all-topic-partitions`.
    Without a new disk: take {path} out of `log.dirs` and restart; the other dirs must have room for what is fetched, and the same
    records are lost.

    ## References
    KIP-112 (disk failure of JBOD), KIP-858 (JBOD in KRaft); `kafka.server.ReplicaManager.handleLogDirFailure`.
    """
    reads = BrokerReads(view.last_reads, LOG_DIRS)
    yield from nothing_asked(view, "KA501", reads)
    for broker in reads.brokers:
        dirs = {row.path: row for row in view.of(LogDir) if row.broker_id == broker}
        left = sum(not row.error for row in dirs.values())
        for path, row in sorted(dirs.items()):
            status = Status.FAIL if row.error == STORAGE_ERROR else Status.UNKNOWN if row.error else Status.PASS
            evidence = {"broker": broker, "who": f"broker {broker}", "path": path, "left": left, "dirs": len(dirs)}
            evidence |= {"replicas": row.replicas, "error": f"error {row.error} for {path}"}
            evidence |= {"needs": "an answer without error for it"}
            yield view.judge("KA501", f"broker/{broker}/logdir/{path}", status, evidence)
        if not dirs:
            gap = reads.gap(broker) or {"error": "it offers no DescribeLogDirs", "needs": "Kafka 1.0 or later"}
            yield view.judge("KA501", f"broker/{broker}", Status.UNKNOWN, gap, who=f"broker {broker}")
