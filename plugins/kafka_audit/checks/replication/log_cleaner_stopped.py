from collections.abc import Iterable, Iterator, Mapping

from kafka_audit.checks import ClusterView, Confidence, Judgements, Severity, Status, check
from kafka_audit.checks.own_logs import OwnLog, own_logs
from kafka_audit.cluster.answers.broker_reads import LOG_DIRS, BrokerReads
from kafka_audit.cluster.answers.log_lines import quoted
from kafka_audit.model.tables import LogDir
from kafka_audit.model.text import counted, listing

_FILES = ("log-cleaner.log", "server.log")
_MIB = 2**20
_LARGE = 1024 * _MIB
"""Bytes of a replica of __consumer_offsets that the cleaner keeps below: ten segments of the size that Kafka gives this topic."""


@check(code="KA617", severity=Severity.HIGH)
def log_cleaner_stopped(view: ClusterView) -> Judgements:
    """A broker no longer compacts: a thread of its log cleaner ended, or the cleaner left partitions out."""
    grown, sizes = dict(_grown(view)), BrokerReads(view.last_reads, LOG_DIRS)

    def judged(log: OwnLog) -> Judgements:
        evidence: dict[str, object] = {"broker": log.broker, "who": f"broker {log.broker}"}
        if log.lines:
            grown.pop(log.broker, None)
            yield view.judge(f"broker/{log.broker}", Status.FAIL, evidence | _fault(log))
        elif log.broker not in grown:
            gap = log.gap or sizes.gap(log.broker)
            yield view.judge(f"broker/{log.broker}", Status.UNKNOWN if gap else Status.PASS, evidence | dict(gap or {}))

    yield from own_logs(view, "KA617", judged, _FILES)
    for broker, fault in grown.items():
        evidence = {"broker": broker, "who": f"broker {broker}", **fault}
        severity, confidence = Severity.MEDIUM, Confidence.SUSPECTED
        yield view.judge(f"broker/{broker}", Status.FAIL, evidence, severity=severity, confidence=confidence)


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
    whys = ("one of its threads ended" if ended else "", f"it marked {listing(left_out, 3)} as uncleanable" if left_out else "")
    return {
        "fault": fault,
        "why": " and ".join(filter(None, whys)),
        "partitions": tuple(left_out) or None,
        "lines": tuple(map(quoted, log.lines[:3])),
    }
