"""Listeners without registrations: Metadata lists an address of each broker, and its settings name the listener. Pure.

A broker with unknown settings has the name from the others: Metadata on a listener lists that listener of every broker.
Without the name, probes between brokers are unknown in KRaft: a probe could not be distinguished from that of another
listener.

No list that a client gets has an inter-broker listener of its own: each broker's settings name it and advertise its address. It
is probed from brokers' hosts, as brokers use it. No client needs to reach it, and it is not asked for anything.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from kafka_audit.compare.addresses import address_text, same_host
from kafka_audit.compare.listener_names import canonical_listener
from kafka_audit.model.addresses.advertised_listeners import AdvertisedListener, entries, protocols_by_listener
from kafka_audit.model.tables import (
    BOOTSTRAP,
    AddressProbe,
    BrokerConfig,
    BrokerIdentity,
    BrokerProperty,
    BrokerView,
    Certificate,
    Probe,
    RegisteredEndpoint,
    Row,
    ViewBroker,
)

_ANY_HOST = frozenset({"", "0.0.0.0", "::"})  # noqa: S104 -- what settings say, nothing is bound

_Places = Mapping[int, Mapping[tuple[str, int], str]]


def with_listener_names(rows: Iterable[Row]) -> tuple[Row, ...]:
    """Return the rows with the name of the listener, by the address in the settings of the broker, or of one that lists it.

    Args:
        rows: of one snapshot; rows of addresses with an unknown listener do not change.
    """
    found = tuple(rows)
    files, answers = settings_of(found, BrokerProperty), settings_of(found, BrokerConfig)
    reported = {
        broker: tuple(entries(settings)) for broker, settings in (files | answers).items()
    }  # what a broker runs with counts
    places: dict[int, dict[tuple[str, int], str]] = {}
    for row in found:
        if isinstance(row, Probe) and row.listener == BOOTSTRAP and (name := _name(reported.get(row.broker_id, ()), row)):
            places.setdefault(row.broker_id, {})[row.host, row.port] = name
    dialled = _dialled(found)
    found = tuple(_named(row, places, dialled) for row in found)
    by_others = _listed(found, places)
    return tuple(_named(row, by_others, dialled) for row in found) if by_others else found


def _name(own_listeners: Iterable[AdvertisedListener], row: Probe) -> str | None:
    """Return the listener of an address; without a host, it has the host of the broker, so the port decides."""
    return next(
        (
            listener.listener
            for listener in own_listeners
            if listener.port == row.port
            and listener.host is not None
            and (listener.host in _ANY_HOST or same_host(listener.host, row.host))
        ),
        None,
    )


def _listed(rows: tuple[Row, ...], places: _Places) -> _Places:
    """Return the listener of each address that views of one listener alone list, of brokers of which nothing is known yet."""
    asked: dict[str, set[str]] = {}
    for view in rows:
        if isinstance(view, BrokerView) and view.listener != BOOTSTRAP:
            asked.setdefault(view.brokers_digest, set()).add(view.listener)
    names: dict[tuple[int, str, int], set[str]] = {}
    for view_broker in rows:
        if isinstance(view_broker, ViewBroker) and view_broker.broker_id not in places:
            names.setdefault((view_broker.broker_id, view_broker.host, view_broker.port), set()).update(
                asked.get(view_broker.brokers_digest, ())
            )
    found: dict[int, dict[tuple[str, int], str]] = {}
    for (broker, host, port), listeners in names.items():
        if len(listeners) == 1:
            found.setdefault(broker, {})[host, port] = next(iter(listeners))
    return found


def _dialled(rows: Iterable[Row]) -> Mapping[tuple[int, str], frozenset[tuple[str, int]]]:
    """Return the advertised addresses of a broker that were dialled at each address, which `reach` may have changed."""
    found: dict[tuple[int, str], set[tuple[str, int]]] = {}
    for row in rows:
        if isinstance(row, Probe) and row.role == "client" and row.listener == BOOTSTRAP:
            found.setdefault((row.broker_id, row.via or address_text(row.host, row.port)), set()).add((row.host, row.port))
    return {key: frozenset(places) for key, places in found.items()}


def _named(row: Row, places: _Places, dialled: Mapping[tuple[int, str], frozenset[tuple[str, int]]]) -> Row:
    if not isinstance(row, Probe | AddressProbe | Certificate | BrokerView | BrokerIdentity) or row.listener != BOOTSTRAP:
        return row
    own = places.get(row.broker_id, {})
    if isinstance(row, Probe | AddressProbe | Certificate):
        name = own.get((row.host, row.port))
    else:
        names = {own.get(place) for place in dialled.get((row.broker_id, row.address), own)}
        name = next(iter(names)) if len(names) == 1 else None
    return row if name is None else replace(row, listener=name)


_NAME, _PROTOCOL, _MAP = "inter.broker.listener.name", "security.inter.broker.protocol", "listener.security.protocol.map"


def settings_of(rows: Iterable[Row], table: type[BrokerConfig] | type[BrokerProperty]) -> dict[int, dict[str, str | None]]:
    """Return values by key of each broker, by DescribeConfigs or by its file."""
    found: dict[int, dict[str, str | None]] = {}
    for row in rows:
        if isinstance(row, table):
            found.setdefault(row.broker_id, {})[row.key] = row.value
    return found


def inter_broker_endpoints(settings: Mapping[int, Mapping[str, str | None]], sample: int) -> tuple[RegisteredEndpoint, ...]:
    """Return the address of each broker's inter-broker listener; none where its settings do not say it.

    Args:
        settings: values by key of each broker.
        sample: number of the sample.
    """
    found = []
    for broker, values in sorted(settings.items()):
        name = canonical_listener(values.get(_NAME) or values.get(_PROTOCOL) or "PLAINTEXT")
        protocol = protocols_by_listener(values.get(_MAP) or "").get(name, name)
        found += [
            RegisteredEndpoint(
                sample=sample, broker_id=broker, listener=name, protocol=protocol, host=entry.host, port=entry.port
            )
            for entry in entries(values)
            if entry.listener == name and entry.host and entry.port is not None
        ]
    return tuple(found)
