"""Where the voters of the metadata quorum are reached, by what nodes are set to."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping

from kafka_audit.cluster.settings import ROLES, Settings
from kafka_audit.compare.addresses import HostPort, address_text, canonical_address
from kafka_audit.compare.hosts import ip_address_of
from kafka_audit.compare.listener_names import canonical_listener
from kafka_audit.model.advertised_listeners import CONTROLLERS, INSTEAD, KEY, AdvertisedListener, entries

VOTERS, SERVERS = "controller.quorum.voters", "controller.quorum.bootstrap.servers"

_VOTER = re.compile(r"\s{0,9}(\d{1,10})@(\S{1,300}):(\d{1,5})\s{0,9}")
_ANY_ADDRESS = frozenset({"", "0.0.0.0", "::"})  # noqa: S104 -- compared, not bound


def voters_named(setting: str | None) -> Mapping[int, HostPort]:
    """Return the addresses of voters in `controller.quorum.voters`, by node id."""
    matches = (_VOTER.fullmatch(part) for part in (setting or "").split(","))
    return {int(match[1]): (match[2].strip("[]"), int(match[3])) for match in matches if match is not None}


def usual_voters(named: Iterable[Mapping[int, HostPort]]) -> tuple[int, ...]:
    """Return the ids that most nodes name, of equally many the larger set."""
    kinds = Counter(tuple(sorted(addresses)) for addresses in named if addresses)
    return min(kinds, key=lambda ids: (-kinds[ids], -len(ids), ids), default=())


def usual_addresses(named: Iterable[Mapping[int, HostPort]]) -> Mapping[int, HostPort]:
    """Return the address that more than half of these nodes name for a voter."""
    found: dict[int, Counter[HostPort]] = defaultdict(Counter)
    for addresses in named:
        for voter, address in addresses.items():
            found[voter][canonical_address(*address)] += 1
    most = {voter: counts.most_common(1)[0] for voter, counts in found.items()}
    return {voter: address for voter, (address, count) in most.items() if count * 2 > found[voter].total()}


def addresses_clash(one: HostPort, other: HostPort) -> bool:
    """Return whether two addresses cannot be one: a host may have many names, and no two ports or IP addresses are the same."""
    (host, port), (usual, usual_port) = canonical_address(*one), canonical_address(*other)
    return port != usual_port or (host != usual and None not in {ip_address_of(host), ip_address_of(usual)})


def other_listener(settings: Settings, node: int, named: HostPort) -> str | None:
    """Return where a controller listens for controllers, if that cannot be the address that is named for it."""
    if "controller" not in (settings.get(node, ROLES).value or ""):
        return None
    own = [
        (named[0] if entry.host in _ANY_ADDRESS else entry.host, entry.port) for entry in _controller_listeners(settings, node)
    ]
    known = [(host, port) for host, port in own if host is not None and port is not None]
    if not known or len(known) < len(own) or not all(addresses_clash(named, address) for address in known):
        return None
    return address_text(*known[-1])


def _controller_listeners(settings: Settings, node: int) -> Iterator[AdvertisedListener]:
    """Yield the listeners for controllers, as advertised (Kafka 3.9 and later) and as bound."""
    values = {key: settings.get(node, key) for key in (KEY, INSTEAD, CONTROLLERS)}
    if any(setting.state == "hidden" for setting in values.values()):
        return
    names = {canonical_listener(name) for name in (values[CONTROLLERS].value or "").split(",")}
    for key in (KEY, INSTEAD):
        yield from (entry for entry in entries({KEY: values[key].value}) if entry.listener in names)
