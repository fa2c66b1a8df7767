from collections.abc import Iterator

from kafka_audit.checks import ClusterView, Judgements, Severity, Status, check
from kafka_audit.checks.incident import Case, at_the_broker, connection_opens
from kafka_audit.checks.own_logs import OwnLog, own_logs
from kafka_audit.cluster.answers.log_lines import quoted
from kafka_audit.configuration.definitions.values import integer
from kafka_audit.model.finding import Finding
from kafka_audit.model.tables import LogLine
from kafka_audit.model.text import listing

_MAPS = "Map failed"
_THREADS = "unable to create"
_FILES_SPENT = "too_many_open_files"
_TLS_RECORDS = (0x15, 0x16)  # an alert, a handshake
_TLS_VERSIONS = range(0x0300, 0x0305)
_FIRST_WORDS = {b"HTTP": "HTTP", b"GET ": "HTTP", b"POST": "HTTP", b"SSH-": "SSH"}


@check(code="KA321", severity=Severity.HIGH)
def process_exhausted(view: ClusterView) -> Judgements:
    """A broker or controller ran out of memory, file handles or memory maps, and its process stays up."""

    def judged(log: OwnLog) -> Judgements:
        who = view.party(log.broker)
        evidence: dict[str, object] = {"node": log.broker, "who": who}
        status = Status.FAIL if log.lines else Status.UNKNOWN if log.gap else Status.PASS
        if log.lines:
            evidence |= _fault(log)
        yield view.judge(who.replace(" ", "/"), status, evidence | dict(log.gap or {}))

    yield from own_logs(view, "KA321", judged, of_controllers=True)


def _fault(log: OwnLog) -> dict[str, object]:
    foreign = [(size, protocol) for row in log.lines for size in _numbers(row) if (protocol := protocol_of_size(size))]
    lines = tuple(map(quoted, log.lines[:3]))
    if foreign and len(foreign) == len(log.lines):
        size, protocol = foreign[0]
        effect = f"it took the first bytes of {protocol} for the size of a message"
        step = f"Do not raise the heap. {_mixed_up(size, protocol)}"
        return {"what": "memory", "effect": effect, "size": size, "protocol": protocol, "step": step, "lines": lines}
    spent = {_kind(row) for row in log.lines}
    known = [(lacking, effect, step) for lacking, effect, step in _KINDS if lacking in spent]
    steps = [*(_mixed_up(size, protocol) for size, protocol in foreign[:1]), *(step for _, _, step in known)]
    return {
        "what": listing([lacking for lacking, _, _ in known]),
        "effect": known[0][1],
        "step": " ".join(steps),
        "lines": lines,
    }


def _mixed_up(size: int, protocol: str) -> str:
    """Return what to do about bytes of another protocol, in as few words as a text of evidence may have."""
    where = (
        "one end of a connection uses TLS and the other does not; correct one"
        if protocol == "TLS"
        else (f"a server of {protocol} answers at an address that it connects to; correct it")
    )
    return f"{size} is no size, but the first four bytes of {protocol}: {where}."


def _numbers(row: LogLine) -> Iterator[int]:
    """Yield the numbers of bytes in a line of Java's about memory."""
    yield from (number for word in (row.detail or "").split() if (number := integer(word, 64)) is not None)


def protocol_of_size(size: int) -> str | None:
    """Return the protocol whose first four bytes a number is, if these are read as the size of a message of Kafka."""
    if not 0 < size < 1 << 31:
        return None
    first = size.to_bytes(4, "big")
    if first[0] in _TLS_RECORDS and int.from_bytes(first[1:3], "big") in _TLS_VERSIONS:
        return "TLS"
    return _FIRST_WORDS.get(first)


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
