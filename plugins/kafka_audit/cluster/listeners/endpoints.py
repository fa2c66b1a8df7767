"""What brokers advertise: as ZooKeeper has it registered; without ZooKeeper as brokers list it and their settings say it."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from kafka_audit.cluster.listeners.inter_broker import TLS, InterBroker
from kafka_audit.cluster.registry import RegisteredAddress, RegistrySample
from kafka_audit.cluster.samples import Samples
from kafka_audit.cluster.views import HeldView
from kafka_audit.compare.addresses import address_text, canonical_address
from kafka_audit.differences.tables import ListCount
from kafka_audit.model.addresses.advertised_listeners import KEY, AdvertisedListener, entries
from kafka_audit.model.tables import BOOTSTRAP, BrokerConfig, BrokerProperty, BrokerView, Probe, ViewBroker

Lacking = Mapping[str, frozenset[int]]
"""Brokers that lack a listener, by its name."""


def lacking(
    views: Iterable[HeldView],
    counts: Mapping[str, ListCount],
    listed: Mapping[str, tuple[ViewBroker, ...]],
    fenced: Collection[int],
) -> Lacking:
    """Return the brokers that the views of one sample show to lack the listener on which each was given.

    A broker that gave a view on a listener has it: several may be nameless. So has one that is reported as fenced there.
    """
    found, holders = defaultdict[str, set[int]](set), defaultdict[str, set[int]](set)
    for held in views:
        if not held.foreign:
            count = counts.get(held.row.topics_digest)
            there = {row.broker_id for row in listed.get(held.row.brokers_digest, ())}
            found[held.row.listener].update(set(count.offline_in_sync) - there if count else ())
            holders[held.row.listener].add(held.broker_id)
    return {listener: frozenset(away) for listener, brokers in found.items() if (away := brokers - holders[listener] - {*fenced})}


_Key = tuple[int, str]  # broker, listener
_Place = tuple[str, int]
_Rows = Mapping[str, BrokerConfig] | Mapping[str, BrokerProperty]


@dataclass(frozen=True, kw_only=True, order=True)
class AdvertisedEndpoint:
    """An address that a broker advertises for a listener. `protocol` is None where it is unknown."""

    broker_id: int
    listener: str
    host: str
    port: int
    protocol: str | None = None

    @property
    def resource(self) -> str:
        """`broker/2/listener/PLAINTEXT`."""
        return f"broker/{self.broker_id}/listener/{self.listener}"

    @property
    def address(self) -> str:
        """`host:port`, as Kafka writes it."""
        return address_text(self.host, self.port)


def advertised_endpoints(addresses: Iterable[RegisteredAddress], probes: Iterable[Probe]) -> tuple[AdvertisedEndpoint, ...]:
    """Return what is registered with a listener's name; where nothing is, what was probed as clients reach it."""
    registered = [row for row in addresses if row.listener]
    if registered:
        return _sorted(
            AdvertisedEndpoint(
                broker_id=row.broker_id, listener=row.listener, host=row.host, port=row.port, protocol=row.protocol
            )
            for row in registered
        )
    probed: dict[_Key, list[Probe]] = {}
    for row in probes:
        if row.role == "client":
            probed.setdefault((row.broker_id, row.listener), []).append(row)
    return tuple(
        AdvertisedEndpoint(
            broker_id=broker,
            listener=listener,
            host=max(row.host for row in rows),
            port=max(row.port for row in rows),
            protocol=max(row.protocol for row in rows),
        )
        for (broker, listener), rows in sorted(probed.items())
    )


def _sorted(endpoints: Iterable[AdvertisedEndpoint]) -> tuple[AdvertisedEndpoint, ...]:
    return tuple(sorted(endpoints, key=lambda endpoint: (endpoint.broker_id, endpoint.listener, endpoint.host, endpoint.port)))


