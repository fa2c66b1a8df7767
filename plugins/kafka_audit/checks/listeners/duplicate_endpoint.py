from collections import defaultdict
from collections.abc import Collection

from kafka_audit.checks import ClusterView, Judgements, Severity, Status, check
from kafka_audit.checks.gaps import MOVING, no_endpoints, worst_each
from kafka_audit.cluster.listeners.endpoints import AdvertisedEndpoint
from kafka_audit.compare.addresses import canonical_address
from kafka_audit.model.text import brokers as named

OLD_ENOUGH_MS = 60_000
"""A broker that died leaves its registration for its session time-out: 18 s by default, 40 s in old setups."""


@check(code="KA304", severity=Severity.CRITICAL)
def duplicate_endpoint(view: ClusterView) -> Judgements:
    """Two brokers advertise the same host and port."""
    endpoints = view.endpoints.all
    gap = tuple(no_endpoints(view, endpoints))
    yield from gap or worst_each(_of_endpoints(view, endpoints))


def _of_endpoints(view: ClusterView, endpoints: Collection[AdvertisedEndpoint]) -> Judgements:
    sharing: dict[tuple[str, int], set[int]] = defaultdict(set)
    for endpoint in endpoints:
        sharing[canonical_address(endpoint.host, endpoint.port)].add(endpoint.broker_id)
    age, there = view.ages_ms, _answered(view)
    moving, twice = view.endpoints.moved, view.samples[1] is not None
    # ZooKeeper has every address; without it a broker lists those of one listener, and its settings say the others.
    unread = [broker for broker in view.inter_broker.brokers if view.kraft and view.inter_broker.offered(broker) is None]
    for endpoint in endpoints:
        brokers = sharing[canonical_address(endpoint.host, endpoint.port)]
        old = all(age.get(broker, 0) > OLD_ENOUGH_MS for broker in brokers)
        settled = not brokers & moving if twice else old or brokers <= there
        status = Status.PASS if len(brokers) == 1 else Status.FAIL if settled else Status.UNKNOWN
        if status is Status.PASS and unread:
            continue
        yield view.judge(
            endpoint.resource,
            status,
            MOVING if status is Status.UNKNOWN else {},
            who=f"broker {endpoint.broker_id}",
            broker=endpoint.broker_id,
            brokers=tuple(sorted(brokers)),
            host=endpoint.host,
            port=endpoint.port,
        )
    if unread:
        error, needs = f"the listeners of {named(unread)} are unknown", f"DescribeConfigs on Cluster, answered by {named(unread)}"
        yield view.unknown("cluster", error, needs, who="any broker")


def _answered(view: ClusterView) -> frozenset[int]:
    """Return the brokers that gave their settings without ZooKeeper: each of them is there, whatever address it shares.

    Where files alone were read, those of all files are.
    """
    between = view.inter_broker
    return frozenset(between.settings.answers if between.asked else between.settings.files) if view.kraft else frozenset()
