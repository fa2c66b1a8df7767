"""In a migration to KRaft, a new controller does not send ZooKeeper brokers what the former one had not sent (KAFKA-16171)."""

from collections.abc import Iterator

from kafka_audit.cluster.releases import releases
from kafka_audit.cluster.view import ClusterView
from kafka_audit.configuration.definitions import version_numbers
from kafka_audit.faults.cause import MIGRATION, EdgeObservation, cause, fails, works
from kafka_audit.faults.edges import CONTROL, Edge
from kafka_audit.faults.facts import Facts
from kafka_audit.model.tables import Migration

_MENDED = (3, 7)


def _is_migrating(view: ClusterView) -> bool:
    return view.migrating is not None


@cause(
    kind=MIGRATION,
    layer=6,
    edges=(CONTROL,),
    rare=True,
    applies=_is_migrating,
    remedy="Restart broker {target}: it then receives everything. Upgrade the KRaft controllers to 3.6.2, 3.7 or later before "
    "one of them fails again (KAFKA-15010, KAFKA-16171).",
    decided_by="`SYNC_KRAFT_TO_ZK` and `UpdateMetadata` in the log of {sources}, or a restart of broker {target}",
)
def migration_lost_update(facts: Facts, edge: Edge) -> Iterator[EdgeObservation]:
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
