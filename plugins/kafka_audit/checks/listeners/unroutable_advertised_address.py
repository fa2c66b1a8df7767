from collections.abc import Collection, Iterable
from dataclasses import replace

from kafka_audit.checks import ClusterView, Judgements, Severity, Status, check
from kafka_audit.checks.gaps import MOVING, no_endpoints, worst_each
from kafka_audit.cluster.listeners.endpoints import AdvertisedEndpoint
from kafka_audit.compare.addresses import canonical_host
from kafka_audit.compare.host_kinds import kind_of
from kafka_audit.faults.serve_edges import ServeEdges
from kafka_audit.model.tables import BrokerView, SourceRead


@check(code="KA303", severity=Severity.HIGH)
def unroutable_advertised_address(view: ClusterView) -> Judgements:
    """A broker advertises an address that only its own host or network can use."""
    endpoints = view.endpoints.all
    gap = tuple(no_endpoints(view, endpoints))
    yield from gap or worst_each(_of_endpoints(view, endpoints))


def _of_endpoints(view: ClusterView, endpoints: Collection[AdvertisedEndpoint]) -> Judgements:
    edges, moving = view.derived(ServeEdges), view.endpoints.moved
    hosts = _dialled_hosts(view, endpoints, (edge.via for edge in edges.every if edge.via is not None))
    for endpoint in endpoints:
        resource, kind = endpoint.resource, kind_of(endpoint.host)
        evidence = {
            "broker": endpoint.broker_id,
            "listener": endpoint.listener,
            "host": endpoint.host,
            "port": endpoint.port,
        }
        if kind is None:
            yield view.judge(resource, Status.PASS, evidence)
        elif endpoint.broker_id in moving:
            yield view.judge(resource, Status.UNKNOWN, evidence | MOVING, who=f"broker {endpoint.broker_id}")
        else:
            far = hosts is None or bool(hosts - {endpoint.host})
            severity = Severity.HIGH if far else Severity.MEDIUM
            if kind.startswith("a bare") and canonical_host(endpoint.host) in edges.resolved_by_clients:
                severity = Severity.LOW
            yield replace(view.judge(resource, Status.FAIL, evidence, kind=kind), severity=severity)


def _dialled_hosts(view: ClusterView, endpoints: Iterable[AdvertisedEndpoint], mapped: Iterable[str]) -> frozenset[str] | None:
    """Return the hosts that clients or brokers live on, as far as addresses show; None where vantages alone show several.

    `mapped` are the addresses that `reach` maps others to.
    """
    info = view.info
    if info is not None and info.client_vantages + info.broker_vantages > 1:
        return None
    dialled = {view.address for view in view.of(BrokerView)}
    dialled |= {read.target for read in view.of(SourceRead) if read.observer.startswith("broker")}
    dialled |= {*mapped}
    hosts = {canonical_host(address.rpartition(":")[0]) for address in dialled} | {canonical_host(row.host) for row in endpoints}
    return frozenset(host for host in hosts if kind_of(host) not in {"a loopback name", "a loopback address", "not a host"})
