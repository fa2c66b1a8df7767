"""KA319."""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from kafka_audit.checks import check
from kafka_audit.cluster.view import AdvertisedEndpoint, ClusterView, NameAddress
from kafka_audit.diagnosis.serve_edges import ServeEdges
from kafka_audit.model.finding import Judgement, Severity, Status


@check(
    code="KA319",
    severity=Severity.HIGH,
    says={
        Status.FAIL: "{host} ({listener} of broker {broker}) has addresses that do not lead there: {faults} (seen from "
        "{vantage})",
        Status.PASS: "All addresses of {host} ({count}) lead to broker {broker} ({listener})",
        Status.UNKNOWN: "Cannot determine whether each address of {host} leads to broker {broker} ({listener}): {error}",
        Status.NOT_APPLICABLE: "Addresses of names are not compared: {reason}",
    },
)
def address_of_name_fails(view: ClusterView) -> Iterator[Judgement]:
    """A name that a broker advertises has several addresses, and one of them leads nowhere or to another broker.

    ## Why it matters
    A client takes any address of a name: its resolver returns them in turn. With one of two addresses dead, every second
    connection waits for its time-out before it tries the other one, and clients before Kafka 2.6 do not try another one. With an
    address of another broker, some requests fail with NOT_LEADER_OR_FOLLOWER. A test from one host may always take the good one.

    ## Fails when
    In two samples, from the same vantage, an address of an advertised name did not get a connection or an answer, or another
    broker answers there. An IPv6 address that leads nowhere counts only beside an IPv6 address that leads to the broker: Java
    clients take one family of addresses, by default IPv4. An address without a route from the vantage does not count.

    ## Not known when
    A vantage resolved several addresses and did not probe each (this needs python3 there, and enough of `limits.read_s`), or an
    address failed once.

    ## Passes only when
    At each address that was probed the broker answers, or IPv6 alone fails. The check does not apply if no advertised name has
    several addresses.

    ## What to do
    On the host of the vantage, run `getent ahosts {host}`, then `nc -vz -w 3 ADDRESS {port}` for each address. Remove the
    addresses that do not lead to broker {broker} from the record of {host} and from `/etc/hosts`, or repair the host behind them.
    Resolvers and JVMs keep the old answer until its time to live ends.

    ## References
    KIP-302 and KIP-602 (`client.dns.lookup=use_all_dns_ips`, the default since Kafka 2.6);
    `org.apache.kafka.clients.ClientUtils`.
    """
    found: dict[tuple[int, str], list[NameAddress]] = defaultdict(list)
    for one in view.name_addresses:
        found[one.row.broker_id, one.row.listener].append(one)
    edges, judged = view.derived(ServeEdges), False
    for endpoint in view.advertised:
        key = endpoint.broker_id, endpoint.listener
        connecting = (edge for edge in edges.to(endpoint, role=None) if edge.via is None and edge.connects)
        several = any(len(edge.addresses) > 1 for edge in connecting)
        if key in found or several:
            judged = True
            yield _judged(view, endpoint, found.get(key, ()))
    if not judged:
        yield view.judge("KA319", "cluster", Status.NOT_APPLICABLE, reason="no advertised name was seen with several addresses")


def _judged(view: ClusterView, endpoint: AdvertisedEndpoint, found: Sequence[NameAddress]) -> Judgement:
    lasting = [one for one in found if one.lasting]
    evidence = {"broker": endpoint.broker_id, "host": endpoint.host, "port": endpoint.port, "listener": endpoint.listener}
    evidence["count"] = len({one.row.address for one in found})
    if lasting:
        status = Status.FAIL
        evidence["faults"] = tuple(dict.fromkeys(one.text for one in lasting))
        evidence["vantage"] = tuple(dict.fromkeys(one.place for one in lasting))
        evidence["addresses"] = tuple(sorted({one.row.address for one in lasting}))
        others = {one.row.answered_by for one in lasting if one.row.outcome == "ok" and one.row.answered_by is not None}
        evidence["answering_brokers"] = tuple(sorted(others)) or None
    elif any(one.vain for one in found):
        status = Status.UNKNOWN
        evidence |= {"error": "in motion", "needs": "another audit: an address failed once"}
    elif found:
        status = Status.PASS
    else:
        status = Status.UNKNOWN
        evidence |= {"error": "its addresses were not probed one by one", "needs": "python3 at the vantage"}
    return view.judge("KA319", endpoint.resource, status, evidence)
