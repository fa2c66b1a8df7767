from kafka_audit.checks import ClusterView, Judgements, Severity, Status, gate_check
from kafka_audit.model.tables import Verdict
from kafka_audit.model.text import counted, listing

_CODES = {
    "KA101": "stale leaders in a broker's view",
    "KA109": "topic ids that differ",
    "KA601": "partitions without a leader",
    "KA602": "partitions under their minimum of in-sync replicas",
}


@gate_check(code="KA905", severity=Severity.HIGH, mode="zookeeper")
def fault_to_repair_first(view: ClusterView) -> Judgements:
    """The audit of the same snapshot finds stale views, different topic ids, or offline or nearly offline partitions."""
    for code, fault in _CODES.items():
        verdicts = [row for row in view.of(Verdict) if row.code == code]
        failed = [row.resource for row in verdicts if row.status == Status.FAIL]
        unknown = next((row for row in verdicts if row.status == Status.UNKNOWN), None)
        evidence = {"check": code, "what": fault, "count": counted(len(failed), "resource"), "first": listing(failed[:1])}
        if failed:
            yield view.judge(f"check/{code}", Status.FAIL, evidence)
        elif unknown is not None or not verdicts:
            error = (unknown.error if unknown else None) or "the check did not run"
            needs = (unknown.needs if unknown else None) or "an audit of this snapshot"
            yield view.unknown(f"check/{code}", error, needs, evidence)
        else:
            yield view.judge(f"check/{code}", Status.PASS, evidence)
