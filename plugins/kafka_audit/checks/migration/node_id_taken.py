"""KA910."""

from collections.abc import Iterator

from kafka_audit.checks import gate_check
from kafka_audit.checks.migration.common import already_migrated
from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.finding import Judgement, Severity, Status
from kafka_audit.model.tables import PlannedNode


@gate_check(
    code="KA910",
    severity=Severity.HIGH,
    says={
        Status.FAIL: "Node id {node} is planned for a KRaft controller, but {holder}",
        Status.PASS: "Node id {node}, planned for a KRaft controller, is not used by a broker",
        Status.UNKNOWN: "Cannot determine whether planned node ids are free ({error})",
        Status.NOT_APPLICABLE: "No migration to prepare: {reason}",
    },
)
def node_id_taken(view: ClusterView) -> Iterator[Judgement]:
    """A node id that is planned for a KRaft controller belongs to a broker.

    ## Why it matters
    In KRaft, brokers and controllers share one range of ids. A controller with a broker's id cannot be distinguished from it,
    and the quorum rejects the broker with that id.

    ## Fails when
    A planned id is registered as a broker, or an assignment contains it as a missing broker.

    ## Not known when
    No node ids were planned, or ZooKeeper's registrations or topics could not be read. Whether the controllers' ports are
    reachable is known only when they listen.

    ## Passes only when
    The id is not registered, and no assignment contains it. The check does not apply in KRaft mode.

    ## What to do
    Give the controller a `node.id` other than {node}, by convention 3000 and above, before it is formatted.

    ## References
    KIP-866; Kafka 3.9 documentation, "Provisioning the KRaft controller quorum".
    """
    if none := tuple(already_migrated(view, "KA910")):
        yield from none
        return
    gap = view.gap("brokers")
    if gap is not None and gap.whole:
        yield view.judge("KA910", "cluster", gap.status, who="any broker", error=gap.error, needs=gap.needs)
        return
    planned = {row.node_id for row in view.of(PlannedNode)}
    if not planned:
        evidence = {"error": "the plan contains no node ids", "needs": "the controllers' node ids (--node-ids 3000,3001,3002)"}
        yield view.judge("KA910", "cluster", Status.UNKNOWN, evidence)
    for node in sorted(planned):
        resource = f"node/{node}"
        holder = (
            f"broker {node} has it"
            if node in view.brokers
            else f"partitions are assigned to broker {node}, which is not registered"
        )
        if node in view.brokers or node in view.partitions.assigned:
            yield view.judge("KA910", resource, Status.FAIL, node=node, holder=holder)
        elif unread := view.gap("topics"):
            yield view.judge("KA910", resource, Status.UNKNOWN, node=node, error=unread.error, needs=unread.needs)
        else:
            yield view.judge("KA910", resource, Status.PASS, node=node)
