"""The voters of the metadata quorum, compared between the settings of nodes."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from kafka_audit.cluster.settings import Settings
from kafka_audit.compare.addresses import HostPort, address_text
from kafka_audit.compare.host_kinds import means_itself
from kafka_audit.compare.listener_names import canonical_listener
from kafka_audit.model.addresses.advertised_listeners import CONTROLLERS, INSTEAD, KEY, AdvertisedListener, entries
from kafka_audit.model.addresses.voters import addresses_clash

ANY_ADDRESS = frozenset({"", "0.0.0.0", "::"})  # noqa: S104 -- compared, not bound
"""Hosts of listeners that are no addresses to connect to."""


def usual_voters(named: Iterable[Mapping[int, HostPort]]) -> tuple[int, ...]:
    """Return the ids that most nodes name, of equally many the larger set."""
    kinds = Counter(tuple(sorted(addresses)) for addresses in named if addresses)
    return min(kinds, key=lambda ids: (-kinds[ids], -len(ids), ids), default=())


def other_listener(settings: Settings, node: int, named: HostPort) -> str | None:
    """Return where a controller listens for controllers, if that cannot be the address that is named for it."""
    if node not in settings.with_controller_role:
        return None
    own = [(named[0] if entry.host in ANY_ADDRESS else entry.host, entry.port) for entry in _controller_listeners(settings, node)]
    known = [(host, port) for host, port in own if host is not None and port is not None]
    if not known or len(known) < len(own) or not all(_is_elsewhere(named, address) for address in known):
        return None
    return address_text(*known[-1])


def _is_elsewhere(named: HostPort, listens: HostPort) -> bool:
    return addresses_clash(named, listens) or (means_itself(listens[0]) and not means_itself(named[0]))


def _controller_listeners(settings: Settings, node: int) -> Iterator[AdvertisedListener]:
    """Yield the listeners for controllers, as advertised (Kafka 3.9 and later) and as bound."""
    values = {key: settings.get(node, key) for key in (KEY, INSTEAD, CONTROLLERS)}
    if any(setting.state == "hidden" for setting in values.values()):
        return
    names = {canonical_listener(name) for name in (values[CONTROLLERS].value or "").split(",")}
    for key in (KEY, INSTEAD):
        yield from (entry for entry in entries({KEY: values[key].value}) if entry.listener in names)
