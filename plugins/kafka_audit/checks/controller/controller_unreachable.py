from kafka_audit.checks import ClusterView, Judgements, Severity, Status, check
from kafka_audit.checks.gaps import ONCE
from kafka_audit.faults.controller_paths import controller_paths
from kafka_audit.model.text import clean


@check(code="KA211", severity=Severity.HIGH)
def controller_unreachable(view: ClusterView) -> Judgements:
    """The address of a KRaft controller does not answer."""
    paths = [path for path in view.derived(controller_paths) if path.is_listed]
    if not paths:
        yield view.not_applicable("cluster", "the cluster file names no controllers")
    for path in paths:
        evidence = {"address": clean(path.address), "layer": path.layer, "error": clean(path.error)}
        if path.state == "open":
            node = "" if path.node_id is None else f" as node {path.node_id}"
            yield view.judge(f"controller/{path.address}", Status.PASS, evidence, node=node)
        elif path.state == "closed":
            yield view.judge(f"controller/{path.address}", Status.FAIL, evidence)
        else:
            unknown = {"needs": path.needs or "another audit"} if path.state == "unknown" else ONCE
            yield view.judge(f"controller/{path.address}", Status.UNKNOWN, {**evidence, **unknown})
