"""In a migration to KRaft, a new controller does not send ZooKeeper brokers what the former one had not sent (KAFKA-16171)."""

from kafka_audit.cluster.releases import releases
from kafka_audit.configuration.definitions import version_numbers
from kafka_audit.faults.fault import Edge, Facts, Observations, fails, fault, works
from kafka_audit.model.tables import Migration

_MENDED = (3, 7)


@fault
def migration_lost_update(facts: Facts, edge: Edge) -> Observations:
    """From Kafka 3.7 on it is no cause; another controller than in the previous snapshot shows it."""
    now = facts.view.migrating
    known = [version_numbers(release) for release in releases(facts.view, edge.target)]
    if known and min(known) >= _MENDED:
        yield works(f"broker {edge.target}", "it runs Kafka 3.7 or later, in which this is fixed")
        return
    before = next((row for row in facts.view.earlier(Migration) if row.kraft_controller_id is not None), None)
    if now is not None and before is not None and before.kraft_controller_epoch != now.kraft_controller_epoch:
        text = f"controller {now.kraft_controller_id} took over from controller {before.kraft_controller_id} in the migration"
        yield fails("changes", text)
