"""KA315."""

from collections import defaultdict
from collections.abc import Iterator

from kafka_audit.checks import check
from kafka_audit.checks.gaps import no_reach
from kafka_audit.cluster.listeners.inter_broker import TLS
from kafka_audit.cluster.listeners.probes import ProbeResult
from kafka_audit.cluster.view import ClusterView
from kafka_audit.compare.addresses import canonical_text
from kafka_audit.model.finding import Judgement, Severity, Status
from kafka_audit.model.text import listing


@check(code="KA315", severity=Severity.HIGH)
def mappings_share_address(view: ClusterView) -> Iterator[Judgement]:
    """`reach` maps two advertised addresses to one address."""
    probes = view.worker_probes
    yield from no_reach(view, "KA315", probes)
    by_target: dict[str, list[ProbeResult]] = defaultdict(list)
    for probe in probes:
        if probe.via is not None:
            by_target[canonical_text(probe.via)].append(probe)
    for sharing in by_target.values():
        for probe in sharing:
            yield _judged(view, probe, [other for other in sharing if other is not probe])


def _judged(view: ClusterView, probe: ProbeResult, others: list[ProbeResult]) -> Judgement:
    evidence = {"broker": probe.broker_id, "listener": probe.listener, "address": probe.address, "via": probe.via or ""}
    evidence |= {"count": len(others) + 1, "others": listing(f"{other.address} (broker {other.broker_id})" for other in others)}
    evidence["endpoints"] = tuple({"broker": other.broker_id, "address": other.address} for other in others)
    identity, encrypted = view.identities.get((probe.broker_id, probe.listener)), probe.endpoint.protocol in TLS
    answered_by = identity and identity.answered_by
    if not others or (encrypted and answered_by == probe.broker_id):
        return view.judge("KA315", probe.resource, Status.PASS, evidence)
    if encrypted and answered_by is None:
        error = f"it shares {probe.via} with others, and the endpoint did not report a broker id"
        needs = "DescribeConfigs on Cluster"
        return view.judge("KA315", probe.resource, Status.UNKNOWN, evidence, who=probe.address, error=error, needs=needs)
    return view.judge("KA315", probe.resource, Status.FAIL, evidence)
