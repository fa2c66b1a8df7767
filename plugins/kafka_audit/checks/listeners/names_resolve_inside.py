from kafka_audit.checks import ClusterView, Judgements, Severity, Status, check
from kafka_audit.checks.alike_brokers import one_finding
from kafka_audit.checks.gaps import no_endpoints
from kafka_audit.compare.addresses import canonical_host
from kafka_audit.compare.host_kinds import inside_of, kind_of
from kafka_audit.faults.serve_edges import ServeEdges


@check(code="KA316", severity=Severity.LOW)
def names_resolve_inside(view: ClusterView) -> Judgements:
    """Every advertised name of a broker resolves only inside Kubernetes or another network."""
    yield from one_finding(view, _of_brokers(view))
    yield from no_endpoints(view, view.endpoints.all)


def _of_brokers(view: ClusterView) -> Judgements:
    resolved = view.derived(ServeEdges).resolved_by_clients
    for broker in sorted({endpoint.broker_id for endpoint in view.endpoints.all}):
        own = view.endpoints.of(broker)
        places = {None if kind_of(end.host) or canonical_host(end.host) in resolved else inside_of(end.host) for end in own}
        evidence: dict[str, object] = {"broker": broker, "who": f"broker {broker}"}
        if None in places or len(places) > 1:
            yield view.judge(f"broker/{broker}", Status.PASS, evidence)
        else:
            evidence |= {"place": places.pop(), "listeners": tuple(sorted(end.listener for end in own))}
            yield view.judge(f"broker/{broker}", Status.FAIL, evidence)
