"""KA501."""

from collections.abc import Iterator

from kafka_audit.checks import check
from kafka_audit.checks.gaps import NO_LOG_DIRS, nothing_asked
from kafka_audit.cluster.answers.broker_reads import LOG_DIRS, STORAGE_ERROR, BrokerReads
from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.finding import Judgement, Severity, Status


@check(code="KA501", severity=Severity.CRITICAL)
def log_dir_offline(view: ClusterView) -> Iterator[Judgement]:
    """A log dir of a broker is offline: its disk failed."""
    reads = BrokerReads(view.last_reads, LOG_DIRS)
    yield from nothing_asked(view, reads)
    for broker in reads.brokers:
        dirs = view.log_dirs(broker)
        left = sum(not row.error for row in dirs.values())
        for path, row in sorted(dirs.items()):
            status = Status.FAIL if row.error == STORAGE_ERROR else Status.UNKNOWN if row.error else Status.PASS
            evidence = {"broker": broker, "who": f"broker {broker}", "path": path, "left": left, "dirs": len(dirs)}
            evidence |= {"replicas": row.replicas, "error": f"error {row.error} for {path}"}
            evidence |= {"needs": "an answer without an error for it"}
            yield view.judge(f"broker/{broker}/logdir/{path}", status, evidence)
        if not dirs:
            gap = reads.gap(broker) or NO_LOG_DIRS
            yield view.judge(f"broker/{broker}", Status.UNKNOWN, gap, who=f"broker {broker}")
