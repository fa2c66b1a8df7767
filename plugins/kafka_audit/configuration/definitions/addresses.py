"""Addresses as `org.apache.kafka.common.utils.Utils` and `QuorumConfig` read them."""

import re
from collections.abc import Callable

from kafka_audit.configuration.definitions.values import Value, integer

VOTERS = "controller.quorum.voters"
# Release 4 does not overlook any more what stands before the host.
_HOST_PORT = re.compile(r"(?:[0-9a-zA-Z\-%._]*://)?\[?([0-9a-zA-Z\-%._:]*)\]?:([0-9]+)")
_LOOSE_HOST_PORT = re.compile(r".*?\[?([0-9a-zA-Z\-%._:]*)\]?:([0-9]+)")
_HOST = re.compile(r"[0-9a-zA-Z\-%._:]*")
_LAST_PORT = 65535


def valid_host(host: str) -> bool:
    """Tell whether a host has no character that no host has."""
    return _HOST.fullmatch(host) is not None


def split(text: str, separator: str) -> list[str]:
    """Return the parts of a text as `String.split` does: empty ones at the end do not count."""
    if not text:
        return [""]
    parts = text.split(separator)
    while parts and not parts[-1]:
        parts.pop()
    return parts


def _pattern(version: str) -> re.Pattern[str]:
    return _HOST_PORT if version >= "4" else _LOOSE_HOST_PORT


def voters(version: str) -> Callable[[str, Value], str | None]:
    """Return what tells Kafka's objection to controller.quorum.voters (`QuorumConfig.parseVoterConnections`)."""
    pattern = _pattern(version)

    def judge(_name: str, value: Value) -> str | None:
        entries = value if isinstance(value, tuple) else ()
        return next((problem for entry in entries if (problem := _voter(entry, pattern))), None)

    return judge


def voter_ids(entries: tuple[str, ...]) -> dict[int, tuple[str, int]]:
    """Return host and port by id of entries in which `voters` found no fault."""
    found = {}
    for entry in entries:
        parts = split(entry, "@")
        if match := _LOOSE_HOST_PORT.fullmatch(parts[1]):
            found[integer(parts[0]) or 0] = (match[1], integer(match[2]) or 0)
    return found


def _voter(entry: str, pattern: re.Pattern[str]) -> str | None:
    form = f"for the configuration {VOTERS}. Each entry should be in the form `{{id}}@{{host}}:{{port}}`."
    parts = split(entry, "@")
    if len(parts) != 2:  # noqa: PLR2004 -- id and address
        return f"Invalid configuration value for {VOTERS}. Each entry should be in the form `{{id}}@{{host}}:{{port}}`."
    if integer(parts[0]) is None:
        return f"Failed to parse voter ID as an integer from {parts[0]}"
    match = pattern.fullmatch(parts[1])
    if match is None:
        return f"Failed to parse host name from entry {entry} {form}"
    return _port(match[2])


def _port(text: str) -> str | None:
    number = integer(text)
    if number is None:
        return not_a_number(text)
    return f"port out of range:{number}" if number > _LAST_PORT else None


def not_a_number(text: str) -> str:
    """Return what Java's NumberFormatException says."""
    return f'For input string: "{text}"'


def bootstrap_servers(version: str) -> Callable[[str, Value], str | None]:
    """Return what tells Kafka's objection to controller.quorum.bootstrap.servers (`QuorumConfig.parseBootstrapServer`)."""
    pattern = _pattern(version)

    def judge(name: str, value: Value) -> str | None:
        for entry in value if isinstance(value, tuple) else ():
            match = pattern.fullmatch(entry)
            if match is None:
                form = 'Each entry should be in the form "{host}:{port}"'
                return f"Failed to parse host name from {entry} for the configuration {name}. {form}"
            if problem := _port(match[2]):
                return problem
        return None

    return judge
