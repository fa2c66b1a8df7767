"""KA303."""

from collections.abc import Collection, Iterator
from dataclasses import replace

from kafka_audit.checks import check
from kafka_audit.checks.gaps import MOVING, no_endpoints, worst_each
from kafka_audit.cluster.endpoints import AdvertisedEndpoint
from kafka_audit.cluster.hosts import dialled_hosts, kind_of, resolved
from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.finding import Judgement, Severity, Status
from kafka_audit.model.tables import RegisteredEndpoint


@check(
    code="KA303",
    severity=Severity.HIGH,
    needs=(RegisteredEndpoint,),
    says={
        Status.FAIL: "Clients on other hosts may not find broker {broker}: listener {listener} advertises {host}:{port}, {kind}",
        Status.PASS: "Broker {broker} advertises {host}:{port} ({listener}), which may mean the same on every host",
        Status.UNKNOWN: "Cannot determine whether {who} advertises an address for its own host only ({error})",
    },
)
def unroutable_advertised_address(view: ClusterView) -> Iterator[Judgement]:
    """A broker advertises an address that means something on its own host only.

    ## Why it matters
    Clients and other brokers connect to what is advertised. `localhost` leads each of them to itself, a container's name or id
    resolves in that container's network only.

    ## Fails when
    The advertised host is loopback, a wildcard, link-local, multicast, broadcast, or a name without a dot (a bare container or
    host name). HIGH where
    several hosts are in play: the auditor dials, or a vantage or `reach` shows, another host. Else MEDIUM, as for a
    single machine, and for a bare name that a client vantage does resolve.

    ## Not known when
    Nobody told addresses (ZooKeeper, in KRaft the brokers' settings and lists), or this one changed between two samples.

    ## Passes only when
    The advertised host is an address or a name with a dot. Whether it resolves and answers is KA301's question.

    ## What to do
    Give {listener} (port {port}) in `advertised.listeners` of broker {broker} a name that clients and all brokers resolve, leave
    its other listeners in the setting, and restart it. In containers and Kubernetes that is a listener of its own for the
    outside, not the pod's name. Without the setting a broker advertises what the host calls itself (`hostname -f`).

    ## References
    KIP-103; Kafka refuses 0.0.0.0 in `advertised.listeners` at start, and nothing else.
    """
    endpoints = view.endpoints.all
    gap = tuple(no_endpoints(view, "KA303", endpoints))
    yield from gap or worst_each(_judged(view, endpoints))


def _judged(view: ClusterView, endpoints: Collection[AdvertisedEndpoint]) -> Iterator[Judgement]:
    moving, hosts = view.endpoints.moved, dialled_hosts(view, endpoints)
    for endpoint in endpoints:
        resource, kind = endpoint.resource, kind_of(endpoint.host)
        evidence = {
            "broker": endpoint.broker_id,
            "listener": endpoint.listener,
            "host": endpoint.host,
            "port": endpoint.port,
        }
        if kind is None:
            yield view.judge("KA303", resource, Status.PASS, evidence)
        elif endpoint.broker_id in moving:
            yield view.judge("KA303", resource, Status.UNKNOWN, evidence | MOVING, who=f"broker {endpoint.broker_id}")
        else:
            far = (hosts is None or bool(hosts - {endpoint.host})) and not (
                kind.startswith("a bare") and resolved(view, endpoint)
            )
            severity = Severity.HIGH if far else Severity.MEDIUM
            yield replace(view.judge("KA303", resource, Status.FAIL, evidence, kind=kind), severity=severity)
