"""Addresses as `org.apache.kafka.common.utils.Utils` and `QuorumConfig` read them."""

import re
import string
from collections.abc import Callable

from kafka_audit.configuration.definitions.values import Value, integer

VOTERS = "controller.quorum.voters"
# Releases 3.8 and 4 do not ignore text before the host; 3.9 does.
_HOST_PORT = re.compile(r"(?:[0-9a-zA-Z\-%._]*://)?\[?([0-9a-zA-Z\-%._:]*)\]?:([0-9]+)")
_OF_HOST = string.digits + string.ascii_letters + "-%._:"
_HOST = re.compile(r"[0-9a-zA-Z\-%._:]*")
_PORT = re.compile(r"[0-9]+")
_LAST_PORT = 65535


def valid_host(host: str) -> bool:
    """Return whether a host has no character that no host has."""
    return _HOST.fullmatch(host) is not None


def split(text: str, separator: str) -> list[str]:
    """Return the parts of a text as `String.split` does: empty ones at the end do not count."""
    if not text:
        return [""]
    parts = text.split(separator)
    while parts and not parts[-1]:
        parts.pop()
    return parts


def _host_port(text: str, version: str) -> tuple[str, str] | None:
    """Return host and port of an address, None where Kafka finds none."""
    if version >= "4" or version.startswith("3.8."):
        match = _HOST_PORT.fullmatch(text)
        return None if match is None else (match[1], match[2])
    # Before: `.*?\[?([0-9a-zA-Z\-%._:]*)\]?:([0-9]+)`, which takes time in the square of the text.
    address, colon, port = text.rpartition(":")
    address = address.removesuffix("]")
    before = address.rstrip(_OF_HOST)
    if not colon or _PORT.fullmatch(port) is None or "\n" in before:
        return None
    return address[len(before) :], port


def voters(version: str) -> Callable[[str, Value], str | None]:
    """Return a function for Kafka's error about controller.quorum.voters (`QuorumConfig.parseVoterConnections`)."""

    def judge(_name: str, value: Value) -> str | None:
        entries = value if isinstance(value, tuple) else ()
        return next((problem for entry in entries if (problem := _voter(entry, version))), None)

    return judge


def voter_ids(entries: tuple[str, ...]) -> dict[int, tuple[str, int]]:
    """Return host and port by id of entries in which `voters` found no fault."""
    found = {}
    for entry in entries:
        parts = split(entry, "@")
        if address := _host_port(parts[1], "3"):
            found[integer(parts[0]) or 0] = (address[0], integer(address[1]) or 0)
    return found


def _voter(entry: str, version: str) -> str | None:
    form = f"for the configuration {VOTERS}. Each entry should be in the form `{{id}}@{{host}}:{{port}}`."
    parts = split(entry, "@")
    if len(parts) != 2:  # noqa: PLR2004 -- id and address
        return f"Invalid configuration value for {VOTERS}. Each entry should be in the form `{{id}}@{{host}}:{{port}}`."
    if integer(parts[0]) is None:
        return f"Failed to parse voter ID as an integer from {parts[0]}"
    address = _host_port(parts[1], version)
    if address is None:
        return f"Failed to parse host name from entry {entry} {form}"
    return _port(address[1])


def _port(text: str) -> str | None:
    number = integer(text)
    if number is None:
        return not_a_number(text)
    return f"port out of range:{number}" if number > _LAST_PORT else None


def not_a_number(text: str) -> str:
    """Return what Java's NumberFormatException says."""
    return f'For input string: "{text}"'


def bootstrap_servers(version: str) -> Callable[[str, Value], str | None]:
    """Return a function for Kafka's error about controller.quorum.bootstrap.servers (`QuorumConfig.parseBootstrapServer`)."""

    def judge(name: str, value: Value) -> str | None:
        for entry in value if isinstance(value, tuple) else ():
            address = _host_port(entry, version)
            if address is None:
                form = 'Each entry should be in the form "{host}:{port}"'
                shown = ("{}", "{}") if version < "3.9" else (entry, name)  # 3.8 forgets to put them in
                return f"Failed to parse host name from {shown[0]} for the configuration {shown[1]}. {form}"
            if problem := _port(address[1]):
                return problem
        return None

    return judge
