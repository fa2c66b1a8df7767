"""KA617."""

from collections.abc import Iterable, Iterator, Mapping

from kafka_audit.checks import check
from kafka_audit.checks.own_logs import OwnLog, own_logs
from kafka_audit.cluster.answers.broker_reads import LOG_DIRS, BrokerReads
from kafka_audit.cluster.answers.log_lines import quoted
from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.finding import Confidence, Judgement, Severity, Status
from kafka_audit.model.tables import LogDir
from kafka_audit.model.text import counted, listing

_FILES = ("log-cleaner.log", "server.log")
_MIB = 2**20
_LARGE = 1024 * _MIB
"""Bytes of a replica of __consumer_offsets that the cleaner keeps below: ten segments of the size that Kafka gives this topic."""


@check(
    code="KA617",
    severity=Severity.HIGH,
    says={
        Status.FAIL: "The log cleaner of broker {broker} {fault}: {why}",
        Status.PASS: "The log of broker {broker} reports no fault of its log cleaner",
        Status.UNKNOWN: "Cannot determine whether the log cleaner of {who} works ({error})",
    },
)
def log_cleaner_stopped(view: ClusterView) -> Iterator[Judgement]:
    """A broker no longer compacts: a thread of its log cleaner ended, or the cleaner left partitions out.

    ## Why it matters
    Compacted topics then grow without end, `__consumer_offsets` and `__transaction_state` among them. The disk fills up, and a
    coordinator that loads such a partition after a failover takes minutes, in which no group commits. No metric of a topic and no
    client shows it before.

    ## Fails when
    Since its last start, the broker logged that a thread of the cleaner ended (`Error due to`), or that it marked a partition as
    uncleanable (Kafka 2.1 and later). Neither is retried before a restart.

    Suspected, MEDIUM: without such a line, a replica of `__consumer_offsets` on the broker is larger than 1 GiB and has grown
    since the previous snapshot. Very many groups, or a `cleanup.policy` with delete (KA616), are other reasons.

    ## Not known when
    `log-cleaner.log` and `server.log` of the broker, or the output of a command with all of its logs, were not read, or the line
    has no time. Only the end of a log is read. Or the broker did not report the sizes of its replicas.

    ## Passes only when
    The log was read, and the part that was read has no such line since the last start.

    ## What to do
    To see the exception, on the host of broker {broker} run `grep -A3 -E 'cleaner-thread.*(Error due to|as uncleanable)'
    log-cleaner.log server.log | tail -20`. OutOfMemoryError: raise the heap. Otherwise restart the broker: the cleaner begins
    again.

    If the partition is left out again, one of its segments is damaged. If other brokers have it in sync, stop broker {broker},
    move the directory of this partition away, and start it again: it fetches the partition from its leader. Before that, check
    with `kafka-topics.sh --bootstrap-server BROKER:9092 --describe --topic TOPIC` that broker {broker} is neither its leader nor
    alone in its ISR. To see what grew: `kafka-log-dirs.sh --bootstrap-server BROKER:9092 --describe --broker-list {broker}
    --topic-list __consumer_offsets`.

    ## References
    KIP-346 (partitions that cannot be cleaned); metrics `kafka.log:type=LogCleanerManager,name=uncleanable-partitions-count,…`
    and `kafka.log:type=LogCleaner,name=DeadThreadCount`.
    """
    grown, sizes = dict(_grown(view)), BrokerReads(view.last_reads, LOG_DIRS)
    for log in own_logs(view, "KA617", _FILES):
        if isinstance(log, Judgement):
            yield log
            continue
        evidence: dict[str, object] = {"broker": log.broker, "who": f"broker {log.broker}"}
        if log.lines:
            grown.pop(log.broker, None)
            yield view.judge("KA617", f"broker/{log.broker}", Status.FAIL, evidence | _fault(log))
        elif log.broker not in grown:
            gap = log.gap or sizes.gap(log.broker)
            yield view.judge("KA617", f"broker/{log.broker}", Status.UNKNOWN if gap else Status.PASS, evidence | dict(gap or {}))
    for broker, fault in grown.items():
        evidence = {"broker": broker, "who": f"broker {broker}", **fault}
        severity, confidence = Severity.MEDIUM, Confidence.SUSPECTED
        yield view.judge("KA617", f"broker/{broker}", Status.FAIL, evidence, severity=severity, confidence=confidence)


def _grown(view: ClusterView) -> Iterator[tuple[int, Mapping[str, object]]]:
    """Yield the brokers whose largest replica of __consumer_offsets is very large and has grown since the previous snapshot."""
    earlier = _largest(view.earlier(LogDir))
    for broker, size in sorted(_largest(view.newest(LogDir)).items()):
        if broker in earlier and size > max(_LARGE, earlier[broker]):
            known = {"mebibytes": size // _MIB, "mebibytes_before": earlier[broker] // _MIB}
            grew = f"a replica of __consumer_offsets grew from {known['mebibytes_before']} to {known['mebibytes']} MiB"
            yield broker, {"fault": "may have stopped", "why": grew, **known}


def _largest(rows: Iterable[LogDir]) -> Mapping[int, int]:
    found: dict[int, int] = {}
    for row in rows:
        if row.offsets_bytes is not None:
            found[row.broker_id] = max(found.get(row.broker_id, 0), row.offsets_bytes)
    return found


def _fault(log: OwnLog) -> dict[str, object]:
    left_out = sorted({row.detail for row in log.lines if row.signature == "log_uncleanable" and row.detail})
    ended = [row for row in log.lines if row.signature == "cleaner_stopped"]
    fault = "stopped" if ended else f"leaves {counted(len(left_out), 'partition')} out"
    whys = ("a thread of it ended" if ended else "", f"it marked {listing(left_out, 3)} as uncleanable" if left_out else "")
    return {
        "fault": fault,
        "why": " and ".join(filter(None, whys)),
        "partitions": tuple(left_out) or None,
        "lines": tuple(map(quoted, log.lines[:3])),
    }
