"""Small requests pass, large ones never arrive: a path with a smaller MTU than its ends believe, and without ICMP."""

from collections.abc import Iterator

from kafka_audit.diagnosis.cause import PACKETS, EdgeObservation, cause, let_in, works
from kafka_audit.diagnosis.edges import CONTROL, FOLLOW, REPLICATE, Edge
from kafka_audit.diagnosis.facts import Facts

_PACKET = 1300  # bytes of a request that any path carries in one packet, tunnels included
_OF_BROKER, _OF_PARTITION = 50, 48  # of an UpdateMetadata request, with three replicas and names of usual length


@cause(
    kind=PACKETS,
    layer=2,
    edges=(CONTROL, REPLICATE, FOLLOW),
    rare=True,
    decided_by="`ping -M do -s 1472 {host}` on {where}",
)
def lost_packets(facts: Facts, edge: Edge) -> Iterator[EdgeObservation]:
    """A controller's first update of a small cluster fits in one packet, and so does one about a broker that joins later.

    When a broker registers, the controller sends the others an update without partitions (`KafkaController.onBrokerStartup`).
    A broker that lists nobody did not get that one either. Probes say nothing: they send next to nothing.
    """
    yield from let_in(edge)
    if edge.kind != CONTROL or edge.effect.state != "missing":
        return
    count, registered = facts.view.partitions.count, facts.view.brokers
    size = _OF_BROKER * len(registered) + _OF_PARTITION * count.partitions
    if count.partitions and size <= _PACKET:
        what = (
            f"the request with which a controller tells a broker of {len(registered)} brokers and {count.partitions} partitions"
        )
        yield works("size of the cluster", f"{what} fits in one packet")
    own = registered.get(edge.target)
    since = None if own is None else own.created
    empty = any(view.brokers_listed == 0 for view in facts.view.views_of(edge.target))
    later = [
        broker for broker, row in registered.items() if since is not None and row.created is not None and row.created > since
    ]
    if empty and later:
        text = f"broker {min(later)} registered later, and the small update about it did not arrive either"
        yield works("zookeeper", text)
