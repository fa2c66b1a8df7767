"""KA321."""

from collections.abc import Iterator

from kafka_audit.checks import check
from kafka_audit.checks.incident import Case, at_the_broker, connection_opens
from kafka_audit.checks.own_logs import OwnLog, own_logs
from kafka_audit.cluster.answers.log_lines import quoted
from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.finding import Finding, Judgement, Severity, Status
from kafka_audit.model.tables import LogLine
from kafka_audit.model.text import listing

_FILES = ("server.log",)
_MAPS = "Map failed"
_THREADS = "unable to create"
_FILES_SPENT = "too_many_open_files"


@check(code="KA321", severity=Severity.HIGH)
def process_exhausted(view: ClusterView) -> Iterator[Judgement]:
    """A broker or controller ran out of memory, file handles or memory maps, and its process stays up."""
    for log in own_logs(view, "KA321", _FILES, of_controllers=True):
        if isinstance(log, Judgement):
            yield log
            continue
        who = view.party(log.broker)
        evidence: dict[str, object] = {"node": log.broker, "who": who}
        status = Status.FAIL if log.lines else Status.UNKNOWN if log.gap else Status.PASS
        if log.lines:
            evidence |= _fault(log)
        yield view.judge(who.replace(" ", "/"), status, evidence | dict(log.gap or {}))


def _fault(log: OwnLog) -> dict[str, object]:
    spent = {_kind(row) for row in log.lines}
    known = [(lacking, effect, step) for lacking, effect, step in _KINDS if lacking in spent]
    return {
        "what": listing([lacking for lacking, _, _ in known]),
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
        "threads may have ended",
        "Raise the heap (`KAFKA_HEAP_OPTS`), or find what filled it: many connections, large requests, many partitions.",
    ),
)


def not_answered(case: Case, symptom: Finding) -> bool:
    """Explain an endpoint whose connection opens: what keeps it closed is no lack of the process."""
    return at_the_broker(case, symptom) and connection_opens(symptom)
