"""What the probes of proposed addresses show: which vantages reach them, which broker answers, what was not probed. Pure."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from kafka_audit.faults.identities import probed_answer
from kafka_audit.faults.serve_edges import ServeEdge, edges_tried
from kafka_audit.migration.addresses import SOURCE, endpoint_resource, endpoint_text
from kafka_audit.migration.items import GateItem, HeadedItem
from kafka_audit.model.cluster import WORKER
from kafka_audit.model.read_failure import ReadFailure
from kafka_audit.model.tables import Probe, RegisteredEndpoint
from kafka_audit.model.text import clean

_BEFORE_API = ("dns", "tcp", "tls", "sasl")
_REMEDIES: Mapping[str, str] = {
    "dns": "Before the change, add a DNS record for {host} that resolves at {origin}",
    "tcp": "Before the change, open the route from {origin} to {host}; check firewalls and security groups first",
    "tls": "Before the change, install a certificate for {host} from a CA that clients trust",
    "api": "Another service answers there; check which process listens at {host}",
}


def reachability_items(
    proposed: Sequence[RegisteredEndpoint],
    probes: Iterable[Probe],
    vantages: Iterable[str],
    between: Collection[tuple[int, str]],
    owner: str = "broker",
) -> Iterator[HeadedItem]:
    """Yield what the probes of new addresses show, and where none was made that decides.

    Args:
        proposed: addresses that are not advertised yet.
        probes: a row for each layer of each probe; a probe ends at the first layer that did not work.
        vantages: names of those that must reach them. Where there are any, the worker need not.
        between: brokers and their listeners on which other brokers, or the controller, come to them. Only these are for brokers.
        owner: whose addresses they are, `broker` or `controller`.
    """
    found, names = edges_tried(probes), tuple(vantages)
    on_brokers = {edge.vantage for edge in found if edge.source is not None}
    for endpoint in proposed:
        among_brokers = (endpoint.broker_id, endpoint.listener) in between
        here = (endpoint.broker_id, endpoint.listener)
        own = [edge for edge in found if (edge.endpoint.broker_id, edge.endpoint.listener) == here]
        own = [edge for edge in own if edge.source is None or among_brokers]
        for edge in own:
            headed = _edge_item(endpoint, edge, owner)
            idle = edge.vantage == WORKER and names and headed.item.code == "KA301"
            idle = idle and headed.heading in {"blockers", "not_known"}
            yield headed._replace(heading="warnings") if idle else headed
        probed = {edge.vantage for edge in own}
        for name in names:
            if name not in probed and (among_brokers or name not in on_brokers):
                needs = (
                    f"Needed: a vantage {clean(name)} with a command, and no `skip` of {endpoint.listener}, in the cluster file"
                )
                message = f"Cannot determine whether {clean(name)} reaches {_proposed(endpoint, owner)}"
                yield _open(f"vantage {clean(name)}", endpoint, message, needs)
        if not own and not names:
            needs = f"Needed: the cluster file without `{clean(endpoint.listener)}: skip`"
            yield _open(SOURCE, endpoint, f"Cannot determine whether any client reaches {_proposed(endpoint, owner)}", needs)
        if among_brokers and all(edge.source is None for edge in own):
            needs = "Needed: a vantage with role broker, on the hosts of the brokers"
            yield _open(SOURCE, endpoint, f"Cannot determine whether the other brokers reach {_proposed(endpoint, owner)}", needs)


def _edge_item(endpoint: RegisteredEndpoint, edge: ServeEdge, owner: str) -> HeadedItem:
    where, source = _proposed(endpoint, owner), f"vantage {clean(edge.vantage)}"
    origin = clean(edge.vantage) if edge.source is None else f"broker {edge.source}"
    failed, doubt = (edge.stop, None) if edge.failed_at is not None else (None, edge.stop)
    answer = None if edge.identity is None else probed_answer(edge.identity)
    if doubt is not None and doubt.layer in _BEFORE_API:
        message = f"Cannot determine whether {origin} reaches {where}: {doubt.layer}, {clean(doubt.error or 'not decided')}"
        return _open(source, endpoint, message, f"Needed: {clean(doubt.needs)}" if doubt.needs else "")
    if failed is None and not endpoint.protocol:
        end = edge.passed[-1] if doubt is None else doubt.layer
        message = f"Cannot determine whether {origin} reaches {where}, beyond {end}: its security protocol is unknown"
        return _open(source, endpoint, message, "Needed: the complete proposed server.properties of the broker")
    heading, code, remedy = "blockers", "KA301", ""
    if failed is not None and failed.failure is ReadFailure.REFUSED:
        heading, message = "warnings", f"No process listens yet at {where}: {origin} gets {ReadFailure.REFUSED.words}"
        remedy = "Expected if the broker listens there after its restart; a port forward or a proxy must exist before"
    elif failed is not None:
        message = f"{origin} does not reach {where}: {failed.layer}, {clean(failed.error or 'failed')}"
        remedy = _REMEDIES.get(failed.layer, "").format(host=clean(endpoint.host), origin=origin)
    elif answer is not None and answer.is_other:
        code, message = "KA111", f"{where} leads {origin} to {owner} {answer.answered_by}"
        remedy = "Correct the port forward, the proxy or the DNS record before the change"
    elif answer is not None and answer.answered_by is not None:
        heading, message = "information", f"{origin} reaches {where}, and that {owner} answers"
    else:
        heading, message = "warnings", f"{origin} reaches {where}; the {owner} that answers is unknown"
        remedy = "This requires a login, or DescribeConfigs on Cluster. Needed: an audit after the change (KA111)"
    return HeadedItem(
        heading, GateItem(source=source, code=code, resource=endpoint_resource(endpoint), message=message, remedy=remedy)
    )


def _open(source: str, endpoint: RegisteredEndpoint, message: str, remedy: str) -> HeadedItem:
    return HeadedItem(
        "not_known", GateItem(source=source, code="KA301", resource=endpoint_resource(endpoint), message=message, remedy=remedy)
    )


def _proposed(endpoint: RegisteredEndpoint, owner: str) -> str:
    return f"{endpoint_text(endpoint)}, the proposed address of {owner} {endpoint.broker_id}"
