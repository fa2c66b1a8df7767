"""KA915."""

from collections.abc import Iterator

from kafka_audit.checks import gate_check
from kafka_audit.checks.migration.common import KRAFT_ONLY, no_upgrade, planned_upgrade, target_minor
from kafka_audit.cluster.view import ClusterView
from kafka_audit.configuration.definitions import version_numbers
from kafka_audit.model.finding import Judgement, Severity, Status
from kafka_audit.model.tables import BrokerApi

_OLDEST = (2, 1)
_FETCH, _FETCH_OF_4 = 1, 4
_METRICS = "kafka.network:type=RequestMetrics,name=DeprecatedRequestsPerSec (Kafka 3.7 and later; before it, RequestsPerSec)"


@gate_check(
    code="KA915",
    severity=Severity.HIGH,
    says={
        Status.FAIL: "Clients of Kafka {oldest} connect, and Kafka {target} refuses clients before 2.1 (KIP-896)",
        Status.PASS: "Kafka {target} refuses no client that the present release accepts and that connects: {why}",
        Status.UNKNOWN: "Cannot determine whether clients before Kafka 2.1 connect, which Kafka {target} refuses ({error})",
        Status.NOT_APPLICABLE: "No clients to lose: {reason}",
    },
)
def clients_below_target(view: ClusterView) -> Iterator[Judgement]:
    """Clients connect that are too old for the new release.

    ## Why it matters
    Kafka 4.0 removed the versions of requests that only clients before Kafka 2.1 need. Such a client, and a library that was
    written for it, gets UNSUPPORTED_VERSION or a closed connection from the first upgraded broker on, and no other broker
    replaces that one for the partitions that it leads.

    ## Fails when
    The new release is 4.0 or later, a broker of a release before it still accepts old versions, and the plan names an oldest
    client before 2.1.

    ## Not known when
    The plan names no known release or no oldest client (`--oldest-client`), or no broker answered ApiVersions. No request of
    Kafka's protocol shows the clients' versions; the metrics of the brokers do.

    ## Passes only when
    The plan names an oldest client of 2.1 or later, or every broker runs Kafka 4.0 or later already. For releases before 4.0 the
    check does not apply.

    ## What to do
    Upgrade the clients of Kafka {oldest} first, and their libraries: librdkafka 0.11.6 and kafka-python 2.0 know the newer
    versions. The broker's metric `kafka.network:type=RequestMetrics,name=DeprecatedRequestsPerSec` has a client's name and
    version. The upgrade can begin when it stays at zero on every broker for as long as the rarest job needs.

    ## References
    KIP-896; KIP-1124; Kafka 4.0 documentation, "Upgrading Clients".
    """
    planned, minor = planned_upgrade(view), target_minor(planned_upgrade(view))
    if planned is None or minor is None:
        yield from no_upgrade(view, "KA915")
        return
    if minor < KRAFT_ONLY:
        reason = f"Kafka {planned.version} accepts the clients that the present release accepts"
        yield view.judge("KA915", "cluster", Status.NOT_APPLICABLE, reason=reason)
        return
    facts = {"target": planned.version, "oldest": planned.oldest_client or "not named"}
    fetches = {row.broker_id: row.min_version for row in view.of(BrokerApi) if row.api_key == _FETCH and row.broker_id >= 0}
    if fetches and all(oldest >= _FETCH_OF_4 for oldest in fetches.values()):
        yield view.judge("KA915", "cluster", Status.PASS, facts, why="every broker that answered runs Kafka 4 already")
    elif planned.oldest_client is None:
        error = "the plan does not name the oldest client, and requests of Kafka do not show it"
        needs = f"{_METRICS} at zero on every broker for as long as the rarest job needs; then `--oldest-client 2.1`"
        yield view.judge("KA915", "cluster", Status.UNKNOWN, facts, error=error, needs=needs)
    elif version_numbers(planned.oldest_client)[:2] < _OLDEST:
        yield view.judge("KA915", "cluster", Status.FAIL, facts)
    else:
        yield view.judge("KA915", "cluster", Status.PASS, facts, why=f"the plan names {planned.oldest_client} as the oldest")
