from kafka_audit.checks import ClusterView, Judgements, Severity, Status, check
from kafka_audit.cluster.answers.log_lines import quoted
from kafka_audit.model.text import listing

_OFTEN = 3  # lines since the start: a pause of Java leaves one


@check(code="KA224", severity=Severity.HIGH, mode="kraft")
def controller_overloaded(view: ClusterView) -> Judgements:
    """A controller is overloaded: again and again it takes very long for an event."""
    reads = {node: log_reads[-1] for node, log_reads in view.reads.of_logs.items()}
    voters = view.quorum.now.voters
    if not voters:
        yield view.unknown("cluster", "the controllers are unknown", "an answer to DescribeQuorum", who="a controller")
    for node in voters:
        party, read = view.party(node), reads.get(node)
        resource, evidence = party.replace(" ", "/"), {"node": node, "who": party}
        lines = [row for row in view.logs.of_nodes("KA224") if row.broker_id == node and (row.since_start or 0) >= _OFTEN]
        if lines:
            events = sorted({row.detail for row in lines if row.detail})
            fault = {"subject": party.capitalize(), "events": listing(events, 3), "lines": tuple(map(quoted, lines[:3]))}
            yield view.judge(resource, Status.FAIL, evidence | fault)
        elif read is None or read.outcome == "failed":
            error = "its log was not read" if read is None else f"its log was not read: {read.error}"
            yield view.unknown(resource, error, (read and read.needs) or f"the log of {party}, in `logs`", evidence)
        else:
            yield view.judge(resource, Status.PASS, evidence)
