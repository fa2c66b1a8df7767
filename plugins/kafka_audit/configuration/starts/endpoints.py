"""The grammar of listeners: entries, names and ports, and the valid combinations."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from kafka_audit.configuration.definitions import ConfigError
from kafka_audit.configuration.definitions.addresses import not_a_number
from kafka_audit.configuration.definitions.values import COMMA, integer, trimmed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

_SEGMENT = re.compile(r"0|[1-9][0-9]{0,2}")
_GROUP = re.compile(r"[+-]?[0-9a-fA-F]{1,4}")
_ZONE = re.compile(r"[^\s/%]+")
_GROUPS = 8
_LAST = 255


@lru_cache(maxsize=4096)
def ipv4(text: str) -> bool:
    """Return whether a text is an IPv4 address in four decimal parts."""
    parts = text.split(".")
    return len(parts) == 4 and all(_SEGMENT.fullmatch(part) and int(part) <= _LAST for part in parts)  # noqa: PLR2004


@lru_cache(maxsize=4096)
def ipv6(text: str) -> bool:
    """Return whether a text is an IPv6 address, with or without a zone."""
    bare, mark, zone = text.partition("%")
    if mark and not _ZONE.fullmatch(zone):
        return False
    compressed = "::" in bare
    if bare.find("::") != bare.rfind("::"):
        return False
    if (bare.startswith(":") and not bare.startswith("::")) or (bare.endswith(":") and not bare.endswith("::")):
        return False
    groups = bare.split(":") if bare != "::" else [""]
    if compressed and bare != "::":
        # Java's split leaves out the empty parts at the end, and the validator the one at the beginning.
        while groups and not groups[-1]:
            groups.pop()
        if bare.endswith("::"):
            groups.append("")
        elif bare.startswith("::"):
            groups.pop(0)
    return len(groups) <= _GROUPS and _whole(groups, compressed=compressed)


def _whole(groups: list[str], *, compressed: bool) -> bool:
    valid = empty = 0
    for number, group in enumerate(groups):
        if not group:
            empty += 1
            if empty > 1:
                return False
        else:
            empty = 0
            if number == len(groups) - 1 and "." in group:
                if not ipv4(group):
                    return False
                valid += 1
            elif not _GROUP.fullmatch(group) or group.startswith("-"):
                return False
        valid += 1
    return valid == _GROUPS or (valid < _GROUPS and compressed)


_ENTRY = re.compile(r"(.*)://\[?([0-9a-zA-Z\-%._:]*)\]?:(-?[0-9]+)")


@dataclass(frozen=True, kw_only=True, slots=True)
class Endpoint:
    """One listener; `host` is None for every address of the machine."""

    listener: str
    protocol: str
    host: str | None
    port: int


def is_endpoint(entry: str) -> bool:
    """Return whether an entry has the form of a listener."""
    return _ENTRY.fullmatch(entry) is not None


def csv_list(text: str | None) -> tuple[str, ...]:
    """Return the entries of a text as Kafka's `parseCsvList` does."""
    return tuple(part for part in COMMA.split(text) if part) if text else ()


def csv_map(name: str, text: str) -> dict[str, str]:
    """Return `key:value` entries, cut at the last colon; raises ConfigError as Kafka's `getMap` does."""
    found: dict[str, str] = {}
    if not text:
        return found
    parts = COMMA.split(text)
    while parts and not parts[-1]:
        parts.pop()
    for part in parts:
        cut = part.rfind(":")
        if cut < 0:
            # The words are those of Java's own exception.
            reported = f"begin 0, end -1, length {len(part)}"
            message = f"Error parsing configuration property '{name}': {reported}"
            raise ConfigError(message, name)
        found[trimmed(part[:cut])] = trimmed(part[cut + 1 :])
    return found


class UnreadableError(ValueError):
    """An entry of a list of listeners is no endpoint, whatever the protocols are."""


def parse_endpoints(
    entries: Sequence[str], protocols: Mapping[str, str], normalised: Callable[[str, str], str]
) -> list[Endpoint]:
    """Return listeners by their entries; raises ValueError with what Kafka says against the first bad one.

    Args:
        entries: such as `PLAINTEXT://:9092`.
        protocols: security protocol by name.
        normalised: how the release compares names.
    """
    found = []
    for entry in entries:
        match = _ENTRY.fullmatch(entry)
        if match is None:
            message = f"Unable to parse {entry} to a broker endpoint"
            raise UnreadableError(message)
        name = normalised(match[1], "listeners")
        port = integer(match[3])
        if port is None:
            raise ValueError(not_a_number(match[3]))
        if name not in protocols:
            message = f"No security protocol defined for listener {name}"
            raise ValueError(message)
        found.append(Endpoint(listener=name, protocol=protocols[name], host=match[2] or None, port=port))
    return found


def names_differ(endpoints: Sequence[Endpoint]) -> bool:
    """Return whether no two listeners have one name."""
    return len({endpoint.listener for endpoint in endpoints}) == len(endpoints)


def ports_differ(endpoints: Sequence[Endpoint]) -> bool:
    """Return whether no two listeners have one port; port 0 is any port."""
    ports = [endpoint.port for endpoint in endpoints if endpoint.port]
    return len(set(ports)) == len(ports)


def shared_port(endpoints: Sequence[Endpoint], shown: str) -> tuple[bool, str] | None:
    """Return what Kafka 3.6 and later say against listeners of one port, None where the port may be shared.

    One IPv4 and one IPv6 address may share it.

    Returns:
        Whether a `require` says it (3.9 shows these with another beginning), and the words.
    """
    by_port: dict[int, list[Endpoint]] = {}
    for endpoint in endpoints:
        if endpoint.port:
            by_port.setdefault(endpoint.port, []).append(endpoint)
    for port, sharing in by_port.items():
        if len(sharing) > 1 and (reported := _refused(sharing, port, shown)):
            return reported
    return None


def _refused(sharing: Sequence[Endpoint], port: int, shown: str) -> tuple[bool, str] | None:
    hosts = [endpoint.host for endpoint in sharing if endpoint.host is not None and (ipv4(endpoint.host) or ipv6(endpoint.host))]
    others = len(sharing) - len(hosts)
    if others > 1:
        return True, f"Each listener must have a different port, listeners: {shown}"
    if not hosts:
        return None
    if len(hosts) == 2:  # noqa: PLR2004 -- a pair
        first, second = hosts
        rule = "If you have two listeners on the same port then one needs to be IPv4 and the other IPv6"
        reported = f"{rule}, listeners: {shown}, port: {port}"
        if not ((ipv4(first) and ipv6(second)) or (ipv6(first) and ipv4(second))):
            return True, reported
        return (False, reported) if others else None
    unless = "unless exactly one listener has an IPv4 address and the other IPv6 address"
    return False, f"Each listener must have a different port {unless}, listeners: {shown}, port: {port}"
