from kafka_audit.checks import ClusterView, Judgements, Severity, Status, gate_check
from kafka_audit.checks.migration.common import no_upgrade, planned_upgrade, target_minor
from kafka_audit.configuration.behaviour import behaviour
from kafka_audit.configuration.definitions import version_numbers
from kafka_audit.model.tables import BrokerApi

_OLDEST = (2, 1)
_FETCH, _FETCH_OF_4 = 1, 4
_METRICS = "kafka.network:type=RequestMetrics,name=DeprecatedRequestsPerSec (Kafka 3.7 and later; before it, RequestsPerSec)"


@gate_check(code="KA915", severity=Severity.HIGH)
def clients_below_target(view: ClusterView) -> Judgements:
    """Clients connect that are too old for the new release."""
    planned, minor = planned_upgrade(view), target_minor(planned_upgrade(view))
    if planned is None or minor is None:
        yield from no_upgrade(view)
        return
    if not behaviour("old_clients_refused").holds(minor):
        yield view.not_applicable("cluster", f"Kafka {planned.version} accepts the clients that the present release accepts")
        return
    facts = {"target": planned.version, "oldest": planned.oldest_client or "not named"}
    fetches = {row.broker_id: row.min_version for row in view.of(BrokerApi) if row.api_key == _FETCH and row.broker_id >= 0}
    if fetches and all(oldest >= _FETCH_OF_4 for oldest in fetches.values()):
        yield view.judge("cluster", Status.PASS, facts, why="every broker that answered runs Kafka 4 already")
    elif planned.oldest_client is None:
        error = "the plan does not name the oldest client, and requests of Kafka do not show it"
        needs = f"{_METRICS} at zero on every broker for as long as the rarest job needs; then `--oldest-client 2.1`"
        yield view.unknown("cluster", error, needs, facts)
    elif version_numbers(planned.oldest_client)[:2] < _OLDEST:
        yield view.judge("cluster", Status.FAIL, facts)
    else:
        yield view.judge("cluster", Status.PASS, facts, why=f"the plan names {planned.oldest_client} as the oldest")
