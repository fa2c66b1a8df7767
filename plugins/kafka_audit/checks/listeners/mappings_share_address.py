"""KA315."""

from collections import defaultdict
from collections.abc import Iterator

from kafka_audit.checks import check
from kafka_audit.checks.gaps import no_reach
from kafka_audit.cluster.listeners.inter_broker import TLS
from kafka_audit.cluster.view import AdvertisedEndpoint, ClusterView
from kafka_audit.compare.addresses import canonical_text
from kafka_audit.diagnosis.serve_edges import ServeEdge, ServeEdges
from kafka_audit.model.finding import Judgement, Severity, Status
from kafka_audit.model.text import listing


@check(
    code="KA315",
    severity=Severity.HIGH,
    says={
        Status.FAIL: "Broker {broker} shares its mapped address with others: {others}; `reach` maps {count} advertised addresses "
        "to {via}",
        Status.PASS: "{address} ({listener} of broker {broker}) has its own mapped address, or TLS selects it by name",
        Status.UNKNOWN: "Cannot determine whether `reach` maps {who} to a separate address ({error})",
        Status.NOT_APPLICABLE: "No mapping is configured: {reason}",
    },
)
def mappings_share_address(view: ClusterView) -> Iterator[Judgement]:
    """`reach` maps two advertised addresses to one address.

    ## Why it matters
    A port forward only sees an address and a port. Two brokers behind the same address are one broker: a request for the other
    broker fails with NOT_LEADER_OR_FOLLOWER, and the audit reads one broker's view twice.

    ## Fails when
    `reach` maps two advertised addresses to the same address, and the address does not select by TLS name: the listener has no
    TLS, or a broker other than the intended one answers.

    ## Not known when
    No endpoint is known, or the listener uses TLS and the broker that answers is unknown. The check does not apply without
    `reach`.

    ## Passes only when
    The mapping is the only one to that address. Or, with TLS, the correct broker reports its id: a proxy that reads the name in
    the handshake (SNI) can serve all brokers on one port.

    ## What to do
    Give each broker its own port at the proxy, and correct the entry of broker {broker} in `reach`: {address} and {others} are
    both mapped to {via}. To see which broker answers, run `kafka-configs.sh --bootstrap-server {via} --describe --entity-type
    brokers --entity-name {broker}`.

    ## References
    KA111 reports which broker answers; KA304 is the same fault in `advertised.listeners`.
    """
    edges = view.derived(ServeEdges).from_worker
    yield from no_reach(view, "KA315", edges)
    by_target: dict[str, list[ServeEdge]] = defaultdict(list)
    for edge in edges:
        if edge.via is not None:
            by_target[canonical_text(edge.via)].append(edge)
    for sharing in by_target.values():
        for edge in sharing:
            yield _judged(view, edge, [other.endpoint for other in sharing if other is not edge])


def _judged(view: ClusterView, edge: ServeEdge, others: list[AdvertisedEndpoint]) -> Judgement:
    own = edge.endpoint
    evidence = {"broker": own.broker_id, "listener": own.listener, "address": own.address, "via": edge.via or ""}
    evidence |= {"count": len(others) + 1, "others": listing(f"{other.address} (broker {other.broker_id})" for other in others)}
    evidence["endpoints"] = tuple({"broker": other.broker_id, "address": other.address} for other in others)
    identity, encrypted = view.identities.get((own.broker_id, own.listener)), own.protocol in TLS
    answered_by = identity and identity.answered_by
    if not others or (encrypted and answered_by == own.broker_id):
        return view.judge("KA315", own.resource, Status.PASS, evidence)
    if encrypted and answered_by is None:
        error = f"it shares {edge.via} with others, and the endpoint did not report a broker id"
        needs = "DescribeConfigs on Cluster"
        return view.judge("KA315", own.resource, Status.UNKNOWN, evidence, who=own.address, error=error, needs=needs)
    return view.judge("KA315", own.resource, Status.FAIL, evidence)
