"""KA313."""

from collections.abc import Iterator
from dataclasses import replace

from kafka_audit.checks import check
from kafka_audit.checks.gaps import MOVING, no_reach
from kafka_audit.cluster.view import ClusterView
from kafka_audit.cluster.worker_probes import mapped_listeners
from kafka_audit.model.finding import Judgement, Severity, Status
from kafka_audit.model.tables import Probe


@check(
    code="KA313",
    severity=Severity.MEDIUM,
    needs=(Probe,),
    says={
        Status.FAIL: "Broker {broker} is left out of `reach`: {address} ({listener}) has no mapping, {mapped} of {count} have "
        "one; dialled directly it is {open}",
        Status.PASS: "{address} ({listener} of broker {broker}) is reached through {via}",
        Status.UNKNOWN: "Cannot determine whether `reach` leads to {who} ({error})",
        Status.NOT_APPLICABLE: "No way in is declared: {reason}",
    },
)
def endpoint_without_mapping(view: ClusterView) -> Iterator[Judgement]:
    """The declared way in leads to some brokers of a listener, and not to all.

    ## Why it matters
    A proxy or forward with an entry for each broker but one works until a leader lands on that one. After a broker was added this
    is what everybody forgets. Where the auditor happens to get there without, the audit passes and clients fail.

    ## Fails when
    `reach` of the cluster file maps an advertised address of this listener, and not this one. LOW where it is reached directly.

    ## Not known when
    No endpoint is known, or the broker registered anew between two samples. It does not apply without `reach`.

    ## Passes only when
    Every advertised address of the listener has a mapping. Whether the right broker answers there is KA111.

    ## What to do
    Give the proxy or forward an entry for broker {broker} that ends at {address}, and put it into the cluster file:
    `reach: {{"{address}": "<address of that entry>"}}`. Keys are compared as written, with name and port as the broker advertises
    them. A listener that clients do not use is left out by `skip` under `listeners` there.

    ## References
    `reach` in clusters.example.yaml; `external-server-mapping` of grepplabs/kafka-proxy.
    """
    found = view.worker_probes
    yield from no_reach(view, "KA313", found)
    moving = view.endpoints.moved
    for own in mapped_listeners(found).values():
        for way in own:
            evidence = {
                "broker": way.broker_id,
                "listener": way.listener,
                "address": way.address,
                "mapped": sum(one.via is not None for one in own),
                "count": len(own),
                "open": "reached" if way.open else "not reached",
            }
            if way.via is not None:
                yield view.judge("KA313", way.resource, Status.PASS, evidence, via=way.via)
            elif way.broker_id in moving:
                yield view.judge("KA313", way.resource, Status.UNKNOWN, evidence | MOVING, who=f"broker {way.broker_id}")
            else:
                severity = Severity.LOW if way.open else Severity.MEDIUM
                yield replace(view.judge("KA313", way.resource, Status.FAIL, evidence), severity=severity)
