from kafka_audit.checks import ClusterView, Judgements, Severity, Status, check
from kafka_audit.checks.own_logs import OwnLog, own_logs
from kafka_audit.cluster.answers.log_lines import quoted
from kafka_audit.model.text import counted, listing

_OFTEN = 10  # lines of one partition since the start: a change of the leader leaves one or two


@check(code="KA620", severity=Severity.HIGH)
def follower_loops(view: ClusterView) -> Judgements:
    """A follower loops: again and again its leader does not have the offset that it wants to fetch."""

    def judged(log: OwnLog) -> Judgements:
        resource, evidence = f"broker/{log.broker}", {"broker": log.broker, "who": f"broker {log.broker}"}
        lines = [row for row in log.lines if (row.since_start or 0) >= _OFTEN]
        if lines:
            partitions = sorted({row.detail for row in lines if row.detail})
            what = f"{counted(len(partitions), 'partition')} ({listing(partitions, 3)})"
            fault = {"what": what, "partitions": tuple(partitions[:100]), "lines": tuple(map(quoted, lines[:3]))}
            yield view.judge(resource, Status.FAIL, evidence | fault)
        else:
            yield view.judge(resource, Status.UNKNOWN if log.gap else Status.PASS, evidence | dict(log.gap or {}))

    yield from own_logs(view, "KA620", judged)
