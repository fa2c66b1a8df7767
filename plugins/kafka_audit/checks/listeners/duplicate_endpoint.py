"""KA304."""

from collections import defaultdict
from collections.abc import Collection, Iterator

from kafka_audit.checks import check
from kafka_audit.checks.gaps import MOVING, no_endpoints, worst_each
from kafka_audit.cluster.endpoints import AdvertisedEndpoint
from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.finding import Judgement, Severity, Status
from kafka_audit.model.tables import RegisteredEndpoint

OLD_ENOUGH_MS = 60_000
"""A broker that died leaves its registration for its session time-out: 18 s by default, 40 s in old setups."""


@check(
    code="KA304",
    severity=Severity.CRITICAL,
    needs=(RegisteredEndpoint,),
    says={
        Status.FAIL: "Clients cannot tell brokers {brokers} apart: each advertises {host}:{port}",
        Status.PASS: "Only broker {broker} advertises {host}:{port}",
        Status.UNKNOWN: "Cannot determine whether {who} shares an address with another ({error})",
    },
)
def duplicate_endpoint(view: ClusterView) -> Iterator[Judgement]:
    """Two brokers advertise the same host and port.

    ## Why it matters
    One socket cannot be two brokers. Whatever the other one leads is unreachable, and the controller's requests for one arrive at
    the other.

    ## Fails when
    The same host and port is registered under two broker ids, in two samples, or in one by registrations of more than a minute.
    A broker that died leaves its registration until its session ends, so a replacement at its address is no fault. In KRaft,
    which tells no age: brokers list both ids there in two samples, or both told their settings themselves.

    ## Not known when
    Nobody told addresses (ZooKeeper, in KRaft the brokers' settings and lists), or one of the two is young or changed between
    two samples.

    ## Passes only when
    No other broker id has that host and port.

    ## What to do
    `zookeeper-shell.sh <zookeeper.connect> get /brokers/ids/<id>` for brokers {brokers} shows what each registered; in KRaft
    `kcat -L -b <broker>:9092` lists them. Give each an `advertised.listeners` of its own, then restart it; behind one forward
    that means a port of its own per broker.

    ## References
    Since Kafka 2.4 a broker with ZooKeeper refuses to start: `Configured end points … in advertised listeners are already
    registered by broker …`.
    """
    endpoints = view.endpoints.all
    gap = tuple(no_endpoints(view, "KA304", endpoints))
    yield from gap or worst_each(_judged(view, endpoints))


def _judged(view: ClusterView, endpoints: Collection[AdvertisedEndpoint]) -> Iterator[Judgement]:
    sharing: dict[tuple[str, int], set[int]] = defaultdict(set)
    for endpoint in endpoints:
        sharing[endpoint.host.lower(), endpoint.port].add(endpoint.broker_id)
    age, there = view.ages_ms, _answered(view)
    moving, twice = view.endpoints.moved, view.samples[1] is not None
    for endpoint in endpoints:
        brokers = sharing[endpoint.host.lower(), endpoint.port]
        old = all(age.get(one, 0) > OLD_ENOUGH_MS for one in brokers)
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
