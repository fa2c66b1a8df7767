"""KA313."""

from collections.abc import Iterator
from dataclasses import replace

from kafka_audit.checks import check
from kafka_audit.checks.gaps import MOVING, no_reach
from kafka_audit.cluster.view import ClusterView
from kafka_audit.diagnosis.serve_edges import ServeEdges
from kafka_audit.model.finding import Judgement, Severity, Status


@check(
    code="KA313",
    severity=Severity.MEDIUM,
    says={
        Status.FAIL: "`reach` has no mapping for broker {broker}: {address} ({listener}); {mapped} of {count} addresses have "
        "one; a direct connection is {open}",
        Status.PASS: "{address} ({listener} of broker {broker}) is reached through {via}",
        Status.UNKNOWN: "Cannot determine whether `reach` maps {who} ({error})",
        Status.NOT_APPLICABLE: "No mapping is configured: {reason}",
    },
)
def endpoint_without_mapping(view: ClusterView) -> Iterator[Judgement]:
    """`reach` maps some brokers of a listener, but not all.

    ## Why it matters
    A proxy or port forward without an entry for one broker works until that broker leads a partition. The entry is easily
    forgotten when a broker is added. If the auditor reaches the broker directly, the audit passes and clients fail.

    ## Fails when
    `reach` in the cluster file maps another advertised address of this listener, and not this one. LOW if the address is
    reached directly.

    ## Not known when
    No endpoint is known, or the broker registered again between two samples. The check does not apply without `reach`.

    ## Passes only when
    Every advertised address of the listener has a mapping. KA111 checks whether the correct broker answers there.

    ## What to do
    Add an entry for broker {broker} to the proxy or port forward that leads to {address}, and add it to the cluster file:
    `reach: {"{address}": "ADDRESS_OF_THAT_ENTRY"}`. Keys are compared exactly, with the name and port that the broker
    advertises. To exclude a listener that clients do not use, set it to `skip` under `listeners`.

    ## References
    `reach` in clusters.example.yaml; `external-server-mapping` of grepplabs/kafka-proxy.
    """
    edges = view.derived(ServeEdges)
    yield from no_reach(view, "KA313", edges.from_worker)
    moving = view.endpoints.moved
    for own in edges.mapped.values():
        for edge in own:
            endpoint = edge.endpoint
            evidence = {
                "broker": endpoint.broker_id,
                "listener": endpoint.listener,
                "address": endpoint.address,
                "mapped": sum(mapped.via is not None for mapped in own),
                "count": len(own),
                "open": "reached" if edge.connects else "not reached",
            }
            if edge.via is not None:
                yield view.judge("KA313", endpoint.resource, Status.PASS, evidence, via=edge.via)
            elif endpoint.broker_id in moving:
                yield view.judge(
                    "KA313", endpoint.resource, Status.UNKNOWN, evidence | MOVING, who=f"broker {endpoint.broker_id}"
                )
            else:
                severity = Severity.LOW if edge.connects else Severity.MEDIUM
                yield replace(view.judge("KA313", endpoint.resource, Status.FAIL, evidence), severity=severity)
