"""KA304."""

from collections import defaultdict
from collections.abc import Collection, Iterator

from kafka_audit.checks import advertised, row_check
from kafka_audit.checks.rows import MOVING, ages_ms, endpoint_name, judge, looks
from kafka_audit.model.finding import Judgement, Severity, Status
from kafka_audit.model.tables import RegisteredEndpoint, Snapshot

OLD_ENOUGH_MS = 60_000
"""A broker that died leaves its registration for its session time-out: 18 s by default, 40 s in old setups."""


@row_check(
    code="KA304",
    severity=Severity.CRITICAL,
    needs=(RegisteredEndpoint,),
    says={
        Status.FAIL: "Clients cannot tell brokers {brokers} apart: each advertises {host}:{port}",
        Status.PASS: "Only broker {broker} advertises {host}:{port}",
        Status.UNKNOWN: "Not known: whether {who} shares an address with another ({error})",
    },
)
def duplicate_endpoint(snapshot: Snapshot) -> Iterator[Judgement]:
    """Two brokers advertise the same host and port.

    ## Why it matters
    One socket cannot be two brokers. Whatever the other one leads is unreachable, and the controller's requests for one arrive at
    the other.

    ## Fails when
    The same host and port is registered under two broker ids, in two looks, or in one by registrations of more than a minute.
    A broker that died leaves its registration until its session ends, so a replacement at its address is no fault. In KRaft,
    which tells no age: brokers list both ids there in two looks, or both told their settings themselves.

    ## Not known when
    Nobody told addresses (ZooKeeper, in KRaft the brokers' settings and lists), or one of the two is young or changed between
    two looks.

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
    endpoints = advertised.endpoints(snapshot)
    gap = tuple(advertised.gap(snapshot, "KA304", endpoints))
    yield from gap or advertised.one_each(_judged(snapshot, endpoints))


def _judged(snapshot: Snapshot, endpoints: Collection[RegisteredEndpoint]) -> Iterator[Judgement]:
    sharing: dict[tuple[str, int], set[int]] = defaultdict(set)
    for endpoint in endpoints:
        sharing[endpoint.host.lower(), endpoint.port].add(endpoint.broker_id)
    age, there = ages_ms(snapshot), advertised.answered(snapshot)
    moving, twice = advertised.moving(snapshot), looks(snapshot)[1] is not None
    for endpoint in endpoints:
        brokers = sharing[endpoint.host.lower(), endpoint.port]
        old = all(age.get(one, 0) > OLD_ENOUGH_MS for one in brokers)
        settled = not brokers & moving if twice else old or brokers <= there
        status = Status.PASS if len(brokers) == 1 else Status.FAIL if settled else Status.UNKNOWN
        yield judge(
            snapshot,
            "KA304",
            endpoint_name(endpoint),
            status,
            who=f"broker {endpoint.broker_id}",
            broker=str(endpoint.broker_id),
            brokers=", ".join(map(str, sorted(brokers))),
            host=endpoint.host,
            port=str(endpoint.port),
            **(MOVING if status is Status.UNKNOWN else {}),
        )
