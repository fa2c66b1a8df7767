"""KA313."""

from collections.abc import Iterator
from dataclasses import replace

from kafka_audit.checks import check
from kafka_audit.checks.gaps import MOVING, no_reach
from kafka_audit.cluster.listeners.probes import mapped_listeners
from kafka_audit.cluster.view import ClusterView
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
    probes = view.worker_probes
    yield from no_reach(view, "KA313", probes)
    moving = view.endpoints.moved
    for own_probes in mapped_listeners(probes).values():
        for probe in own_probes:
            evidence = {
                "broker": probe.broker_id,
                "listener": probe.listener,
                "address": probe.address,
                "mapped": sum(mapped.via is not None for mapped in own_probes),
                "count": len(own_probes),
                "open": "reached" if probe.connects else "not reached",
            }
            if probe.via is not None:
                yield view.judge("KA313", probe.resource, Status.PASS, evidence, via=probe.via)
            elif probe.broker_id in moving:
                yield view.judge("KA313", probe.resource, Status.UNKNOWN, evidence | MOVING, who=f"broker {probe.broker_id}")
            else:
                severity = Severity.LOW if probe.connects else Severity.MEDIUM
                yield replace(view.judge("KA313", probe.resource, Status.FAIL, evidence), severity=severity)
