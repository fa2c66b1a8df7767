"""KA910."""

from collections.abc import Iterator

from kafka_audit.checks import gate_check
from kafka_audit.checks.migration.common import already_migrated
from kafka_audit.checks.rows import judge, newest, registrations_gap
from kafka_audit.model.finding import Judgement, Severity, Status
from kafka_audit.model.tables import PlannedNode, RegisteredBroker, RegisteredPartition, Snapshot


@gate_check(
    code="KA910",
    severity=Severity.HIGH,
    needs=(RegisteredBroker, RegisteredPartition),
    says={
        Status.FAIL: "Node id {node} is planned for a KRaft controller, and {holder}",
        Status.PASS: "Node id {node}, planned for a KRaft controller, is no broker's",
        Status.UNKNOWN: "Not known: whether planned node ids are free ({error})",
        Status.NOT_APPLICABLE: "No migration to prepare: {reason}",
    },
)
def node_id_taken(snapshot: Snapshot) -> Iterator[Judgement]:
    """A node id that the plan gives to a KRaft controller is already a broker's.

    ## Why it matters
    In KRaft brokers and controllers share one range of ids. A controller with a broker's id cannot be told from it, and the
    broker of that id is refused by the quorum.

    ## Fails when
    A planned id is registered as a broker, or stands in an assignment as one that is away.

    ## Not known when
    No node ids were planned, or ZooKeeper's registrations could not be read. Whether the controllers' ports can be reached is
    seen only once they listen.

    ## Passes only when
    The id is neither registered nor in any assignment. It does not apply in KRaft mode.

    ## What to do
    Give the controller another `node.id` than {node}, by custom 3000 and up, before it is formatted.

    ## References
    KIP-866; Kafka 3.9 documentation, "Provisioning the KRaft controller quorum".
    """
    if none := tuple(already_migrated(snapshot, "KA910")):
        yield from none
        return
    planned = [row.node_id for row in snapshot.of(PlannedNode)]
    if gap := tuple(registrations_gap(snapshot, "KA910")):
        yield from gap
        return
    if not planned:
        words = {"error": "the plan names none", "needs": "the controllers' node ids (--node-ids 3000,3001,3002)"}
        yield judge(snapshot, "KA910", "cluster", Status.UNKNOWN, **words)
    registered = {row.broker_id for row in newest(snapshot, RegisteredBroker)}
    assigned = {broker for row in snapshot.of(RegisteredPartition) for broker in row.replicas}
    for node in sorted(set(planned)):
        holder = "broker {0} has it" if node in registered else "partitions are assigned to a broker {0} that is away"
        taken = node in registered | assigned
        words = {"node": str(node), "holder": holder.format(node)}
        yield judge(snapshot, "KA910", f"node/{node}", Status.FAIL if taken else Status.PASS, **words)
