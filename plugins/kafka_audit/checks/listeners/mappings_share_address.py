from collections import defaultdict

from kafka_audit.checks import ClusterView, Judgement, Judgements, Severity, Status, check
from kafka_audit.checks.gaps import no_reach
from kafka_audit.cluster.listeners.endpoints import AdvertisedEndpoint
from kafka_audit.cluster.listeners.inter_broker import TLS
from kafka_audit.compare.addresses import canonical_text
from kafka_audit.faults.serve_edges import ServeEdge, ServeEdges
from kafka_audit.model.text import listing


@check(code="KA315", severity=Severity.HIGH)
def mappings_share_address(view: ClusterView) -> Judgements:
    """`reach` maps two advertised addresses to one address."""
    edges = view.derived(ServeEdges).from_worker
    yield from no_reach(view, edges)
    by_target: dict[str, list[ServeEdge]] = defaultdict(list)
    for edge in edges:
        if edge.via is not None:
            by_target[canonical_text(edge.via)].append(edge)
    for sharing in by_target.values():
        for edge in sharing:
            yield _of_mapping(view, edge, [other.endpoint for other in sharing if other is not edge])


def _of_mapping(view: ClusterView, edge: ServeEdge, others: list[AdvertisedEndpoint]) -> Judgement:
    own = edge.endpoint
    evidence = {"broker": own.broker_id, "listener": own.listener, "address": own.address, "via": edge.via or ""}
    evidence |= {"count": len(others) + 1, "others": listing(f"{other.address} (broker {other.broker_id})" for other in others)}
    evidence["endpoints"] = tuple({"broker": other.broker_id, "address": other.address} for other in others)
    identity, encrypted = view.identities.get((own.broker_id, own.listener)), own.protocol in TLS
    answered_by = identity and identity.answered_by
    if not others or (encrypted and answered_by == own.broker_id):
        return view.judge(own.resource, Status.PASS, evidence)
    if encrypted and answered_by is None:
        error = f"it shares {edge.via} with others, and the endpoint did not report a broker id"
        return view.unknown(own.resource, error, "DescribeConfigs on Cluster", evidence, who=own.address)
    return view.judge(own.resource, Status.FAIL, evidence)
