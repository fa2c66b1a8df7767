from kafka_audit.checks import ClusterView, Judgements, Severity, Status, check
from kafka_audit.differences.tables import StateFault
from kafka_audit.model.text import counted


@check(code="KA207", severity=Severity.HIGH, parts=("controller", "topics"))
def leader_recovering(view: ClusterView) -> Judgements:
    """A leader from an unclean election has not recovered."""
    total = view.partitions.count.partitions
    fault = next((row for row in view.differences.of(StateFault) if row.kind == "recovering"), None)
    if fault is None:
        yield view.judge("cluster", Status.PASS, total=total)
    elif fault.repeated:
        yield view.judge("cluster", Status.FAIL, count=fault.repeated, total=total, partitions=fault.first)
    else:
        error = f"{counted(fault.partitions, 'partition')} in one sample"
        yield view.unknown("cluster", error, "another audit", total=total)
