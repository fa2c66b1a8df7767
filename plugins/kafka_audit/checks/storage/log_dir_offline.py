from collections.abc import Collection

from kafka_audit.checks import ClusterView, Judgements, Severity, Status, check
from kafka_audit.checks.gaps import NO_LOG_DIRS, nothing_asked
from kafka_audit.cluster.answers.broker_reads import LOG_DIRS, STORAGE_ERROR, BrokerReads
from kafka_audit.model.tables import LogLine

_CONSEQUENCE = "log_dir_stopped"  # is logged whatever took it offline
_FLUSH = "flush_failed"
_NO_SUCH_FILE = "java.nio.file.NoSuchFileException: "


@check(code="KA501", severity=Severity.CRITICAL)
def log_dir_offline(view: ClusterView) -> Judgements:
    """A log dir of a broker is offline: its disk failed."""
    reads = BrokerReads(view.last_reads, LOG_DIRS)
    yield from nothing_asked(view, reads)
    for broker in reads.brokers:
        dirs = view.log_dirs(broker)
        left = sum(not row.error for row in dirs.values())
        renamed = _renamed(view, broker, [path for path, row in dirs.items() if row.error == STORAGE_ERROR])
        for path, row in sorted(dirs.items()):
            status = Status.FAIL if row.error == STORAGE_ERROR else Status.UNKNOWN if row.error else Status.PASS
            evidence = {"broker": broker, "who": f"broker {broker}", "path": path, "left": left, "dirs": len(dirs)}
            evidence |= {"replicas": row.replicas, "error": f"error {row.error} for {path}"}
            evidence |= {"needs": "an answer without an error for it", "renamed": renamed}
            yield view.judge(f"broker/{broker}/logdir/{path}", status, evidence)
        if not dirs:
            gap = reads.gap(broker) or NO_LOG_DIRS
            yield view.judge(f"broker/{broker}", Status.UNKNOWN, gap, who=f"broker {broker}")


def _renamed(view: ClusterView, broker: int, paths: Collection[str]) -> str | None:
    """Return a file that was renamed or deleted while it was flushed, if the log has no other reason for each of these log dirs.

    Kafka renames the directory of a partition whose topic is deleted, and a flush that is on its way finds it no more.
    """
    lines = [row for row in view.logs.counting("KA501", broker) if row.signature != _CONSEQUENCE]
    files = {path: [_missing_file(row, path) for row in lines if (row.detail or "").strip().endswith(path)] for path in paths}
    return next(iter(files.values()))[0] if files and all(found and all(found) for found in files.values()) else None


def _missing_file(row: LogLine, path: str) -> str | None:
    """Return what a flush in a log dir did not find; None for any other error."""
    file = row.text.partition(_NO_SUCH_FILE)[2].partition(" ")[0]
    return file if row.signature == _FLUSH and file.startswith(f"{path}/") else None
