"""Brokers that do not serve whom they would lead: what the paths that were measured show before partitions are."""

from collections.abc import Iterator, Mapping

from kafka_audit.cluster.view import ClusterView
from kafka_audit.differences.found import Differences
from kafka_audit.differences.tables import DIFFERENCES, UnreachedBroker
from kafka_audit.faults.facts import facts_of
from kafka_audit.faults.serve_edges import BROKEN, WORKS, ServeEdges
from kafka_audit.model.tables import Probe, Row, Snapshot


def unreached_rows(snapshot: Snapshot) -> tuple[UnreachedBroker, ...]:
    """Return the brokers that clients or other brokers do not reach, as the difference tables take them."""
    if all(row.outcome == "ok" for row in snapshot.of(Probe)):
        return ()
    nothing: dict[type[Row], tuple[Row, ...]] = dict.fromkeys(DIFFERENCES, ())
    return tuple(ClusterView(snapshot, None, Differences(rows=nothing)).derived(unreached).values())


def unreached(view: ClusterView) -> Mapping[int, UnreachedBroker]:
    """Return them by id."""
    return {row.broker_id: row for row in _rows(view)}


def _rows(view: ClusterView) -> Iterator[UnreachedBroker]:
    """Yield them: a vantage that reaches no other broker on a listener may be in another network, and says nothing."""
    facts, edges = facts_of(view), view.derived(ServeEdges).of_clients
    reached = {(edge.vantage, edge.endpoint.listener) for edge in edges if edge.state == WORKS}
    closed = {
        edge.endpoint.broker_id for edge in edges if edge.state == BROKEN and (edge.vantage, edge.endpoint.listener) in reached
    }
    for broker in sorted({*view.brokers, *closed}):
        paths = facts.used_paths(broker)
        peers = facts.at_their_brokers(paths.closed) if paths.whole else ()
        sources = tuple(source for source in peers if source != broker)
        if sources or broker in closed:
            yield UnreachedBroker(broker_id=broker, by_clients=broker in closed, sources=sources)
