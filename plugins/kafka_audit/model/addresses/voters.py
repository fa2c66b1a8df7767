"""Where the voters of the metadata quorum are reached: by the quorum itself, else by what nodes are set to. Pure."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping

from kafka_audit.compare.addresses import HostPort, canonical_address, ip_address_of
from kafka_audit.compare.listener_names import canonical_listener
from kafka_audit.model.addresses.advertised_listeners import CONTROLLERS, first_controllers_listener
from kafka_audit.model.tables import QuorumVoter

VOTERS, SERVERS = "controller.quorum.voters", "controller.quorum.bootstrap.servers"

_VOTER = re.compile(r"\s{0,9}(\d{1,10})@(\S{1,300}):(\d{1,5})\s{0,9}")
_SERVER = re.compile(r"\s{0,9}(\S{1,300}):(\d{1,5})\s{0,9}")


def named_voters(setting: str | None) -> Mapping[int, HostPort]:
    """Return the addresses of voters in `controller.quorum.voters`, by node id."""
    matches = (_VOTER.fullmatch(part) for part in (setting or "").split(","))
    return {int(match[1]): (match[2].strip("[]"), int(match[3])) for match in matches if match is not None}


def servers_named(setting: str | None) -> tuple[HostPort, ...]:
    """Return the addresses in `controller.quorum.bootstrap.servers`."""
    matches = (_SERVER.fullmatch(part) for part in (setting or "").split(","))
    return tuple((match[1].strip("[]"), int(match[2])) for match in matches if match is not None)


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


SettingsByNode = Mapping[int, Mapping[str, str | None]]
"""Values of settings by node and key; a key that is not there is unknown."""


def quorum_addresses(rows: Iterable[QuorumVoter], settings: SettingsByNode) -> Mapping[int, HostPort]:
    """Return the address that other voters use of each one, as the leader has it.

    Of several listeners it is the one that nodes name first in `controller.listener.names`.
    """
    used = {first_controllers_listener(values.get(CONTROLLERS)) for values in settings.values()}
    # The last of a voter counts: one that nodes use comes after all others.
    ordered = sorted(rows, key=lambda row: canonical_listener(row.listener) in used)
    return {row.voter_id: (row.host, row.port) for row in ordered}


def voter_addresses(rows: Iterable[QuorumVoter], settings: SettingsByNode) -> Mapping[int, HostPort]:
    """Return the same, and before Kafka 3.9, whose answers have no addresses, what most nodes are set to."""
    named = (named_voters(values.get(VOTERS)) for values in settings.values())
    return quorum_addresses(rows, settings) or usual_addresses(named)