class Endpoints:
    """What brokers advertise in the newest sample, and whether that changed since the previous sample."""

    def __init__(self, registry: RegistrySample, before: RegistrySample, between: InterBroker) -> None:
        """Keep the registry of both samples and the inter-broker listeners; nothing is read yet."""
        self._registry, self._before, self._between = registry, before, between
        self._samples = registry.samples

    @cached_property
    def all(self) -> tuple[AdvertisedEndpoint, ...]:
        """What clients and brokers are given as addresses, one for each listener of a broker; sorted.

        Without ZooKeeper the nearest source wins: what a broker lists of itself, then DescribeConfigs, then what most others
        list, then its file. Of a listener without name there may be several addresses.
        """
        if not self._samples.kraft:
            return advertised_endpoints(self._registry.addresses, ())
        return _sorted(
            AdvertisedEndpoint(
                broker_id=broker,
                listener=listener,
                protocol=self._between.protocol(broker, listener) or self._probed.get((broker, *canonical_address(host, port))),
                host=host,
                port=port,
            )
            for broker, listener, host, port in self._known(self._listed)
        )

    @cached_property
    def known(self) -> tuple[AdvertisedEndpoint, ...]:
        """The same; where nothing says what is advertised, every address that a view lists. Sorted."""
        if self.all:
            return self.all
        listed: dict[str, list[ViewBroker]] = defaultdict(list)
        for row in self._samples.of(ViewBroker):
            listed[row.brokers_digest].append(row)
        newest: dict[tuple[str, str], BrokerView] = {}
        for view in sorted(self._samples.of(BrokerView), key=lambda view: view.sample):
            newest[view.observer, view.listener] = view
        return _sorted(
            {
                AdvertisedEndpoint(broker_id=row.broker_id, listener=view.listener, host=row.host, port=row.port)
                for view in newest.values()
                for row in listed.get(view.brokers_digest, ())
            }
        )

    @cached_property
    def by_broker(self) -> Mapping[int, tuple[AdvertisedEndpoint, ...]]:
        """`known` by broker."""
        found: dict[int, list[AdvertisedEndpoint]] = defaultdict(list)
        for endpoint in self.known:
            found[endpoint.broker_id].append(endpoint)
        return {broker: tuple(own_endpoints) for broker, own_endpoints in found.items()}

    def of(self, broker: int) -> tuple[AdvertisedEndpoint, ...]:
        """Return what a broker advertises, by `known`."""
        return self.by_broker.get(broker, ())

    @cached_property
    def by_resource(self) -> Mapping[str, AdvertisedEndpoint]:
        """`known` by resource, of a listener without name the first."""
        return {endpoint.resource: endpoint for endpoint in reversed(self.known)}

    @cached_property
    def by_settings(self) -> Mapping[int, tuple[AdvertisedEndpoint, ...]]:
        """What each broker's own settings say that it advertises, in KRaft, where nothing shows registrations.

        A broker of which that is unknown is left out, and so is one that advertises its own host's name, which no setting holds.
        """
        found = {}
        for broker in self._between.brokers:
            answers, files = self._between.settings.answers.get(broker, {}), self._between.settings.files.get(broker, {})
            listed_places = tuple(_entries(answers)) or tuple(_entries(files))
            own_endpoints = tuple(
                AdvertisedEndpoint(
                    broker_id=broker,
                    listener=entry.listener,
                    protocol=self._between.protocol(broker, entry.listener),
                    host=entry.host,
                    port=entry.port,
                )
                for entry in listed_places
                if entry.host and entry.port is not None
            )
            if own_endpoints and len(own_endpoints) == len(listed_places):
                found[broker] = own_endpoints
        return found

    @cached_property
    def moved(self) -> frozenset[int]:
        """Brokers whose registration, without ZooKeeper whose listed address, changed between the samples; none where one is."""
        if self._before.sample is None:
            return frozenset()
        if not self._samples.kraft:
            before = {broker: row.version for broker, row in self._before.brokers.items()}
            return frozenset(broker for broker, row in self._registry.brokers.items() if before.get(broker) != row.version)
        last, first = self._listed.places(), _listed(self._samples, self._before.sample).places()
        both = last.keys() & first.keys()
        changed = {key[0] for key in both if _canonical(last[key]) != _canonical(first[key])}
        return frozenset(changed | ({broker for broker, _ in last} ^ {broker for broker, _ in first}))

    @cached_property
    def _listed(self) -> "_Listed":
        return _listed(self._samples, self._registry.sample)

    def _known(self, listed: "_Listed") -> Iterator[tuple[int, str, str, int]]:
        """Yield broker, listener, host and port: the first source about a listener holds, an address has its name where known."""
        others, settings = listed.by_others(), self._between.settings
        named: dict[_Key, tuple[_Place, ...]] = {}
        for source in (listed.own, _whole(settings.answers), others, _whole(settings.files)):
            for key, places in source.items():
                if key[1] != BOOTSTRAP:
                    named.setdefault(key, places)
        for (broker, listener), places in named.items():
            yield from ((broker, listener, host, port) for host, port in places)
        known = {(broker, *canonical_address(*place)) for (broker, _), places in named.items() for place in places}
        self_reported = {broker for broker, _ in listed.own}  # their own report takes precedence
        unnamed = {**{key: places for key, places in others.items() if key[0] not in self_reported}, **listed.own}
        for (broker, listener), places in unnamed.items():
            left = (place for place in places if (broker, *canonical_address(*place)) not in known)
            yield from ((broker, listener, host, port) for host, port in left if listener == BOOTSTRAP)

    @cached_property
    def _probed(self) -> Mapping[tuple[int, str, int], str]:
        """The protocol of addresses that were probed: TLS as it was tried, plain text only where Kafka answered to it."""
        found = {}
        for row in self._samples.of(Probe):
            if row.protocol in TLS or (row.layer, row.outcome) == ("api", "ok"):
                found[row.broker_id, *canonical_address(row.host, row.port)] = row.protocol
        return found


