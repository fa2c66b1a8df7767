from collections.abc import Mapping

from kafka_audit.checks import ClusterView, Confidence, Judgement, Judgements, Severity, Status, check
from kafka_audit.checks.own_logs import OwnLog, own_logs
from kafka_audit.cluster.answers.log_lines import quoted
from kafka_audit.cluster.throttles import throttle_rates, throttled_topics
from kafka_audit.model.text import counted, listing

_THREAD, _ERROR = "fetcher_stopped", "partition_error"
_MOST = 100
"""The largest number of partitions that a finding names."""


@check(code="KA618", severity=Severity.HIGH, parts=("topics",))
def fetching_stopped(view: ClusterView) -> Judgements:
    """A follower gave up fetching a partition, and does not try again."""
    missing: dict[int, dict[str, bool]] = {}
    for state in view.partitions.of_kind("under_replicated"):
        for broker in state.missing:
            missing.setdefault(broker, {})[f"{state.topic}-{state.partition}"] = state.repeated

    def judged(log: OwnLog) -> Judgements:
        resource, evidence = f"broker/{log.broker}", {"broker": log.broker, "who": f"broker {log.broker}"}
        stopped = _stopped(log, missing.get(log.broker, {}))
        if stopped and any(row.error for row in view.log_dirs(log.broker).values()):
            yield view.not_applicable(resource, f"a log dir of broker {log.broker} is offline (KA501)", evidence)
        elif any(stopped.values()):
            yield _of_log(view, log, resource, evidence, stopped)
        elif stopped:
            yield view.unknown(resource, "the ISR changed between two samples, or was sampled once", "another audit", evidence)
        else:
            yield view.judge(resource, Status.UNKNOWN if log.gap else Status.PASS, evidence | dict(log.gap or {}))

    yield from own_logs(view, "KA618", judged)


def _of_log(view: ClusterView, log: OwnLog, resource: str, evidence: dict[str, object], stopped: Mapping[str, bool]) -> Judgement:
    """Return what its lines are worth: a follower marks a partition after an error, or at a leader epoch that it learns late."""
    partitions = sorted(partition for partition, repeated in stopped.items() if repeated)
    thread = any(row.signature == _THREAD for row in log.lines)
    errors = {row.detail for row in log.lines if row.signature == _ERROR}
    if not thread and errors.isdisjoint(partitions) and (rate := _rate(view, log.broker)):
        return view.unknown(
            resource,
            f"it writes the same line when it learns late of a leader epoch, and {rate} holds it back (KA608)",
            "an audit without the throttle, or the lines before that one",
            evidence,
        )
    is_sure = thread or not errors.isdisjoint(partitions)
    fault = {
        "hedge": "" if is_sure else "possibly ",
        "what": f"{counted(len(partitions), 'partition')} ({listing(partitions, 3)})",
        "why": "a fetcher thread ended" if thread else "an error" if is_sure else "marked as failed",
        "partitions": tuple(partitions[:_MOST]),
        "lines": tuple(map(quoted, log.lines[:3])),
    }
    confidence = Confidence.INFERRED if is_sure else Confidence.SUSPECTED
    return view.judge(resource, Status.FAIL, evidence | fault, confidence=confidence)


def _rate(view: ClusterView, follower: int) -> str | None:
    """Return the throttle that may hold back a follower: its own, or that of any leader."""
    if not throttled_topics(view):
        return None
    for row in throttle_rates(view):
        own = row.key == "follower.replication.throttled.rate" and row.broker_id == follower
        if own or row.key == "leader.replication.throttled.rate":
            return f"{row.key} of broker {row.broker_id}"
    return None


def _stopped(log: OwnLog, missing: Mapping[str, bool]) -> Mapping[str, bool]:
    """Return the partitions that the log is about and the broker is not in sync with, and whether that was seen twice."""
    if any(row.signature == _THREAD for row in log.lines):
        return missing
    failed = {row.detail for row in log.lines}
    return {partition: repeated for partition, repeated in missing.items() if partition in failed}
