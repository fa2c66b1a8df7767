"""Small requests pass, large ones never arrive: a path with a smaller MTU than its ends believe, and without ICMP."""

from kafka_audit.faults.edges import CONTROL, FOLLOW
from kafka_audit.faults.fault import Edge, Facts, Observations, fails, fault, unanswered, works
from kafka_audit.model.tables import ControllerProbeFromBroker

_PACKET = 1300  # bytes of a request that any path carries in one packet, tunnels included
_LARGE = 4096  # bytes that no packet of an Ethernet holds
LOST = "a large request gets no answer, a small one does"
_OF_BROKER, _OF_PARTITION = 50, 48  # of an UpdateMetadata request, with three replicas and names of usual length


@fault
def lost_packets(facts: Facts, edge: Edge) -> Observations:
    """A controller's first update of a small cluster fits in one packet, and so does one about a broker that joins later.

    When a broker registers, the controller sends the others an update without partitions (`KafkaController.onBrokerStartup`).
    A broker that lists no broker did not get that one either. A probe asks for little first, and then sends and asks for more
    than a packet carries. A follower fetches little by little and gets much, so there the answer counts.
    """
    yield from _to_controllers(facts, edge) if edge.kind == FOLLOW else _to_broker(facts, edge)
    if edge.kind != CONTROL or edge.effect.state != "missing":
        return
    count, registered = facts.view.partitions.count, facts.view.brokers
    size = _OF_BROKER * len(registered) + _OF_PARTITION * count.partitions
    if count.partitions and size <= _PACKET:
        what = f"the update in which a controller sends {len(registered)} brokers and {count.partitions} partitions"
        yield works("size of the cluster", f"{what} fits in one packet")
    own = registered.get(edge.target)
    since = None if own is None else own.created
    answered = facts.edges.own_view(edge.target)
    empty = answered is not None and 0 in answered.listed
    later = [
        broker for broker, row in registered.items() if since is not None and row.created is not None and row.created > since
    ]
    if empty and later:
        text = f"broker {min(later)} registered later, and the small update about it did not arrive either"
        yield works("zookeeper", text)


def _to_broker(facts: Facts, edge: Edge) -> Observations:
    """Yield what probes from the sources' own hosts got for a large request."""
    listener = "" if edge.listener is None else edge.listener.name
    probes = [probe for probe in facts.view.probes_of(edge.target, listener) if probe.role == "broker"]
    own = {probe.from_broker: probe for probe in probes if probe.from_broker in edge.sources}
    for source in sorted({*facts.paths(edge.target, listener).losing} & {*edge.sources}):
        yield fails(f"probe from broker {source}'s host", LOST, direct=True, sources=(source,))
    if not edge.sources or len(own) < len(edge.sources):
        return
    if all(map(unanswered, own.values())):
        yield works(f"probe from the host of {edge.who}", "a small request gets no answer either", direct=True)
    carried = [(probe.sent if edge.kind == CONTROL else probe.received) or 0 for probe in own.values()]
    if min(carried) >= _LARGE:
        text = f"a request of {_LARGE} bytes arrives" if edge.kind == CONTROL else f"an answer of {_LARGE} bytes arrives"
        yield works(f"probe from the host of {edge.who}", text, direct=True)


def _to_controllers(facts: Facts, edge: Edge) -> Observations:
    """Yield whether all controllers that a broker's host reaches leave a large request without an answer, in two samples."""
    now, before = (
        {row.address: row for row in rows if row.from_broker == edge.target}
        for rows in (facts.view.newest(ControllerProbeFromBroker), facts.view.before(ControllerProbeFromBroker))
    )
    rows = [*now.values(), *(before[address] for address in now if address in before)]
    if now and len(rows) == 2 * len(now) and all((row.layer, row.outcome) == ("packets", "failed") for row in rows):
        yield fails(f"probe from broker {edge.target}'s host", LOST, direct=True)
