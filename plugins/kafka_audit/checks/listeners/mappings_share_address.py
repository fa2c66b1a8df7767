"""KA315."""

from collections import defaultdict
from collections.abc import Iterator

from kafka_audit.checks import check
from kafka_audit.checks.gaps import no_reach
from kafka_audit.cluster.inter_broker import TLS
from kafka_audit.cluster.view import ClusterView
from kafka_audit.cluster.worker_probes import WorkerProbe
from kafka_audit.model.finding import Judgement, Severity, Status
from kafka_audit.model.tables import Probe
from kafka_audit.model.text import listing


@check(
    code="KA315",
    severity=Severity.HIGH,
    needs=(Probe,),
    says={
        Status.FAIL: "Broker {broker} shares its way in with {others}: `reach` leads {count} advertised addresses to {via}",
        Status.PASS: "{address} ({listener} of broker {broker}) has a way in of its own, or is told apart there by its name",
        Status.UNKNOWN: "Cannot determine whether `reach` leads to {who} alone ({error})",
        Status.NOT_APPLICABLE: "No way in is declared: {reason}",
    },
)
def mappings_share_address(view: ClusterView) -> Iterator[Judgement]:
    """Two advertised addresses are mapped to one.

    ## Why it matters
    Whoever forwards bytes sees an address and a port. Two brokers behind the same one are one broker: a request for the other
    ends in NOT_LEADER_OR_FOLLOWER, and an audit through it takes one broker's view for two.

    ## Fails when
    `reach` maps two advertised addresses to the same address, and the socket does not tell TLS names apart: the listener has no
    TLS, or another broker than the one meant answers there.

    ## Not known when
    No endpoint is known, or it is a TLS listener and who answers was not told. It does not apply without `reach`.

    ## Passes only when
    The mapping is the only one to that address, or, with TLS, the right broker says its own id: a proxy that reads the name in
    the handshake (SNI) may serve all brokers at one port.

    ## What to do
    Give each broker a port of its own at the proxy, and correct the entry of broker {broker} in `reach`: {address} and {others}
    both lead to {via}. `kafka-configs.sh --bootstrap-server {via} --describe --entity-type brokers --entity-name {broker}` tells
    whose it is.

    ## References
    KA111 says who answers; KA304 is the same slip in `advertised.listeners`.
    """
    found = view.worker_probes
    yield from no_reach(view, "KA315", found)
    by_target: dict[str, list[WorkerProbe]] = defaultdict(list)
    for way in found:
        if way.via is not None:
            by_target[way.via.lower()].append(way)
    for sharing in by_target.values():
        for way in sharing:
            yield _judged(view, way, [one for one in sharing if one is not way])


def _judged(view: ClusterView, way: WorkerProbe, others: list[WorkerProbe]) -> Judgement:
    told = {"broker": way.broker_id, "listener": way.listener, "address": way.address, "via": way.via or ""}
    told |= {"count": len(others) + 1, "others": listing(f"{one.address} (broker {one.broker_id})" for one in others)}
    if not others or (way.protocol in TLS and way.answered_by == way.broker_id):
        return view.judge("KA315", way.resource, Status.PASS, told)
    if way.protocol in TLS and way.answered_by is None:
        error, needs = f"it shares {way.via} with others, and the socket did not tell", "DescribeConfigs on Cluster"
        return view.judge("KA315", way.resource, Status.UNKNOWN, told, who=way.address, error=error, needs=needs)
    return view.judge("KA315", way.resource, Status.FAIL, told)
