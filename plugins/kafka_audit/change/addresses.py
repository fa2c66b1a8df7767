"""Addresses that a change gives to brokers: as a plan words them, and how far one got before anybody advertises them. Pure.

The mistake that costs most is an address that resolves where it was typed and nowhere else. It can be tried before the change.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from kafka_audit.change.item import Item, Weighed
from kafka_audit.checks.inter_broker import InterBroker
from kafka_audit.checks.rows import looks
from kafka_audit.model.errors import UsageError
from kafka_audit.model.tables import Probe, RegisteredEndpoint, Snapshot
from kafka_audit.model.text import clean, listing

BROKER = "{broker_id}"
"""Stands in a line for the id of each broker."""

_LINE = re.compile(r"(?:(?P<broker>\d{1,10})\s*:\s+)?(?P<entries>\S.*)")
_ENTRY = re.compile(
    r"(?P<listener>[A-Za-z0-9_.-]{1,100})://(?P<host>\[[0-9A-Fa-f:.%]+\]|(?:[A-Za-z0-9_.-]|\{broker_id\}){1,255}):(?P<port>\d{1,5})"
)
_LAST_PORT = 65535
_FORM = f"N: LISTENER://HOST:PORT, or LISTENER://HOST:PORT for every broker, with {BROKER} in the host"
_REFUSED = "connection refused"
_REMEDIES: Mapping[str, str] = {
    "dns": "Before the change: a record for {host} that resolves at {who}",
    "tcp": "Before the change: a way from {who} to {host}; firewalls and security groups first",
    "tls": "Before the change: a certificate that names {host}, of an authority that clients trust",
    "api": "Something else answers there: see what listens at {host}",
}


@dataclass(frozen=True, kw_only=True)
class Wording:
    """One address of one line; `broker_id` is None where the line is about every broker."""

    broker_id: int | None
    listener: str
    host: str
    port: int


def parse(lines: Iterable[str]) -> tuple[Wording, ...]:
    """Return the addresses of lines like `0: CLIENT://kafka-0.example.com:9092`.

    Raises:
        UsageError: a line that is none of these, or one that gives all brokers the same address.
    """
    found: list[Wording] = []
    for number, line in enumerate(lines, 1):
        text = line.strip()
        if text:
            found += _parsed(text, f"advertised addresses, line {number}: {clean(text, 160)!r}")
    for (broker, listener), times in Counter((one.broker_id, one.listener) for one in found).items():
        if times > 1:
            whose = "every broker" if broker is None else f"broker {broker}"
            msg = f"advertised addresses: {whose} is given two for listener {listener}"
            raise UsageError(msg)
    return tuple(found)


def _parsed(text: str, where: str) -> Iterator[Wording]:
    line = _LINE.fullmatch(text)
    for entry in (line["entries"] if line else "").split(","):
        match = _ENTRY.fullmatch(entry.strip())
        if line is None or match is None or not 0 < int(match["port"]) <= _LAST_PORT:
            msg = f"{where} is not of the form {_FORM}"
            raise UsageError(msg)
        if line["broker"] is None and BROKER not in match["host"]:
            msg = f"{where} gives all brokers one address: begin with a broker's id (0: …), or write {BROKER} in the host"
            raise UsageError(msg)
        broker = None if line["broker"] is None else int(line["broker"])
        host = match["host"].strip("[]")
        yield Wording(broker_id=broker, listener=match["listener"].upper(), host=host, port=int(match["port"]))


def endpoints(wordings: Iterable[Wording], snapshot: Snapshot) -> tuple[RegisteredEndpoint, ...]:
    """Return what each broker would advertise; a line about one broker counts more than one about all."""
    between = InterBroker(snapshot)
    found: dict[tuple[int, str], RegisteredEndpoint] = {}
    for one in sorted(wordings, key=lambda wording: wording.broker_id is not None):
        for broker in between.brokers if one.broker_id is None else [one.broker_id]:
            found[broker, one.listener] = RegisteredEndpoint(
                sample=0,
                broker_id=broker,
                listener=one.listener,
                protocol=between.protocol(broker, one.listener) or "",
                host=one.host.replace(BROKER, str(broker)),
                port=one.port,
            )
    return tuple(found[key] for key in sorted(found))


def new(proposed: Iterable[RegisteredEndpoint], snapshot: Snapshot) -> tuple[RegisteredEndpoint, ...]:
    """Return those that are not advertised yet."""
    between = InterBroker(snapshot)
    return tuple(one for one in proposed if not _is_held(one, between))


def _is_held(one: RegisteredEndpoint, between: InterBroker) -> bool:
    if one.broker_id in between.endpoints:
        held = between.endpoints[one.broker_id].get(one.listener)
        return held is not None and (held.host.lower(), held.port) == (one.host.lower(), one.port)
    told = between.settings.get(one.broker_id, "advertised.listeners").value or ""  # in KRaft nobody shows registrations
    return f"{one.listener}://{written(one)}".lower() in {part.strip().lower() for part in told.split(",")}


def advertised(proposed: Iterable[RegisteredEndpoint], snapshot: Snapshot) -> Snapshot:
    """Return the snapshot as its registrations would be."""
    added = {(one.broker_id, one.listener): one for one in proposed}
    now, _ = looks(snapshot)
    kept = (
        row
        for row in snapshot.rows
        if not (isinstance(row, RegisteredEndpoint) and row.sample == now and (row.broker_id, row.listener) in added)
    )
    return replace(snapshot, rows=(*kept, *(replace(one, sample=now or 0) for one in added.values())))


def not_advertised(proposed: Iterable[RegisteredEndpoint], snapshot: Snapshot) -> Iterator[str]:
    """Yield a sentence for each address that was to be advertised and is not."""
    for one in new(proposed, snapshot):
        yield f"Broker {one.broker_id} does not advertise {clean(one.listener)}://{written(one)}, as was proposed."


def misplaced(proposed: Iterable[RegisteredEndpoint], snapshot: Snapshot) -> Iterator[Weighed]:
    """Yield addresses of brokers that are not there, and of listeners that a broker does not have."""
    between = InterBroker(snapshot)
    for one in proposed:
        offered = between.offered(one.broker_id) or {one.listener}
        if one.broker_id not in between.brokers:
            message = f"Broker {one.broker_id} is to advertise {written(one)}, and is not in the cluster"
            remedy = f"The cluster has brokers {listing(between.brokers, 6)}"
        elif one.listener not in offered:
            known = listing(sorted(offered), 6)
            message = f"Broker {one.broker_id} advertises {known}, not {one.listener}: its file has to define that listener first"
            remedy = "Propose its whole server.properties: advertised.listeners may name only what listeners names"
        else:
            continue
        resource = f"broker/{one.broker_id}"
        item = Item(source="proposed addresses", code="KA310", resource=resource, message=message, remedy=remedy)
        yield Weighed("blockers", item)


def tried(
    proposed: Sequence[RegisteredEndpoint], trials: Iterable[Probe], vantages: Iterable[str], snapshot: Snapshot
) -> Iterator[Weighed]:
    """Yield what the trials of new addresses say, and where none was made that decides.

    Args:
        proposed: addresses that are not advertised yet.
        trials: the walks to them, layer by layer; a walk ends at the first layer that did not work.
        vantages: names of those that must reach them.
        snapshot: the cluster as it is, which tells the listener between brokers.
    """
    walks: dict[tuple[int, str, str, int | None], Probe] = {}
    for row in trials:
        walks[row.broker_id, row.listener, row.vantage, row.from_broker] = row  # the last layer that was walked
    between, names = InterBroker(snapshot), tuple(vantages)
    for one in proposed:
        own = {key[2:]: row for key, row in walks.items() if key[:2] == (one.broker_id, one.listener)}
        for (vantage, start), row in own.items():
            yield _walked(one, row, clean(vantage) if start is None else f"broker {start}")
        for name in names:
            if name not in {vantage for vantage, _ in own}:
                needs = f"To know: `vantages: {{{clean(name)}: {{command: …}}}}` in the cluster file"
                yield _open(f"vantage {clean(name)}", one, f"Not known: whether {clean(name)} reaches {_meant(one)}", needs)
        used = between.listener(one.broker_id)
        if used is not None and one.listener == used.name and not any(start is not None for _, start in own):
            needs = "To know: name a vantage with role broker, which is on the brokers' hosts"
            yield _open("proposed addresses", one, f"Not known: whether the other brokers reach {_meant(one)}", needs)


def _walked(one: RegisteredEndpoint, row: Probe, who: str) -> Weighed:
    source = f"vantage {clean(row.vantage)}"
    if row.outcome == "unknown" and row.layer in {"dns", "tcp"}:
        message = f"Not known: whether {who} reaches {_meant(one)}: {clean(row.error or 'not tried')}"
        return _open(source, one, message, f"To know: {row.needs}" if row.needs else "")
    heading, code, remedy = "blockers", "KA301", ""
    if row.layer == "tcp" and row.error == _REFUSED:
        heading, message = "warnings", f"Nothing listens yet at {_meant(one)}: {who} gets {_REFUSED}"
        remedy = "Right where the broker itself will listen there after its restart; a forward or a proxy must be there before it"
    elif row.outcome == "failed":
        message = f"{who} does not reach {_meant(one)}: {row.layer}, {clean(row.error or 'failed')}"
        remedy = _REMEDIES.get(row.layer, "").format(host=clean(one.host), who=who)
    elif row.layer == "identity" and row.detail and row.detail != str(one.broker_id):
        code, message = "KA111", f"{_meant(one)} leads {who} to broker {clean(row.detail)}"
        remedy = "Mend the forward, the proxy or the record before the change"
    else:
        heading, answers = "information", row.layer == "identity" and row.detail
        message = f"{who} reaches {_meant(one)}" + (", and that broker answers" if answers else "")
    return Weighed(heading, Item(source=source, code=code, resource=_resource(one), message=message, remedy=remedy))


def _open(source: str, one: RegisteredEndpoint, message: str, remedy: str) -> Weighed:
    return Weighed("not_known", Item(source=source, code="KA301", resource=_resource(one), message=message, remedy=remedy))


def _resource(one: RegisteredEndpoint) -> str:
    return f"broker/{one.broker_id}/listener/{one.listener}"


def _meant(one: RegisteredEndpoint) -> str:
    return f"{written(one)}, which broker {one.broker_id} is to advertise"


def written(one: RegisteredEndpoint) -> str:
    """Return HOST:PORT, an IPv6 address in brackets."""
    return f"[{one.host}]:{one.port}" if ":" in one.host else f"{clean(one.host)}:{one.port}"
