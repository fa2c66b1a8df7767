from kafka_audit.checks import ClusterView, Judgements, Severity, Status, check
from kafka_audit.cluster.answers.log_lines import when
from kafka_audit.model.tables import LogLine
from kafka_audit.model.text import clean

_FATAL = "fatal_fault"


@check(code="KA221", severity=Severity.HIGH, mode="kraft")
def metadata_fault(view: ClusterView) -> Judgements:
    """A controller or broker exited, or did not load or apply a part of the metadata."""
    reads = {node: log_reads[-1] for node, log_reads in view.reads.of_logs.items()}
    lines: dict[int, LogLine] = {}
    for line in view.logs.of_nodes("KA221"):
        if line.broker_id not in lines or _order(line) > _order(lines[line.broker_id]):
            lines[line.broker_id] = line
    if not reads and not lines:
        yield view.not_applicable("cluster", "the cluster file names no `logs`")
    for node in sorted({*reads, *lines}):
        party = view.party(node)
        resource, read, row = party.replace(" ", "/"), reads.get(node), lines.get(node)
        evidence: dict[str, object] = {"node": node, "who": party, "subject": party}
        if row is not None:
            did = "exited" if row.signature == _FATAL else "did not apply a part of the metadata"
            evidence |= {"subject": party.capitalize(), "did": did, "when": when(row), "fault": clean(row.detail or row.text)}
            evidence["exception"] = row.exception
            yield view.judge(resource, Status.FAIL, evidence)
        elif read is not None and read.outcome == "failed":
            yield view.unknown(resource, read.error or "not read", read.needs or f"the log of {party}", evidence)
        else:
            yield view.judge(resource, Status.PASS, evidence)


def _order(row: LogLine) -> tuple[bool, int]:
    return row.signature == _FATAL, row.last_ms or 0
