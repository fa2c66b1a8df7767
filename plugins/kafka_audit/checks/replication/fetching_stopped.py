"""KA618."""

from collections.abc import Iterator, Mapping

from kafka_audit.checks import check
from kafka_audit.checks.own_logs import OwnLog, own_logs
from kafka_audit.cluster.answers.log_lines import quoted
from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.finding import Confidence, Judgement, Severity, Status
from kafka_audit.model.text import counted, listing

_FILES = ("server.log",)
_MOST = 100
"""The largest number of partitions that a finding names."""


@check(
    code="KA618",
    severity=Severity.HIGH,
    parts=("topics",),
    says={
        Status.FAIL: "Broker {broker} no longer fetches {what} from the leader: {why}",
        Status.PASS: "The log of broker {broker} reports no partition that it stopped to fetch and that is out of sync",
        Status.UNKNOWN: "Cannot determine whether {who} stopped to fetch partitions ({error})",
        Status.NOT_APPLICABLE: "Fetching is not judged: {reason}",
    },
)
def fetching_stopped(view: ClusterView) -> Iterator[Judgement]:
    """A follower gave up fetching a partition, and does not try again.

    ## Why it matters
    After an unexpected error a follower marks the partition as failed and fetches the others. It tries again only when the
    partition gets a new leader epoch, so the partition stays under-replicated while both brokers, the network and the disks are
    well. Before Kafka 2.3, and after an error outside of a partition, the whole fetcher thread ends.

    ## Fails when
    Since its last start, the broker logged `marked as failed` for a partition, or `Error due to` of a ReplicaFetcher, and in two
    samples it is missing in the ISR of that partition, or of any. Inferred: the log does not say whether it fetched again since.

    ## Not known when
    `server.log` of the broker, or the output of a command with its log, was not read, or the line has no time, or the ISR changed
    between the samples. The check does not apply while a log dir of the broker is offline (KA501), which ends fetching, too.

    ## Passes only when
    The log was read, and the broker is in the ISR of each partition that such a line is about.

    ## What to do
    On the host of broker {broker}, run `grep -B4 -A4 -E 'marked as failed|Error due to' server.log | tail -40`: the exception
    beside the line is the cause. Keep it for a report to Kafka. Then restart broker {broker}, which fetches these partitions
    again. It also does when they get a new leader epoch: if their leader is not the preferred one, `kafka-leader-election.sh
    --bootstrap-server BROKER:9092 --election-type preferred --path-to-json-file partitions.json` with these partitions in the
    file gives them one.

    ## References
    KIP-461 (a failed partition does not end its fetcher); `kafka.server.AbstractFetcherThread.markPartitionFailed`; metric
    `kafka.server:type=ReplicaFetcherManager,name=FailedPartitionsCount`.
    """
    missing: dict[int, dict[str, bool]] = {}
    for state in view.partitions.of_kind("under_replicated"):
        for broker in state.missing:
            missing.setdefault(broker, {})[f"{state.topic}-{state.partition}"] = state.repeated
    for log in own_logs(view, "KA618", _FILES):
        if isinstance(log, Judgement):
            yield log
            continue
        resource, evidence = f"broker/{log.broker}", {"broker": log.broker, "who": f"broker {log.broker}"}
        stopped = _stopped(log, missing.get(log.broker, {}))
        if stopped and any(row.error for row in view.log_dirs(log.broker).values()):
            reason = f"a log dir of broker {log.broker} is offline (KA501)"
            yield view.judge("KA618", resource, Status.NOT_APPLICABLE, evidence, reason=reason)
        elif any(stopped.values()):
            yield view.judge("KA618", resource, Status.FAIL, evidence | _fault(log, stopped), confidence=Confidence.INFERRED)
        elif stopped:
            unknown = {"error": "the ISR changed between two samples, or was sampled once", "needs": "another audit"}
            yield view.judge("KA618", resource, Status.UNKNOWN, evidence | unknown)
        else:
            yield view.judge("KA618", resource, Status.UNKNOWN if log.gap else Status.PASS, evidence | dict(log.gap or {}))


def _stopped(log: OwnLog, missing: Mapping[str, bool]) -> Mapping[str, bool]:
    """Return the partitions that the log is about and the broker is not in sync with, and whether that was seen twice."""
    if any(row.signature == "fetcher_stopped" for row in log.lines):
        return missing
    failed = {row.detail for row in log.lines}
    return {partition: repeated for partition, repeated in missing.items() if partition in failed}


def _fault(log: OwnLog, stopped: Mapping[str, bool]) -> dict[str, object]:
    partitions = sorted(partition for partition, repeated in stopped.items() if repeated)
    thread = any(row.signature == "fetcher_stopped" for row in log.lines)
    return {
        "what": f"{counted(len(partitions), 'partition')} ({listing(partitions, 3)})",
        "why": "a fetcher thread ended" if thread else "marked as failed after an error",
        "partitions": tuple(partitions[:_MOST]),
        "lines": tuple(map(quoted, log.lines[:3])),
    }
