"""KA313."""

from collections.abc import Iterator
from dataclasses import replace

from kafka_audit.checks import check
from kafka_audit.checks.gaps import MOVING, no_reach
from kafka_audit.cluster.listeners.probes import mapped_listeners
from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.finding import Judgement, Severity, Status


@check(code="KA313", severity=Severity.MEDIUM)
def endpoint_without_mapping(view: ClusterView) -> Iterator[Judgement]:
    """`reach` maps some brokers of a listener, but not all."""
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
