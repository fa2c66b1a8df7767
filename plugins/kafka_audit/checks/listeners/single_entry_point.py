from kafka_audit.checks import ClusterView, Judgement, Judgements, Severity, Status, check
from kafka_audit.checks.gaps import no_reach
from kafka_audit.compare.addresses import canonical_host
from kafka_audit.compare.host_kinds import kind_of
from kafka_audit.faults.serve_edges import ServeEdge, ServeEdges


@check(code="KA314", severity=Severity.LOW)
def single_entry_point(view: ClusterView) -> Judgements:
    """All mappings of `reach` go through one host."""
    edges = view.derived(ServeEdges)
    gap = tuple(no_reach(view, edges.from_worker))
    yield from gap
    mapped = [edge for of_listener in edges.mapped.values() for edge in of_listener if edge.via is not None]
    if not gap:
        yield _of_hosts(view, mapped)


def _of_hosts(view: ClusterView, mapped: list[ServeEdge]) -> Judgement:
    hosts = sorted({canonical_host((edge.via or "").rpartition(":")[0]) for edge in mapped})
    count = len({edge.endpoint.broker_id for edge in mapped})
    evidence = {"count": count, "listeners": tuple(sorted({edge.endpoint.listener for edge in mapped})), "hosts": tuple(hosts)}
    if count == 1:
        return view.not_applicable("cluster", "`reach` maps one broker (KA612)", evidence)
    if len(hosts) > 1 or any(len(edge.addresses) > 1 for edge in mapped):
        return view.judge("cluster", Status.PASS, evidence)
    if (kind_of(hosts[0]) or "").startswith("a loopback"):
        return view.not_applicable("cluster", "the worker connects to itself, through its own tunnel", evidence)
    if not any(edge.addresses or edge.connects for edge in mapped):
        error, needs = f"{hosts[0]} did not resolve", "a name in `reach` that this worker resolves"
        return view.unknown("cluster", error, needs, evidence, who=f"{count} brokers")
    return view.judge("cluster", Status.FAIL, evidence, host=hosts[0])
