"""What brokers advertise: as ZooKeeper has it registered; without ZooKeeper as brokers list it and their settings tell it."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from kafka_audit.checks.inter_broker import TLS, InterBroker
from kafka_audit.checks.rows import judge, kraft, looks, moved, newest, registrations_gap
from kafka_audit.model.advertised_listeners import Entry, entries
from kafka_audit.model.finding import Judgement, Status
from kafka_audit.model.tables import (
    BOOTSTRAP,
    BrokerConfig,
    BrokerProperty,
    BrokerView,
    Probe,
    RegisteredEndpoint,
    Snapshot,
    ViewBroker,
)

_Key = tuple[int, str]  # broker, listener
_Place = tuple[str, int]
_Rows = Mapping[str, BrokerConfig] | Mapping[str, BrokerProperty]
_WORST_FIRST = (Status.FAIL, Status.UNKNOWN, Status.PASS, Status.NOT_APPLICABLE)


def endpoints(snapshot: Snapshot) -> tuple[RegisteredEndpoint, ...]:
    """Return what clients and brokers are given as addresses, one for each listener of a broker.

    Without ZooKeeper the nearest source wins: what a broker lists of itself, then DescribeConfigs, then what most others list,
    then its file. Of a listener without name there may be several addresses; a protocol of which nobody told is empty.
    """
    if not kraft(snapshot):
        return newest(snapshot, RegisteredEndpoint)
    between, sample = InterBroker(snapshot), looks(snapshot)[0] or 0
    protocols = _probed(snapshot)
    return tuple(
        RegisteredEndpoint(
            sample=sample,
            broker_id=broker,
            listener=listener,
            protocol=between.protocol(broker, listener) or protocols.get((broker, host.lower(), port), ""),
            host=host,
            port=port,
        )
        for broker, listener, host, port in sorted(_told(between, _listed(snapshot, sample)))
    )


def _told(between: InterBroker, listed: "_Listed") -> Iterator[tuple[int, str, str, int]]:
    """Yield broker, listener, host and port: the first word about a listener holds, an address has its name where one is told."""
    others = listed.by_others()
    named: dict[_Key, tuple[_Place, ...]] = {}
    for source in (listed.own, _whole(between.settings.answers), others, _whole(between.settings.files)):
        for key, places in source.items():
            if key[1] != BOOTSTRAP:
                named.setdefault(key, places)
    for (broker, listener), places in named.items():
        yield from ((broker, listener, host, port) for host, port in places)
    known = {(broker, host.lower(), port) for (broker, _), places in named.items() for host, port in places}
    speak = {broker for broker, _ in listed.own}  # who speaks for itself needs no outsider's word
    unnamed = {**{key: places for key, places in others.items() if key[0] not in speak}, **listed.own}
    for (broker, listener), places in unnamed.items():
        left = (place for place in places if (broker, place[0].lower(), place[1]) not in known)
        yield from ((broker, listener, host, port) for host, port in left if listener == BOOTSTRAP)


def _whole(settings: Mapping[int, _Rows]) -> dict[_Key, tuple[_Place, ...]]:
    """Return the addresses in settings of brokers, entries without a whole one left out."""
    return {
        (broker, one.listener): ((one.host, one.port),)
        for broker, rows in settings.items()
        for one in _entries(rows)
        if one.host and one.port is not None
    }


def _entries(rows: _Rows) -> Iterator[Entry]:
    return entries({key: row.value for key, row in rows.items()})


def by_settings(between: InterBroker) -> Mapping[int, tuple[RegisteredEndpoint, ...]]:
    """Return what each broker's own settings say that it advertises, in KRaft, where nobody shows registrations.

    A broker of which nobody told it is left out, and so is one that advertises its own host's name, which no setting tells.
    """
    sample = looks(between.snapshot)[0] or 0
    found = {}
    for broker in between.brokers:
        answers, files = between.settings.answers.get(broker, {}), between.settings.files.get(broker, {})
        told = tuple(_entries(answers)) or tuple(_entries(files))
        own = tuple(
            RegisteredEndpoint(
                sample=sample,
                broker_id=broker,
                listener=entry.listener,
                protocol=between.protocol(broker, entry.listener) or "",
                host=entry.host,
                port=entry.port,
            )
            for entry in told
            if entry.host and entry.port is not None
        )
        if own and len(own) == len(told):
            found[broker] = own
    return found


def _probed(snapshot: Snapshot) -> Mapping[tuple[int, str, int], str]:
    """Return the protocol of addresses that were tried: TLS as it was tried, plain text only where Kafka answered to it."""
    found = {}
    for row in snapshot.of(Probe):
        if row.protocol in TLS or (row.layer, row.outcome) == ("api", "ok"):
            found[row.broker_id, row.host.lower(), row.port] = row.protocol
    return found


def moving(snapshot: Snapshot) -> frozenset[int]:
    """Return the brokers whose registration, or without ZooKeeper whose listed address, changed between the two newest looks."""
    if not kraft(snapshot):
        return moved(snapshot)
    now, before = looks(snapshot)
    if now is None or before is None:
        return frozenset()
    last, first = _listed(snapshot, now).places(), _listed(snapshot, before).places()
    changed = {key[0] for key in last.keys() & first.keys() if last[key] != first[key]}
    return frozenset(changed | ({broker for broker, _ in last} ^ {broker for broker, _ in first}))


def answered(snapshot: Snapshot) -> frozenset[int]:
    """Return the brokers that told their settings without ZooKeeper: each of them is there, whatever address it shares.

    Where files alone were read, those of all files are.
    """
    between = InterBroker(snapshot)
    told = between.settings.answers if between.asked else between.settings.files
    return frozenset(told) if kraft(snapshot) else frozenset()


def gap(snapshot: Snapshot, code: str, told: Collection[RegisteredEndpoint]) -> Iterator[Judgement]:
    """Yield the one judgement of a check of addresses where nobody told any; `told` are the `endpoints`."""
    if not kraft(snapshot):
        yield from registrations_gap(snapshot, code)
    elif not told:
        words = {"error": "no broker listed any address", "needs": "a broker that answers Metadata"}
        yield judge(snapshot, code, "cluster", Status.UNKNOWN, who="any broker", **words)


def one_each(judgements: Iterable[Judgement]) -> Iterator[Judgement]:
    """Yield one judgement for each resource, the worst: a listener without name may stand for several addresses."""
    found: dict[str, Judgement] = {}
    for one in judgements:
        held = found.get(one.resource)
        if held is None or _WORST_FIRST.index(one.status) < _WORST_FIRST.index(held.status):
            found[one.resource] = one
    yield from found.values()


@dataclass(frozen=True, kw_only=True)
class _Listed:
    """Addresses in the lists of one look: what brokers list of themselves, and how many list what."""

    own: Mapping[_Key, tuple[_Place, ...]]
    said: Mapping[_Key, Mapping[_Place, int]]

    def by_others(self) -> Mapping[_Key, tuple[_Place, ...]]:
        """Return what most list, of a listener without name everything."""
        return {
            key: tuple(sorted(places)) if key[1] == BOOTSTRAP else (min(places, key=lambda one: (-places[one], one)),)
            for key, places in self.said.items()
        }

    def places(self) -> Mapping[_Key, tuple[_Place, ...]]:
        """Return where each broker is: as it lists itself, else as most list it."""
        return {**self.by_others(), **self.own}


def _listed(snapshot: Snapshot, sample: int) -> _Listed:
    listed: dict[str, dict[int, _Place]] = defaultdict(dict)
    for row in snapshot.of(ViewBroker):
        listed[row.brokers_digest][row.broker_id] = row.host, row.port
    own: dict[_Key, set[_Place]] = defaultdict(set)
    alike: Counter[tuple[str, str]] = Counter()  # a thousand brokers that agree are one list
    for view in snapshot.of(BrokerView):
        if view.sample == sample:
            alike[view.brokers_digest, view.listener] += 1
            if (place := listed[view.brokers_digest].get(view.broker_id)) is not None:
                own[view.broker_id, view.listener].add(place)
    said: dict[_Key, Counter[_Place]] = defaultdict(Counter)
    for (digest, listener), times in alike.items():
        for broker, place in listed[digest].items():
            said[broker, listener][place] += times
    return _Listed(own={key: tuple(sorted(places)) for key, places in own.items()}, said=said)
