"""Which program a properties file is for, by keys that no broker has; a broker has keys that no other program has. Pure."""

import re
from collections.abc import Mapping
from typing import Any

from kafka_audit.configuration.files.java import Property
from kafka_audit.model.package_yaml import package_yaml

_TABLE: Mapping[str, Any] = package_yaml(__package__, "programs.yaml")
_BROKER_ALONE, CLIENTS = frozenset(_TABLE["broker"]), frozenset(_TABLE["clients"])
_PATTERNS = {program: re.compile(pattern) for program, pattern in _TABLE["programs"].items()}
_PART = re.compile(_TABLE["part"])
_BROKERS_LISTENER = re.compile(r"(?:^|,)\s*(?!https?:)[A-Za-z0-9_.-]+:/?", re.IGNORECASE)


def is_strongly_brokers(properties: Mapping[str, Property]) -> bool:
    """Return whether properties have a key, or listeners, that no other program has."""
    listeners = properties.get("listeners")
    listens = listeners is not None and _BROKERS_LISTENER.search(listeners.value) is not None
    return listens or not _BROKER_ALONE.isdisjoint(properties)


def is_part(properties: Mapping[str, Property]) -> bool:
    """Return whether properties may be a part of a broker's: they have keys of a broker, and of no other program."""
    return any(map(_PART.fullmatch, properties)) and other_program(properties) is None


def other_program(properties: Mapping[str, Property]) -> str | None:
    """Return the program that reads properties, None where they are a broker's or no program's that is known."""
    if is_strongly_brokers(properties):
        return None
    if "listeners" in properties and {"id", "bootstrap.servers"} <= properties.keys():
        return "REST Proxy"
    return next((name for name, pattern in _PATTERNS.items() if any(map(pattern.fullmatch, properties))), None)


def unread_format(name: str, text: str) -> str:
    """Return which format a file has that is not read, with what to do, "" where it has none of them."""
    searched = ((name, _TABLE["by_name"]), (text, _TABLE["by_text"]))
    found = (what for subject, table in searched for pattern, what in table.items() if re.search(pattern, subject, re.MULTILINE))
    return next(found, "")
