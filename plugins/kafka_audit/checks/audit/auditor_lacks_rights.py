from kafka_audit.checks import ClusterView, Judgements, Severity, Status, check
from kafka_audit.cluster.answers.reads import source_name
from kafka_audit.model.read_failure import NOT_ASKED, ReadFailure


@check(code="KA002", severity=Severity.MEDIUM)
def auditor_lacks_rights(view: ClusterView) -> Judgements:
    """The auditor lacks a right, and a read was denied."""
    for resource, asked in view.reads.by_resource.items():
        refused = [read for read in asked if read.outcome == "failed" and read.failure is ReadFailure.NOT_AUTHORIZED]
        untried = [read for read in asked if read.failure is ReadFailure.NOT_TRIED]
        answered = sum(read.outcome == "answered" for read in asked)
        source = source_name(resource, refused or asked)
        evidence = {"source": source, "answered": answered}
        if refused:
            yield view.judge(
                resource,
                Status.FAIL,
                evidence,
                reads=tuple(sorted({read.operation for read in refused})),
                error=tuple(sorted({str(read.error) if read.was_tried else read.why for read in refused})),
                needs=tuple(sorted({read.needs or f"the right to {read.operation}" for read in refused})),
            )
        elif untried:
            reads = ", ".join(sorted({read.operation for read in untried}))
            error, needs = f"{reads} {untried[0].why}", untried[0].needs
            yield view.unknown(resource, error, needs, evidence)
        elif answered:
            yield view.judge(resource, Status.PASS, evidence)
        else:
            lines = (read.needs for read in asked if read.failure in NOT_ASKED and read.needs)  # to add to the cluster file
            needs = next(lines, f"an answer from {asked[0].target}")
            yield view.unknown(resource, "no read was answered", needs, evidence)
