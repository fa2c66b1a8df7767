"""KA321."""

from collections.abc import Iterator

from kafka_audit.checks import check
from kafka_audit.checks.own_logs import OwnLog, own_logs
from kafka_audit.cluster.answers.log_lines import quoted
from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.finding import Judgement, Severity, Status
from kafka_audit.model.tables import LogLine
from kafka_audit.model.text import listing

_FILES = ("server.log",)
_MAPS = "Map failed"
_THREADS = "unable to create"
_FILES_SPENT = "too_many_open_files"


@check(
    code="KA321",
    severity=Severity.HIGH,
    says={
        Status.FAIL: "The process of {who} ran out of {what} and is still up: {effect}",
        Status.PASS: "The log of {who} reports no lack of memory, file handles or memory maps",
        Status.UNKNOWN: "Cannot determine whether {who} lacks memory, file handles or memory maps ({error})",
    },
)
def process_exhausted(view: ClusterView) -> Iterator[Judgement]:
    """A broker or controller ran out of memory, file handles or memory maps, and its process stays up.

    ## Why it matters
    Java does not end the process. The thread that got the error may be gone: a network thread, so that some connections hang, a
    request handler, a fetcher, or the log cleaner. Without file handles the broker accepts no new connection, and takes a log dir
    offline when it cannot open a segment. The port stays open and the registration current, so nothing fails over.

    ## Fails when
    Since its last start, a broker or a KRaft controller logged OutOfMemoryError or `Too many open files`.

    ## Not known when
    `server.log` of the node, or the output of a command with its log, was not read, or the line has no time. Only the end of a
    log is read.

    ## Passes only when
    The log was read, and the part that was read has no such line since the last start.

    ## What to do
    {step} Then restart {who}, because threads that ended do not come back. To end the process the next time instead,
    add `-XX:+ExitOnOutOfMemoryError` to `KAFKA_OPTS`; systemd or Kubernetes then starts it again. To see the limits and what is
    used, on its host: `grep -E 'open files|processes' /proc/PID/limits`, `ls /proc/PID/fd | wc -l` and `wc -l /proc/PID/maps`.

    ## References
    Kafka documentation, "OS" (file descriptor limits, `vm.max_map_count`); `org.apache.kafka.common.utils.KafkaThread`.
    """
    for log in own_logs(view, "KA321", _FILES, of_controllers=True):
        if isinstance(log, Judgement):
            yield log
            continue
        who = view.party(log.broker)
        evidence: dict[str, object] = {"node": log.broker, "who": who}
        status = Status.FAIL if log.lines else Status.UNKNOWN if log.gap else Status.PASS
        if log.lines:
            evidence |= _fault(log)
        yield view.judge("KA321", who.replace(" ", "/"), status, evidence | dict(log.gap or {}))


def _fault(log: OwnLog) -> dict[str, object]:
    spent = {_kind(row) for row in log.lines}
    known = [(what, effect, step) for what, effect, step in _KINDS if what in spent]
    return {
        "what": listing([what for what, _, _ in known]),
        "effect": known[0][1],
        "step": " ".join(step for _, _, step in known),
        "lines": tuple(map(quoted, log.lines[:3])),
    }


def _kind(row: LogLine) -> str:
    detail = row.detail or ""
    if row.signature == _FILES_SPENT:
        return "file handles"
    return "memory maps" if _MAPS in detail else "threads" if _THREADS in detail else "memory"


_KINDS = (
    (
        "file handles",
        "it accepts no more connections",
        "Raise the limit of open files to 100,000 or more (`LimitNOFILE` of its systemd unit, `ulimit -n`).",
    ),
    (
        "memory maps",
        "it cannot open indexes of segments",
        "Raise `vm.max_map_count` (`sysctl -w vm.max_map_count=262144`): each segment needs two maps.",
    ),
    (
        "threads",
        "it cannot start threads",
        "Raise the limit of processes (`LimitNPROC` and `TasksMax` of its systemd unit, the pids limit of its container).",
    ),
    (
        "memory",
        "threads of it may have ended",
        "Raise the heap (`KAFKA_HEAP_OPTS`), or find what filled it: many connections, large requests, many partitions.",
    ),
)
