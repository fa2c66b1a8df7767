"""KA301."""

from collections.abc import Iterable, Iterator

from kafka_audit.checks import check
from kafka_audit.cluster.view import AdvertisedEndpoint, ClusterView
from kafka_audit.diagnosis.serve_edges import BROKEN, IN_MOTION, WORKS, ServeEdge, ServeEdges, least_served
from kafka_audit.model.finding import Judgement, Severity, Status


@check(
    code="KA301",
    severity=Severity.HIGH,
    says={
        Status.FAIL: "Clients at {vantage} cannot reach broker {broker} at {host}:{port} ({listener}): {stops}; advertised "
        "endpoints reached: {reached}",
        Status.PASS: "{host}:{port} ({listener} of broker {broker}) is reachable from {vantage}",
        Status.NOT_APPLICABLE: "{host}:{port} ({listener} of broker {broker}) is not for clients: {reason}",
        Status.UNKNOWN: "Cannot determine whether clients reach broker {broker} at {host}:{port} ({listener}): {error}",
    },
)
def endpoint_unreachable(view: ClusterView) -> Iterator[Judgement]:
    """An advertised endpoint cannot be reached from a client vantage.

    ## Why it matters
    A client can bootstrap at any broker, then connects to the advertised address of each leader. Clients cannot use the
    partitions that an unreachable broker leads.

    ## Fails when
    A probe from a client vantage (this worker is one) fails in two samples with the same registration. The finding names the
    layer that fails first: dns (no address; the evidence names the resolver), tcp, tls, sasl, api (ApiVersions), packets (a
    request of 10,000 bytes gets no answer, and a small one still does: the path loses large packets). KA111 reports which broker
    answers, KA319 each address of a name.

    The check does not apply to a listener that brokers use for inter-broker or controller traffic, if the vantage reaches it at
    no broker, reaches another listener, and `reach` has no mapping for it. KA302 checks whether brokers reach it.

    ## Not known when
    No vantage probed the endpoint, a layer could not be probed there (see `needs`), or it failed once. The audit does not
    connect to addresses that reach no other host (link-local, multicast, unspecified, broadcast) or that belong to a cloud's
    metadata service, even if a host name resolves to one.

    ## Passes only when
    Every client vantage succeeded at every layer that it probed.

    ## What to do
    Repeat the probe on the host where it failed: `getent hosts {host}`, then `nc -vz -w 3 {host} {port}`. dns: use a name that
    clients can resolve, or a proxy, or run the clients inside the network. tcp: check routes, firewalls and the port forward
    for this broker; a forward for the bootstrap address alone is not enough. tls: run `openssl s_client -connect {host}:{port}
    -servername {host}`. sasl: check the mechanism and user of that listener. packets: compare the MTU of both ends with what
    `ping -M do -s 1472 {host}` gets through, and let ICMP pass. If clients and brokers need different addresses,
    set `advertised.listeners=INTERNAL://…,EXTERNAL://…`.

    ## References
    KIP-103 (listeners for different traffic), KIP-302 (all addresses of a name).
    """
    edges = view.derived(ServeEdges)
    for endpoint in view.advertised:
        to = edges.to(endpoint)
        of_clients = [edge for edge in to if edge.of_clients]
        yield endpoint_judgement(view, endpoint, of_clients, edges.reached, of_brokers=bool(to))


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
        reason = "brokers use it, and no broker's is reached from there"
        return view.judge("KA301", endpoint.resource, Status.NOT_APPLICABLE, evidence, reason=reason)
    if not worst:
        unknown = {"error": "not probed", "needs": "a vantage with role client that probes this listener"}
        return view.judge("KA301", endpoint.resource, Status.UNKNOWN, {**evidence, **unknown}, reached=reached or None)
    status = {BROKEN: Status.FAIL, WORKS: Status.PASS}.get(worst[0].state, Status.UNKNOWN)
    layer = worst[0].stop
    return view.judge(
        "KA301",
        endpoint.resource,
        status,
        {**evidence, **({} if status is Status.PASS else _why(worst[0]))},
        vantage=tuple(sorted({edge.vantage for edge in worst})),
        via=tuple(sorted({edge.via for edge in worst if edge.via})) or None,
        layer=layer and layer.layer,
        stops=tuple(sorted({edge.ends for edge in worst if edge.ends})) or None,
        cause=worst[0].kind and worst[0].kind.name,
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
