"""What brokers advertise: as ZooKeeper has it registered; without ZooKeeper as brokers list it and their settings tell it."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from kafka_audit.checks.inter_broker import InterBroker
from kafka_audit.checks.rows import judge, kraft, looks, moved, newest, registrations_gap
from kafka_audit.model.advertised_listeners import Entry, entries
from kafka_audit.model.finding import Judgement, Status
from kafka_audit.model.tables import BOOTSTRAP, BrokerView, Probe, RegisteredEndpoint, Snapshot, ViewBroker

_Key = tuple[int, str]  # broker, listener
_Place = tuple[str, int]
_TLS = frozenset({"SSL", "SASL_SSL"})
_WORST_FIRST = (Status.FAIL, Status.UNKNOWN, Status.PASS, Status.NOT_APPLICABLE)


def endpoints(snapshot: Snapshot) -> tuple[RegisteredEndpoint, ...]:
    """Return what clients and brokers are given as addresses, one for each listener of a broker.

    Without ZooKeeper the nearest source wins: what a broker lists of itself, then DescribeConfigs, then what most others list,
    then its file. Of a listener without name there may be several addresses; a protocol of which nobody told is empty.
    """
    if not kraft(snapshot):
        return newest(snapshot, RegisteredEndpoint)
    between, sample = InterBroker(snapshot), looks(snapshot)[0] or 0
    listed = _listed(snapshot, sample)
    found = _Found(broker_of_own={broker for broker, _ in listed.own})
    for key, places in listed.own.items():
        found.add(key, places)
    for broker in between.settings.answers:
        found.take(broker, _by_answers(between, broker))
    for key, places in listed.by_others().items():
        if key[1] != BOOTSTRAP or key[0] not in found.broker_of_own:  # who speaks for itself needs no outsider's word
            found.add(key, places)
    for broker in between.settings.files:
        found.take(broker, _by_file(between, broker))
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
        for broker, listener, host, port in sorted(found.rows())
    )


@dataclass(kw_only=True)
class _Found:
    """Addresses in the order of their sources: the first word about a listener holds, and an address is told once."""

    broker_of_own: set[int]

    def __post_init__(self) -> None:
        self._places: dict[_Key, tuple[_Place, ...]] = {}
        self._known: set[tuple[int, str, int]] = set()

    def add(self, key: _Key, places: Iterable[_Place]) -> None:
        new = tuple(one for one in places if key[1] != BOOTSTRAP or (key[0], one[0].lower(), one[1]) not in self._known)
        if key not in self._places and new:
            self._places[key] = new
            self._known |= {(key[0], host.lower(), port) for host, port in new}

    def take(self, broker: int, told: Iterable[Entry]) -> None:
        for entry in told:
            if entry.host and entry.port is not None:
                place = entry.host, entry.port
                if place in self._places.get((broker, BOOTSTRAP), ()):  # here is its name
                    self._places[broker, BOOTSTRAP] = tuple(one for one in self._places[broker, BOOTSTRAP] if one != place)
                if (broker, entry.listener) not in self._places:
                    self._places[broker, entry.listener] = (place,)
                    self._known.add((broker, entry.host.lower(), entry.port))

    def rows(self) -> Iterator[tuple[int, str, str, int]]:
        for (broker, listener), places in self._places.items():
            yield from ((broker, listener, host, port) for host, port in places)


def by_settings(between: InterBroker) -> Mapping[int, tuple[RegisteredEndpoint, ...]]:
    """Return what each broker's own settings say that it advertises, in KRaft, where nobody shows registrations.

    A broker of which nobody told it is left out, and so is one that advertises its own host's name, which no setting tells.
    """
    sample = looks(between.snapshot)[0] or 0
    found = {}
    for broker in between.brokers:
        told = tuple(_by_answers(between, broker)) or tuple(_by_file(between, broker))
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


def _by_answers(between: InterBroker, broker: int) -> Iterator[Entry]:
    return entries({key: row.value for key, row in between.settings.answers.get(broker, {}).items()})


def _by_file(between: InterBroker, broker: int) -> Iterator[Entry]:
    return entries({key: row.value for key, row in between.settings.files.get(broker, {}).items()})


def _probed(snapshot: Snapshot) -> Mapping[tuple[int, str, int], str]:
    """Return the protocol of addresses that were tried: TLS as it was tried, plain text only where Kafka answered to it."""
    found = {}
    for row in snapshot.of(Probe):
        if row.protocol in _TLS or (row.layer, row.outcome) == ("api", "ok"):
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


def gap(snapshot: Snapshot, code: str) -> Iterator[Judgement]:
    """Yield the one judgement of a check of addresses where nobody told any."""
    if not kraft(snapshot):
        yield from registrations_gap(snapshot, code)
    elif not endpoints(snapshot):
        told = {"error": "no broker listed any address", "needs": "a broker that answers Metadata"}
        yield judge(snapshot, code, "cluster", Status.UNKNOWN, who="any broker", **told)


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
