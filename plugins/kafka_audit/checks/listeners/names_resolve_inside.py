"""KA316."""

from collections.abc import Iterator

from kafka_audit.checks import check
from kafka_audit.checks.alike_brokers import one_finding
from kafka_audit.checks.gaps import no_endpoints
from kafka_audit.cluster.hosts import inside_of, kind_of
from kafka_audit.cluster.view import ClusterView
from kafka_audit.compare.hosts import canonical_host
from kafka_audit.diagnosis.serve_edges import ServeEdges
from kafka_audit.model.finding import Judgement, Severity, Status


@check(
    code="KA316",
    severity=Severity.LOW,
    says={
        Status.FAIL: "Clients outside {place} cannot resolve any advertised name of {who} ({listeners})",
        Status.PASS: "Broker {broker} advertises a name or address that does not belong to one network alone, or that a client "
        "vantage resolves",
        Status.UNKNOWN: "Cannot determine whether {who} advertises names that resolve only inside ({error})",
    },
)
def names_resolve_inside(view: ClusterView) -> Iterator[Judgement]:
    """Every advertised name of a broker resolves only inside Kubernetes or another network.

    ## Why it matters
    A client bootstraps at any address, and then connects to the advertised names. Outside that network they do not resolve: the
    bootstrap connection works and every request to a leader fails. Charts advertise such names by default, and the broker starts
    without a warning.

    ## Fails when
    All listeners that the broker advertises have names of one network by their form (`*.svc.cluster.local`, `*.svc`,
    `*.docker.internal`, `*.consul`, `*.internal`, `*.local`), and no client vantage resolved one of them. LOW, because clients
    may all be inside; KA301 measures it from each vantage. In `lint`, the names of the files are judged alone; in a compose file
    the names of its services, their `hostname` and `container_name` belong to one network, too.

    ## Not known when
    The addresses are unknown (from ZooKeeper; in KRaft from the brokers' settings and lists).

    ## Passes only when
    The broker advertises an address, or a name that is not of that form, or a client vantage resolved one of its names. KA303
    judges `localhost` and names without a dot.

    ## What to do
    If clients run outside {place}, add a listener for them to {who}, beside the listener between brokers: in
    `advertised.listeners` with a name or address that they resolve and reach, one for each broker (a node port, a load balancer
    for each broker, or a proxy that rewrites addresses). If every client is inside, mute KA316.

    ## References
    KIP-103; Kubernetes documentation, "DNS for Services and Pods".
    """
    yield from one_finding(view, "KA316", _judged(view))
    yield from no_endpoints(view, "KA316", view.endpoints.all)


def _judged(view: ClusterView) -> Iterator[Judgement]:
    resolved = view.derived(ServeEdges).resolved_by_clients
    for broker in sorted({endpoint.broker_id for endpoint in view.endpoints.all}):
        own = view.endpoints.of(broker)
        places = {None if kind_of(end.host) or canonical_host(end.host) in resolved else inside_of(end.host) for end in own}
        evidence: dict[str, object] = {"broker": broker, "who": f"broker {broker}"}
        if None in places or len(places) > 1:
            yield view.judge("KA316", f"broker/{broker}", Status.PASS, evidence)
        else:
            evidence |= {"place": places.pop(), "listeners": tuple(sorted(end.listener for end in own))}
            yield view.judge("KA316", f"broker/{broker}", Status.FAIL, evidence)
