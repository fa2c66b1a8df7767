from collections.abc import Mapping

from kafka_audit.checks import ClusterView, Judgement, Judgements, Severity, Status, check
from kafka_audit.checks.gaps import NO_LOG_DIRS, nothing_asked
from kafka_audit.cluster.answers.broker_reads import LOG_DIRS, BrokerReads
from kafka_audit.model.tables import LogDir

_NEARLY_FULL, _FULL, _APART = 90, 70, 50  # percent
_NOTHING_LEFT, _SEGMENT = 99, 1 << 30  # percent; the bytes of a segment by default
_NO_SIZES = "this version does not report sizes (Kafka 3.3 and later do)"


@check(code="KA505", severity=Severity.MEDIUM)
def disk_fills_up(view: ClusterView) -> Judgements:
    """The disk of a log dir is nearly full, or much fuller than the other disks of its broker."""
    reads = BrokerReads(view.last_reads, LOG_DIRS)
    yield from nothing_asked(view, reads)
    for broker in reads.brokers:
        dirs = view.log_dirs(broker)
        shares = {path: share for path, row in dirs.items() if (share := _used(row)) is not None}
        yield from (_of_log_dir(view, broker, path, shares, offline=bool(dirs[path].error)) for path in sorted(dirs))
        if not dirs:
            gap = reads.gap(broker) or NO_LOG_DIRS
            yield view.judge(f"broker/{broker}", Status.UNKNOWN, gap, who=f"broker {broker}")


def _of_log_dir(view: ClusterView, broker: int, path: str, shares: Mapping[str, int], *, offline: bool) -> Judgement:
    evidence = {"broker": broker, "who": f"broker {broker}", "path": path}
    resource = f"broker/{broker}/logdir/{path}"
    if path not in shares:
        return view.not_applicable(resource, "it is offline (KA501)" if offline else _NO_SIZES, evidence)
    usable = view.log_dirs(broker)[path].usable_bytes or 0
    share, emptiest, fault = shares[path], min(shares, key=lambda share: (shares[share], share)), None
    evidence["used"] = share
    if share > _NOTHING_LEFT and usable < _SEGMENT:
        fault = "the next write that does not fit takes the log dir offline"
        return view.judge(resource, Status.FAIL, evidence | {"fault": fault}, severity=Severity.HIGH)
    if share > _NEARLY_FULL:
        fault = "when it is full, the log dir goes offline"
    elif share > _FULL and share - shares[emptiest] > _APART:
        fault = f"the disk of {emptiest} is {shares[emptiest]} % full"
    return view.judge(resource, Status.FAIL if fault else Status.PASS, evidence | ({"fault": fault} if fault else {}))


def _used(row: LogDir) -> int | None:
    if row.error or not row.total_bytes or row.usable_bytes is None:
        return None
    return 100 - 100 * row.usable_bytes // row.total_bytes
