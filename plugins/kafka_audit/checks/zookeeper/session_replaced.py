from kafka_audit.checks import ClusterView, Confidence, Judgement, Judgements, Severity, Status, check
from kafka_audit.cluster.answers.log_lines import when
from kafka_audit.cluster.registry import BrokerRegistration
from kafka_audit.model.tables import LogLine
from kafka_audit.model.text import counted

_EARLIER_MS, _LATER_MS = 180_000, 10_000
"""How long before and after its next registration a session's end may be logged; clocks differ by seconds."""


@check(code="KA805", severity=Severity.MEDIUM, parts=("controller", "brokers"))
def session_replaced(view: ClusterView) -> Judgements:
    """A broker lost its ZooKeeper session without a restart."""
    gap = view.gap_earlier("brokers")
    if gap is not None and gap.whole:
        reported = {"who": "any broker", "error": gap.error, "needs": gap.needs, "reason": gap.reason}
        yield view.judge("cluster", gap.status, reported)
        return
    for broker, registration in sorted(view.brokers.items()):
        if broker not in view.brokers_earlier:
            continue
        now, earlier = registration.session, view.brokers_earlier[broker].session
        before = view.brokers_before[broker].session if broker in view.brokers_before else now
        if now == before == earlier:
            yield view.judge(f"broker/{broker}", Status.PASS, broker=broker, who=f"broker {broker}")
        else:
            yield _replaced(view, registration, thrice=before not in {now, earlier})


def _replaced(view: ClusterView, registration: BrokerRegistration, *, thrice: bool) -> Judgement:
    """Judge a broker whose session is another one; `thrice`: it had three since the previous snapshot."""
    broker = registration.broker_id
    resource, evidence = f"broker/{broker}", {"broker": broker, "who": f"broker {broker}"}
    expired = [
        row
        for row in view.logs.lines_of("KA805", broker)
        if row.signature == "session_expired" and _is_of_this(row, registration.registered_ms)
    ]
    if expired:
        row = expired[-1]
        why = f"its log reports {counted(row.matches, 'expired session')}, last {when(row)}"
        return view.judge(resource, Status.FAIL, evidence, why=why)
    if thrice:
        why = "it had three sessions since the previous snapshot, and the last one is seconds old"
        return view.judge(resource, Status.FAIL, evidence, confidence=Confidence.INFERRED, why=why)
    error = "its session is new, and it is unknown whether the broker restarted"
    needs = "`logs` of the brokers in the cluster file"
    if any(read.outcome == "answered" for read in view.reads.of_logs.get(broker, ())):
        error = "its session is new, and the part of its log that was read shows no expired session"
        needs = "lines of its log from before its registration, with readable timestamps"
    return view.unknown(resource, error, needs, evidence)


def _is_of_this(row: LogLine, registered_ms: int | None) -> bool:
    """Return whether a line is of the session before this registration, or newer than it."""
    if row.last_ms is None or registered_ms is None:
        return False
    return -_LATER_MS <= registered_ms - row.last_ms <= _EARLIER_MS or bool(row.since_start)
