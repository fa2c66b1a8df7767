"""Small requests pass, large ones never arrive: a path with a smaller MTU than its ends believe, and without ICMP."""

from collections.abc import Iterator

from kafka_audit.diagnosis.cause import PACKETS, EdgeObservation, cause, let_in, works
from kafka_audit.diagnosis.edges import CONTROL, FOLLOW, REPLICATE, Edge
from kafka_audit.diagnosis.facts import Facts

_PACKET = 1200  # bytes of a request that any path carries in one packet
_OF_BROKER, _OF_PARTITION = 60, 60  # at most, of an UpdateMetadata request that names no long topics


@cause(
    kind=PACKETS,
    layer=2,
    edges=(CONTROL, REPLICATE, FOLLOW),
    rare=True,
    decided_by="`ping -M do -s 1472 {host}` on {where}",
)
def lost_packets(facts: Facts, edge: Edge) -> Iterator[EdgeObservation]:
    """An update of a small cluster fits in one packet. Nothing else speaks against it: a probe sends next to nothing."""
    yield from let_in(edge)
    count, registered = facts.view.partitions.count, len(facts.view.brokers)
    size = _OF_BROKER * registered + _OF_PARTITION * count.partitions
    if edge.kind == CONTROL and count.partitions and size <= _PACKET:
        what = f"the request with which a controller tells a broker of {registered} brokers and {count.partitions} partitions"
        yield works("size of the cluster", f"{what} fits in one packet")
