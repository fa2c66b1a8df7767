from dataclasses import replace

from kafka_audit.checks import ClusterView, Judgements, Severity, Status, check
from kafka_audit.checks.gaps import MOVING, no_reach
from kafka_audit.faults.serve_edges import ServeEdges


@check(code="KA313", severity=Severity.MEDIUM)
def endpoint_without_mapping(view: ClusterView) -> Judgements:
    """`reach` maps some brokers of a listener, but not all."""
    edges = view.derived(ServeEdges)
    yield from no_reach(view, edges.from_worker)
    moving = view.endpoints.moved
    for of_listener in edges.mapped.values():
        for edge in of_listener:
            endpoint = edge.endpoint
            evidence = {
                "broker": endpoint.broker_id,
                "listener": endpoint.listener,
                "address": endpoint.address,
                "mapped": sum(mapped.via is not None for mapped in of_listener),
                "count": len(of_listener),
                "open": "reached" if edge.connects else "not reached",
            }
            if edge.via is not None:
                yield view.judge(endpoint.resource, Status.PASS, evidence, via=edge.via)
            elif endpoint.broker_id in moving:
                yield view.judge(endpoint.resource, Status.UNKNOWN, evidence | MOVING, who=f"broker {endpoint.broker_id}")
            else:
                severity = Severity.LOW if edge.connects else Severity.MEDIUM
                yield replace(view.judge(endpoint.resource, Status.FAIL, evidence), severity=severity)
