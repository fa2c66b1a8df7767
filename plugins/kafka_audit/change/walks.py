"""What the walks to proposed addresses say: who reaches them, who answers there, and what nobody tried. Pure."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from kafka_audit.change.addresses import SOURCE, resource, written
from kafka_audit.change.item import Item, Weighed
from kafka_audit.collect.probes import WORKER
from kafka_audit.model.tables import Probe, RegisteredEndpoint
from kafka_audit.model.text import clean

_REFUSED = "connection refused"
_BEFORE_API = ("dns", "tcp", "tls", "sasl")
_REMEDIES: Mapping[str, str] = {
    "dns": "Before the change: a record for {host} that resolves at {who}",
    "tcp": "Before the change: a way from {who} to {host}; firewalls and security groups first",
    "tls": "Before the change: a certificate that names {host}, of an authority that clients trust",
    "api": "Something else answers there: see what listens at {host}",
}


def judged(
    proposed: Sequence[RegisteredEndpoint],
    walks: Iterable[Probe],
    vantages: Iterable[str],
    between: Collection[tuple[int, str]],
) -> Iterator[Weighed]:
    """Yield what walks to new addresses say, and where none was made that decides.

    Args:
        proposed: addresses that are not advertised yet.
        walks: a row for each layer of each way; a way ends at the first layer that did not work.
        vantages: names of those that must reach them. Where there are any, the worker need not.
        between: brokers and their listeners on which other brokers, or the controller, come to them. Only these are for brokers.
    """
    ways: dict[tuple[int, str, str, int | None], list[Probe]] = {}
    for row in walks:
        ways.setdefault((row.broker_id, row.listener, row.vantage, row.from_broker), []).append(row)
    names = tuple(vantages)
    for one in proposed:
        among_brokers = (one.broker_id, one.listener) in between
        own = {key[2:]: way for key, way in ways.items() if key[:2] == (one.broker_id, one.listener)}
        own = {start: way for start, way in own.items() if start[1] is None or among_brokers}
        for (vantage, start), way in own.items():
            told = _told(one, way, clean(vantage) if start is None else f"broker {start}")
            idle = vantage == WORKER and names and told.item.code == "KA301" and told.heading in {"blockers", "not_known"}
            yield told._replace(heading="warnings") if idle else told
        tried = {vantage for vantage, _ in own}
        for name in names:
            if name not in tried and (among_brokers or not _is_on_brokers(name, ways)):
                needs = f"To know: a vantage {clean(name)} with a command, and no `skip` of {one.listener}, in the cluster file"
                yield _open(f"vantage {clean(name)}", one, f"Not known: whether {clean(name)} reaches {_meant(one)}", needs)
        if not own and not names:
            needs = f"To know: take `{clean(one.listener)}: skip` out of the cluster file"
            yield _open(SOURCE, one, f"Not known: whether anybody reaches {_meant(one)}", needs)
        if among_brokers and not any(start is not None for _, start in own):
            needs = "To know: name a vantage with role broker, which is on the brokers' hosts"
            yield _open(SOURCE, one, f"Not known: whether the other brokers reach {_meant(one)}", needs)


def _is_on_brokers(name: str, ways: Iterable[tuple[int, str, str, int | None]]) -> bool:
    return any(vantage == name and start is not None for _, _, vantage, start in ways)


def _told(one: RegisteredEndpoint, way: Sequence[Probe], who: str) -> Weighed:
    source = f"vantage {clean(way[0].vantage)}"
    last = next((row for row in way if row.outcome == "failed"), way[-1])
    doubt = next((row for row in way if row.outcome == "unknown" and row.layer in _BEFORE_API), None)
    if last.outcome != "failed" and doubt is not None:
        message = f"Not known: whether {who} reaches {_meant(one)}: {doubt.layer}, {clean(doubt.error or 'not decided')}"
        return _open(source, one, message, f"To know: {clean(doubt.needs)}" if doubt.needs else "")
    if last.outcome != "failed" and not one.protocol:
        message = f"Not known: whether {who} reaches {_meant(one)}, beyond {last.layer}: its security protocol is not known"
        return _open(source, one, message, "To know: propose the broker's whole server.properties")
    heading, code, remedy = "blockers", "KA301", ""
    if last.layer == "tcp" and last.error == _REFUSED:
        heading, message = "warnings", f"Nothing listens yet at {_meant(one)}: {who} gets {_REFUSED}"
        remedy = "Right where the broker itself will listen there after its restart; a forward or a proxy must be there before it"
    elif last.outcome == "failed":
        message = f"{who} does not reach {_meant(one)}: {last.layer}, {clean(last.error or 'failed')}"
        remedy = _REMEDIES.get(last.layer, "").format(host=clean(one.host), who=who)
    elif last.layer == "identity" and last.detail and last.detail != str(one.broker_id):
        code, message = "KA111", f"{_meant(one)} leads {who} to broker {clean(last.detail)}"
        remedy = "Mend the forward, the proxy or the record before the change"
    elif last.layer == "identity" and last.detail:
        heading, message = "information", f"{who} reaches {_meant(one)}, and that broker answers"
    else:
        heading, message = "warnings", f"{who} reaches {_meant(one)}; which broker answers was not told"
        remedy = "It takes a login, or DescribeConfigs on Cluster. To know: the same audit after the change (KA111)"
    return Weighed(heading, Item(source=source, code=code, resource=resource(one), message=message, remedy=remedy))


def _open(source: str, one: RegisteredEndpoint, message: str, remedy: str) -> Weighed:
    return Weighed("not_known", Item(source=source, code="KA301", resource=resource(one), message=message, remedy=remedy))


def _meant(one: RegisteredEndpoint) -> str:
    return f"{written(one)}, which broker {one.broker_id} is to advertise"
