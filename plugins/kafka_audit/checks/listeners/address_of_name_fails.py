from collections import defaultdict
from collections.abc import Sequence

from kafka_audit.checks import ClusterView, Judgement, Judgements, Severity, Status, check
from kafka_audit.cluster.listeners.endpoints import AdvertisedEndpoint
from kafka_audit.cluster.listeners.name_addresses import NameAddress
from kafka_audit.faults.serve_edges import ServeEdges


@check(code="KA319", severity=Severity.HIGH)
def address_of_name_fails(view: ClusterView) -> Judgements:
    """A name that a broker advertises has several addresses, and one of them leads nowhere or to another broker."""
    found: dict[tuple[int, str], list[NameAddress]] = defaultdict(list)
    for address in view.name_addresses:
        found[address.row.broker_id, address.row.listener].append(address)
    edges, judged = view.derived(ServeEdges), False
    for endpoint in view.advertised:
        key = endpoint.broker_id, endpoint.listener
        connecting = (edge for edge in edges.to(endpoint, role=None) if edge.via is None and edge.connects)
        several = any(len(edge.addresses) > 1 for edge in connecting)
        if key in found or several:
            judged = True
            yield _of_endpoint(view, endpoint, found.get(key, ()))
    if not judged:
        yield view.not_applicable("cluster", "no advertised name was seen with several addresses")


def _of_endpoint(view: ClusterView, endpoint: AdvertisedEndpoint, found: Sequence[NameAddress]) -> Judgement:
    lasting = [address for address in found if address.lasting]
    evidence = {"broker": endpoint.broker_id, "host": endpoint.host, "port": endpoint.port, "listener": endpoint.listener}
    evidence["count"] = len({address.row.address for address in found})
    if lasting:
        status = Status.FAIL
        evidence["faults"] = tuple(dict.fromkeys(address.text for address in lasting))
        evidence["vantage"] = tuple(dict.fromkeys(address.place for address in lasting))
        evidence["addresses"] = tuple(sorted({address.row.address for address in lasting}))
        others = {
            address.row.answered_by for address in lasting if address.row.outcome == "ok" and address.row.answered_by is not None
        }
        evidence["answering_brokers"] = tuple(sorted(others)) or None
    elif any(address.vain for address in found):
        status = Status.UNKNOWN
        evidence |= {"error": "in motion", "needs": "another audit: an address failed once"}
    elif found:
        status = Status.PASS
    else:
        status = Status.UNKNOWN
        evidence |= {"error": "its addresses were not probed one by one", "needs": "python3 at the vantage"}
    return view.judge(endpoint.resource, status, evidence)
