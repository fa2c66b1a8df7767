from kafka_audit.checks import ClusterView, Judgements, Severity, Status, gate_check
from kafka_audit.model.tables import PlannedNode


@gate_check(code="KA910", severity=Severity.HIGH, mode="zookeeper")
def node_id_taken(view: ClusterView) -> Judgements:
    """A node id that is planned for a KRaft controller belongs to a broker."""
    gap = view.gap("brokers")
    if gap is not None and gap.whole:
        yield view.judge("cluster", gap.status, who="any broker", error=gap.error, needs=gap.needs)
        return
    planned = {row.node_id for row in view.of(PlannedNode)}
    if not planned:
        yield view.unknown("cluster", "the plan contains no node ids", "the controllers' node ids (--node-ids 3000,3001,3002)")
    for node in sorted(planned):
        resource = f"node/{node}"
        holder = (
            f"broker {node} has it"
            if node in view.brokers
            else f"partitions are assigned to broker {node}, which is not registered"
        )
        if node in view.brokers or node in view.partitions.assigned:
            yield view.judge(resource, Status.FAIL, node=node, holder=holder)
        elif unread := view.gap("topics"):
            yield view.unknown(resource, unread.error, unread.needs, node=node)
        else:
            yield view.judge(resource, Status.PASS, node=node)
