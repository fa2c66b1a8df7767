from collections.abc import Iterable
from dataclasses import replace

from kafka_audit.checks import ClusterView, Judgement, Judgements, Severity, Status, check
from kafka_audit.cluster.listeners.endpoints import AdvertisedEndpoint
from kafka_audit.faults.serve_edges import BROKEN, IN_MOTION, WORKS, ServeEdge, ServeEdges, least_served


@check(code="KA301", severity=Severity.HIGH)
def endpoint_unreachable(view: ClusterView) -> Judgements:
    """An advertised endpoint cannot be reached from a client vantage."""
    edges = view.derived(ServeEdges)
    for endpoint in view.advertised:
        to = edges.to(endpoint)
        of_clients = [edge for edge in to if edge.of_clients]
        judgement = endpoint_judgement(view, endpoint, of_clients, edges.reached, of_brokers=bool(to))
        if judgement.status is Status.FAIL and all(map(edges.is_lost, view.endpoints.of(endpoint.broker_id))):
            judgement = replace(judgement, evidence={**judgement.evidence, "nowhere": True})
        yield judgement


def endpoint_judgement(
    view: ClusterView,
    endpoint: AdvertisedEndpoint,
    edges: Iterable[ServeEdge],
    reached: tuple[str, ...] = (),
    *,
    of_brokers: bool = False,
) -> Judgement:
    """Judge an endpoint, advertised or proposed, by the vantages that come the least far; `of_brokers`: none is for clients."""
    evidence = {"broker": endpoint.broker_id, "host": endpoint.host, "port": endpoint.port, "listener": endpoint.listener}
    worst = least_served(edges)
    if not worst and of_brokers:
        return view.not_applicable(endpoint.resource, "brokers use it, and no broker's is reached from there", evidence)
    if not worst:
        return view.unknown(
            endpoint.resource,
            "not probed",
            "a vantage with role client that probes this listener",
            evidence,
            reached=reached or None,
        )
    status = {BROKEN: Status.FAIL, WORKS: Status.PASS}.get(worst[0].state, Status.UNKNOWN)
    layer = worst[0].stop
    return view.judge(
        endpoint.resource,
        status,
        {**evidence, **({} if status is Status.PASS else _why(worst[0]))},
        vantage=tuple(sorted({edge.vantage for edge in worst})),
        via=tuple(sorted({edge.via for edge in worst if edge.via})) or None,
        layer=layer and layer.layer,
        stops=tuple(sorted({edge.ends for edge in worst if edge.ends})) or None,
        cause=worst[0].kind,
        reached=reached or None,
        resolver=layer and layer.resolver,
    )


def _why(edge: ServeEdge) -> dict[str, str | None]:
    """Return why an endpoint is not reached, and for what is unknown also what would show it."""
    layer = edge.stop
    error = layer and layer.error
    if edge.state == BROKEN:
        return {"error": error or "unknown error"}
    name = "no layer" if layer is None else layer.layer
    if edge.state == IN_MOTION:
        return {"error": f"in motion: {name} failed once with {error or 'an unknown error'}", "needs": "another audit"}
    untried = "the probe did not finish" if layer is None else f"{name} was not probed"
    return {"error": error or untried, "needs": (layer and layer.needs) or "another audit"}
