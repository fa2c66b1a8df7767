from kafka_audit.checks import ClusterView, Judgements, Severity, Status, check
from kafka_audit.cluster.answers.log_lines import says, when
from kafka_audit.model.tables import LogLine

_SESSION, _SESSION_MS = "broker.session.timeout.ms", 9_000


@check(code="KA114", severity=Severity.HIGH)
def broker_id_taken(view: ClusterView) -> Judgements:
    """Two processes have the same broker id."""
    if not view.kraft:
        yield view.not_applicable("cluster", "with ZooKeeper the second process exits at its start")
        return
    reads = {read.observer.removeprefix("logs:"): read for read in view.last_reads if read.observer.startswith("logs:")}
    if not reads:
        yield view.not_applicable("cluster", "the cluster file names no `logs`")
        return
    for name, read in sorted(reads.items()):
        broker = int(name) if name.isdecimal() else None
        if broker is None or broker in view.controller_nodes:
            continue
        evidence = {"broker": broker, "who": f"broker {broker}"}
        lines = view.logs.counting("KA114", broker)
        if lines and not any(_outlasts_a_session(view, line) for line in lines):
            yield view.unknown(f"broker/{broker}", "its earlier session may not have ended yet", "another audit", evidence)
        elif lines:
            why = f"{says(lines[0])}, last {when(lines[0])}"
            yield view.judge(f"broker/{broker}", Status.FAIL, evidence, why=why)
        elif read.outcome == "failed":
            needs = read.needs or f"the log of broker {broker}"
            yield view.unknown(f"broker/{broker}", read.error or "not read", needs, evidence)
        else:
            yield view.judge(f"broker/{broker}", Status.PASS, evidence)


def _outlasts_a_session(view: ClusterView, line: LogLine) -> bool:
    """Return whether a registration has been refused for longer than the session of the same process before a restart lasts."""
    session = view.settings.number(line.broker_id, _SESSION, _SESSION_MS)
    return line.since_ms is not None and line.last_ms is not None and line.last_ms - line.since_ms >= session
