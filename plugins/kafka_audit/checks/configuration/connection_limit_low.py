"""KA718."""

from collections.abc import Iterator, Mapping

from kafka_audit.checks import check
from kafka_audit.checks.alike_brokers import one_finding
from kafka_audit.checks.configuration.effective import Effective, Value, unknown_judgement, unread_judgements
from kafka_audit.cluster.view import ClusterView
from kafka_audit.compare.hosts import canonical_host
from kafka_audit.configuration.definitions.values import integer
from kafka_audit.model.advertised_listeners import CONTROLLERS, INSTEAD, KEY, entries
from kafka_audit.model.finding import Judgement, Severity, Status
from kafka_audit.model.tables import BrokerConfig, BrokerProperty, DynamicConfig, RegisteredBroker, RegisteredEndpoint
from kafka_audit.model.text import brokers, counted

_LIMIT, _OVERRIDES, _FETCHERS = "max.connections.per.ip", "max.connections.per.ip.overrides", "num.replica.fetchers"


@check(
    code="KA718",
    severity=Severity.HIGH,
    needs=(BrokerConfig, BrokerProperty, DynamicConfig, RegisteredBroker, RegisteredEndpoint),
    by_files=True,
    says={
        Status.FAIL: "Limit of {limit} from {host} on {who} ({key}); {sources} there open {count} for replication",
        Status.PASS: "Broker {broker} accepts enough connections from each address for the other brokers",
        Status.UNKNOWN: "Cannot determine whether {who} accepts enough connections of the other brokers ({error})",
    },
)
def connection_limit_low(view: ClusterView) -> Iterator[Judgement]:
    """A broker accepts fewer connections from one address than the brokers at that address open.

    ## Why it matters
    The limit counts connections of brokers, too: the inter-broker listener is not exempt. Above it the broker closes new
    connections at once, so some followers get no records, leave the ISR and never return, while others work.

    ## Fails when
    `max.connections.per.ip`, or `max.connections.per.ip.overrides` for that host, is below what the other brokers open from one
    host for replication: `num.replica.fetchers` of each broker there. Brokers with different advertised hosts count as different
    addresses. Connections of the controller and of clients on that host come on top of it and are not counted.

    ## Not known when
    The settings of a broker were not read, or contain a placeholder, or the limit is below what all other brokers open, and it is
    unknown which of them share a host. Brokers behind one address translation have one address that
    settings do not show.

    ## Passes only when
    The limit is not set, or not below that number for any host.

    ## What to do
    Raise {key} of {who} above {count}, with room for the controller and for clients on {host}. Both settings are dynamic:
    `kafka-configs.sh --bootstrap-server BROKER:9092 --alter --entity-type brokers --entity-name ID --add-config {key}=VALUE`.

    ## References
    `kafka.network.ConnectionQuotas`; `kafka.server.AbstractFetcherManager`; Kafka documentation, `max.connections.per.ip`.
    """
    effective = Effective(view)
    yield from unread_judgements(effective, "KA718")
    yield from one_finding(view, "KA718", _judged(effective))


def _judged(effective: Effective) -> Iterator[Judgement]:
    view = effective.view
    read = [broker for broker in effective.brokers if effective.was_read(broker)]
    fetchers = {broker: effective.get(broker, _FETCHERS) for broker in read}
    hosts = {broker: _hosts(view, broker) for broker in read}
    for broker in read:
        limit, overrides = effective.get(broker, _LIMIT), effective.get(broker, _OVERRIDES)
        hidden = [value.key for value in (limit, overrides, *fetchers.values()) if not value.known]
        if hidden and (limit.explicit or overrides.explicit or not (limit.known and overrides.known)):
            yield unknown_judgement(effective, "KA718", broker, f"{hidden[0]} is unknown")
            continue
        by_host = _by_host(overrides.text or "")
        fault = _fault(broker, limit, by_host, fetchers, hosts)
        evidence: dict[str, object] = {"broker": broker, "who": f"broker {broker}"}
        others = [other for other in read if other != broker]
        nowhere = [other for other in others if not hosts[other]]
        lowest = min([limit.number or 0, *by_host.values()])
        if fault is None and nowhere and lowest < sum(fetchers[other].number or 1 for other in others):
            facts = {"error": f"the host of {brokers(nowhere)} is unknown", "needs": "advertised.listeners of every broker"}
            yield view.judge("KA718", f"broker/{broker}", Status.UNKNOWN, evidence | facts)
            continue
        yield view.judge("KA718", f"broker/{broker}", Status.FAIL if fault else Status.PASS, evidence | (fault or {}))


def _fault(
    broker: int,
    limit: Value,
    overrides: Mapping[str, int],
    fetchers: Mapping[int, Value],
    hosts: Mapping[int, frozenset[str]],
) -> dict[str, object] | None:
    """Return the host from which the other brokers open more connections than are accepted, where there is one."""
    others = [other for other in fetchers if other != broker]
    for host in sorted({host for other in others for host in hosts[other] or {f"the host of broker {other}"}}):
        sources = [other for other in others if host in (hosts[other] or {f"the host of broker {other}"})]
        count = sum(fetchers[other].number or 1 for other in sources)
        allowed = overrides.get(host, limit.number)
        if allowed is not None and allowed < count:
            key = _OVERRIDES if host in overrides else _LIMIT
            facts: dict[str, object] = {"limit": counted(allowed, "connection"), "key": key, "host": host, "count": count}
            return facts | {"sources": brokers(sources), "source_brokers": tuple(sources)}
    return None


def _hosts(view: ClusterView, broker: int) -> frozenset[str]:
    """Return the hosts that a broker advertises, as registered, else by its settings."""
    settings = {key: view.settings.get(broker, key).value for key in (KEY, INSTEAD, CONTROLLERS)}
    listed = [*view.inter_broker.endpoints.get(broker, {}).values()] or [*entries(settings)]
    return frozenset(canonical_host(endpoint.host) for endpoint in listed if endpoint.host)


def _by_host(overrides: str) -> Mapping[str, int]:
    """Return limits by host, as `max.connections.per.ip.overrides` has them."""
    pairs = (part.strip().rpartition(":") for part in overrides.split(","))
    found = ((host, integer(count.strip())) for host, _, count in pairs)
    return {canonical_host(host): count for host, count in found if host and count is not None}
