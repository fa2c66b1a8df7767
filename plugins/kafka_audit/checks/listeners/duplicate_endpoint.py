"""KA304."""

from collections import defaultdict
from collections.abc import Collection, Iterator

from kafka_audit.checks import check
from kafka_audit.checks.gaps import MOVING, no_endpoints, worst_each
from kafka_audit.cluster.listeners.endpoints import AdvertisedEndpoint
from kafka_audit.cluster.view import ClusterView
from kafka_audit.compare.addresses import canonical_address
from kafka_audit.model.finding import Judgement, Severity, Status

OLD_ENOUGH_MS = 60_000
"""A broker that died leaves its registration for its session time-out: 18 s by default, 40 s in old setups."""


@check(
    code="KA304",
    severity=Severity.CRITICAL,
    says={
        Status.FAIL: "Brokers {brokers:#|#} advertise the same address {host}:{port}",
        Status.PASS: "Only broker {broker} advertises {host}:{port}",
        Status.UNKNOWN: "Cannot determine whether {who} shares an address with another broker ({error})",
    },
)
def duplicate_endpoint(view: ClusterView) -> Iterator[Judgement]:
    """Two brokers advertise the same host and port.

    ## Why it matters
    Only one broker can listen on an address. Partitions led by the other broker are unavailable, and the controller's requests
    for one broker reach the other.

    ## Fails when
    The same host and port is registered under two broker ids in two samples, or in one sample if the registrations are older
    than a minute. A failed broker keeps its registration until its session ends, so a replacement at its address is not a fault
    at first. In KRaft, which does not report the age: brokers list both ids at this address in two samples, or both brokers
    reported their settings.

    ## Not known when
    The addresses are unknown (from ZooKeeper; in KRaft from the brokers' settings and lists), or one of the two registrations
    is new or changed between two samples.

    ## Passes only when
    No other broker id has that host and port.

    ## What to do
    To see what each broker registered, run `zookeeper-shell.sh ZOOKEEPER:2181 get /brokers/ids/ID` for brokers
    {brokers}; in KRaft run `kcat -L -b BROKER:9092`. Give each broker its own `advertised.listeners`, then restart it. Behind
    one port forward, give each broker its own port.

    ## References
    A broker with ZooKeeper refuses to start since Kafka 2.0 (KAFKA-6394): `Configured end points … in advertised listeners are
    already registered by broker …`.
    """
    endpoints = view.endpoints.all
    gap = tuple(no_endpoints(view, "KA304", endpoints))
    yield from gap or worst_each(_judged(view, endpoints))


def _judged(view: ClusterView, endpoints: Collection[AdvertisedEndpoint]) -> Iterator[Judgement]:
    sharing: dict[tuple[str, int], set[int]] = defaultdict(set)
    for endpoint in endpoints:
        sharing[canonical_address(endpoint.host, endpoint.port)].add(endpoint.broker_id)
    age, there = view.ages_ms, _answered(view)
    moving, twice = view.endpoints.moved, view.samples[1] is not None
    for endpoint in endpoints:
        brokers = sharing[canonical_address(endpoint.host, endpoint.port)]
        old = all(age.get(broker, 0) > OLD_ENOUGH_MS for broker in brokers)
        settled = not brokers & moving if twice else old or brokers <= there
        status = Status.PASS if len(brokers) == 1 else Status.FAIL if settled else Status.UNKNOWN
        yield view.judge(
            "KA304",
            endpoint.resource,
            status,
            MOVING if status is Status.UNKNOWN else {},
            who=f"broker {endpoint.broker_id}",
            broker=endpoint.broker_id,
            brokers=tuple(sorted(brokers)),
            host=endpoint.host,
            port=endpoint.port,
        )


def _answered(view: ClusterView) -> frozenset[int]:
    """Return the brokers that gave their settings without ZooKeeper: each of them is there, whatever address it shares.

    Where files alone were read, those of all files are.
    """
    between = view.inter_broker
    return frozenset(between.settings.answers if between.asked else between.settings.files) if view.kraft else frozenset()
