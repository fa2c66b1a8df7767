"""What the probes of proposed addresses show: which vantages reach them, which broker answers, what was not probed. Pure."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

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
) -> Iterator[HeadedItem]:
    """Yield what the probes of new addresses show, and where none was made that decides.

    Args:
        proposed: addresses that are not advertised yet.
        probes: a row for each layer of each probe; a probe ends at the first layer that did not work.
        vantages: names of those that must reach them. Where there are any, the worker need not.
        between: brokers and their listeners on which other brokers, or the controller, come to them. Only these are for brokers.
    """
    layers: dict[tuple[int, str, str, int | None], list[Probe]] = {}
    for row in probes:
        layers.setdefault((row.broker_id, row.listener, row.vantage, row.from_broker), []).append(row)
    names = tuple(vantages)
    for endpoint in proposed:
        among_brokers = (endpoint.broker_id, endpoint.listener) in between
        by_start = {key[2:]: rows for key, rows in layers.items() if key[:2] == (endpoint.broker_id, endpoint.listener)}
        by_start = {start: rows for start, rows in by_start.items() if start[1] is None or among_brokers}
        for (vantage, from_broker), rows in by_start.items():
            headed = _probe_item(endpoint, rows, clean(vantage) if from_broker is None else f"broker {from_broker}")
            idle = vantage == WORKER and names and headed.item.code == "KA301" and headed.heading in {"blockers", "not_known"}
            yield headed._replace(heading="warnings") if idle else headed
        probed = {vantage for vantage, _ in by_start}
        for name in names:
            if name not in probed and (among_brokers or not _is_on_brokers(name, layers)):
                needs = (
                    f"To know: a vantage {clean(name)} with a command, and no `skip` of {endpoint.listener}, in the cluster file"
                )
                message = f"Cannot determine whether {clean(name)} reaches {_proposed(endpoint)}"
                yield _open(f"vantage {clean(name)}", endpoint, message, needs)
        if not by_start and not names:
            needs = f"To know: remove `{clean(endpoint.listener)}: skip` from the cluster file"
            yield _open(SOURCE, endpoint, f"Cannot determine whether any client reaches {_proposed(endpoint)}", needs)
        if among_brokers and not any(from_broker is not None for _, from_broker in by_start):
            needs = "To know: a vantage with role broker, on the hosts of the brokers"
            yield _open(SOURCE, endpoint, f"Cannot determine whether the other brokers reach {_proposed(endpoint)}", needs)


def _is_on_brokers(name: str, probed: Iterable[tuple[int, str, str, int | None]]) -> bool:
    return any(vantage == name and from_broker is not None for _, _, vantage, from_broker in probed)


def _probe_item(endpoint: RegisteredEndpoint, layers: Sequence[Probe], origin: str) -> HeadedItem:
    where, source = _proposed(endpoint), f"vantage {clean(layers[0].vantage)}"
    last = next((row for row in layers if row.outcome == "failed"), layers[-1])
    doubt = next((row for row in layers if row.outcome == "unknown" and row.layer in _BEFORE_API), None)
    if last.outcome != "failed" and doubt is not None:
        message = f"Cannot determine whether {origin} reaches {where}: {doubt.layer}, {clean(doubt.error or 'not decided')}"
        return _open(source, endpoint, message, f"To know: {clean(doubt.needs)}" if doubt.needs else "")
    if last.outcome != "failed" and not endpoint.protocol:
        message = f"Cannot determine whether {origin} reaches {where}, beyond {last.layer}: its security protocol is unknown"
        return _open(source, endpoint, message, "To know: the complete proposed server.properties of the broker")
    heading, code, remedy = "blockers", "KA301", ""
    if last.layer == "tcp" and last.failure is ReadFailure.REFUSED:
        heading, message = "warnings", f"No process listens yet at {where}: {origin} gets {ReadFailure.REFUSED.words}"
        remedy = "Expected if the broker listens there after its restart; a port forward or a proxy must exist before"
    elif last.outcome == "failed":
        message = f"{origin} does not reach {where}: {last.layer}, {clean(last.error or 'failed')}"
        remedy = _REMEDIES.get(last.layer, "").format(host=clean(endpoint.host), origin=origin)
    elif last.layer == "identity" and last.answered_by not in {None, endpoint.broker_id}:
        code, message = "KA111", f"{where} leads {origin} to broker {last.answered_by}"
        remedy = "Correct the port forward, the proxy or the DNS record before the change"
    elif last.layer == "identity" and last.answered_by is not None:
        heading, message = "information", f"{origin} reaches {where}, and that broker answers"
    else:
        heading, message = "warnings", f"{origin} reaches {where}; the broker that answers is unknown"
        remedy = "This requires a login, or DescribeConfigs on Cluster. To know: an audit after the change (KA111)"
    return HeadedItem(
        heading, GateItem(source=source, code=code, resource=endpoint_resource(endpoint), message=message, remedy=remedy)
    )


def _open(source: str, endpoint: RegisteredEndpoint, message: str, remedy: str) -> HeadedItem:
    return HeadedItem(
        "not_known", GateItem(source=source, code="KA301", resource=endpoint_resource(endpoint), message=message, remedy=remedy)
    )


def _proposed(endpoint: RegisteredEndpoint) -> str:
    return f"{endpoint_text(endpoint)}, the proposed address of broker {endpoint.broker_id}"
