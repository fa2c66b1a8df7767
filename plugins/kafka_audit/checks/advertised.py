"""What brokers advertise: as ZooKeeper has it registered; without ZooKeeper as their settings tell it and brokers list it."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping

from kafka_audit.checks.inter_broker import InterBroker
from kafka_audit.checks.rows import judge, kraft, looks, moved, newest, registrations_gap
from kafka_audit.model.finding import Judgement, Status
from kafka_audit.model.tables import BOOTSTRAP, BrokerView, RegisteredEndpoint, Snapshot, ViewBroker

_ENTRY = re.compile(r"(?P<listener>[A-Za-z0-9_.-]+)://(?P<host>\[[0-9A-Fa-f:.%]+\]|[^\[\]:/,\s]+):(?P<port>\d{1,5})")

_Places = Mapping[tuple[int, str], tuple[str, int]]


def endpoints(snapshot: Snapshot) -> tuple[RegisteredEndpoint, ...]:
    """Return what clients and brokers are given as addresses, one for each listener of a broker.

    Without ZooKeeper: what a broker's settings say, else what it lists of itself, else what most brokers list. Then a protocol of
    which nobody told is empty.
    """
    if not kraft(snapshot):
        return newest(snapshot, RegisteredEndpoint)
    between, sample = InterBroker(snapshot), looks(snapshot)[0] or 0
    found = {(one.broker_id, one.listener): one for own in by_settings(between).values() for one in own}
    known = {(one.broker_id, one.host.lower(), one.port) for one in found.values()}
    for (broker, listener), (host, port) in sorted(_listed(snapshot, sample).items(), key=lambda one: one[0][1] == BOOTSTRAP):
        if (broker, listener) not in found and (broker, host.lower(), port) not in known:
            protocol = between.protocol(broker, listener) or ""
            found[broker, listener] = RegisteredEndpoint(
                sample=sample, broker_id=broker, listener=listener, protocol=protocol, host=host, port=port
            )
            known.add((broker, host.lower(), port))
    return tuple(found[key] for key in sorted(found))


def by_settings(between: InterBroker) -> Mapping[int, tuple[RegisteredEndpoint, ...]]:
    """Return what each broker's own settings say that it advertises, in KRaft, where nobody shows registrations.

    A broker of which nobody told it is left out, and so is one that advertises its own host's name, which no setting tells.
    """
    sample = looks(between.snapshot)[0] or 0
    found = {}
    for broker in between.brokers:
        told = (between.settings.get(broker, key).value for key in ("advertised.listeners", "listeners"))
        names = between.offered(broker) or frozenset()
        entries = [_ENTRY.fullmatch(entry.strip()) for entry in next(filter(None, told), "").split(",")]
        own = tuple(
            RegisteredEndpoint(
                sample=sample,
                broker_id=broker,
                listener=entry["listener"].upper(),
                protocol=between.protocol(broker, entry["listener"].upper()) or "",
                host=entry["host"].strip("[]"),
                port=int(entry["port"]),
            )
            for entry in entries
            if entry is not None and entry["listener"].upper() in names
        )
        if own and None not in entries:
            found[broker] = own
    return found


def moving(snapshot: Snapshot) -> frozenset[int]:
    """Return the brokers whose registration, or without ZooKeeper whose listed address, changed between the two newest looks."""
    if not kraft(snapshot):
        return moved(snapshot)
    now, before = looks(snapshot)
    if now is None or before is None:
        return frozenset()
    last, first = _listed(snapshot, now), _listed(snapshot, before)
    return frozenset(broker for (broker, _), _ in last.items() ^ first.items())


def gap(snapshot: Snapshot, code: str) -> Iterator[Judgement]:
    """Yield the one judgement of a check of addresses where nobody told any."""
    if not kraft(snapshot):
        yield from registrations_gap(snapshot, code)
    elif not endpoints(snapshot):
        told = {"error": "no broker listed any address", "needs": "a broker that answers Metadata"}
        yield judge(snapshot, code, "cluster", Status.UNKNOWN, who="any broker", **told)


def _listed(snapshot: Snapshot, sample: int) -> _Places:
    """Return the address of each broker and listener in one look: as it lists itself, else as most brokers list it."""
    listed: dict[str, dict[int, tuple[str, int]]] = defaultdict(dict)
    for row in snapshot.of(ViewBroker):
        listed[row.brokers_digest][row.broker_id] = row.host, row.port
    own: dict[tuple[int, str], tuple[str, int]] = {}
    alike: Counter[tuple[str, str]] = Counter()  # a thousand brokers that agree are one list
    for view in snapshot.of(BrokerView):
        if view.sample == sample:
            alike[view.brokers_digest, view.listener] += 1
            if (place := listed[view.brokers_digest].get(view.broker_id)) is not None:
                own[view.broker_id, view.listener] = place
    said: dict[tuple[int, str], Counter[tuple[str, int]]] = defaultdict(Counter)
    for (digest, listener), times in alike.items():
        for broker, place in listed[digest].items():
            said[broker, listener][place] += times
    return {key: own.get(key) or min(places, key=lambda one: (-places[one], one)) for key, places in said.items()}