def _canonical(places: Iterable[_Place]) -> frozenset[_Place]:
    return frozenset(canonical_address(*place) for place in places)


def _whole(settings: Mapping[int, _Rows]) -> dict[_Key, tuple[_Place, ...]]:
    """Return the addresses in settings of brokers, entries without a whole one left out."""
    return {
        (broker, listener.listener): ((listener.host, listener.port),)
        for broker, rows in settings.items()
        for listener in _entries(rows)
        if listener.host and listener.port is not None
    }


def _entries(rows: _Rows) -> Iterator[AdvertisedListener]:
    advertised = rows.get(KEY)
    if isinstance(advertised, BrokerProperty) and advertised.value is None:
        return iter(())  # what a file hides is not what `listeners` says; DescribeConfigs has nothing where it is unset
    return entries({key: row.value for key, row in rows.items()})


@dataclass(frozen=True, kw_only=True)
class _Listed:
    """Addresses in the lists of one sample: what brokers list of themselves, and how many list what."""

    own: Mapping[_Key, tuple[_Place, ...]]
    listed_places: Mapping[_Key, Mapping[_Place, int]]

    def by_others(self) -> Mapping[_Key, tuple[_Place, ...]]:
        """Return what most list, of a listener without name everything."""
        return {
            key: tuple(sorted(places)) if key[1] == BOOTSTRAP else (min(places, key=lambda place: (-places[place], place)),)
            for key, places in self.listed_places.items()
        }

    def places(self) -> Mapping[_Key, tuple[_Place, ...]]:
        """Return where each broker is: as it lists itself, else as most list it."""
        return {**self.by_others(), **self.own}


def _listed(samples: Samples, sample: int | None) -> _Listed:
    listed: dict[str, dict[int, _Place]] = defaultdict(dict)
    for row in samples.of(ViewBroker):
        listed[row.brokers_digest][row.broker_id] = row.host, row.port
    own: dict[_Key, set[_Place]] = defaultdict(set)
    alike: Counter[tuple[str, str]] = Counter()  # a thousand brokers that agree are one list
    for view in samples.at(BrokerView, sample):
        alike[view.brokers_digest, view.listener] += 1
        if (place := listed[view.brokers_digest].get(view.broker_id)) is not None:
            own[view.broker_id, view.listener].add(place)
    listed_places: dict[_Key, Counter[_Place]] = defaultdict(Counter)
    for (digest, listener), times in alike.items():
        for broker, place in listed[digest].items():
            listed_places[broker, listener][place] += times
    return _Listed(own={key: tuple(sorted(places)) for key, places in own.items()}, listed_places=listed_places)
