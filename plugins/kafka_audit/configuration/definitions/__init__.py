"""The broker's ConfigDef of each supported release, from Kafka's classes, and Kafka's rules to read a value by it.

`kafka-<version>.json` is the output of `testbed/oracles/KafkaConfigOracle.java`: name, type, default and validator of every
key in the order in which Kafka reads them, and the names of Kafka's own classes that a configuration may name. A test runs it
again and compares.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib.resources import files
from typing import Any

from kafka_audit.configuration.definitions.validators import Validator, validator
from kafka_audit.configuration.definitions.values import Value, parsed


def version_numbers(version: str) -> tuple[int, ...]:
    """Return the numbers of a version, by which versions sort."""
    return tuple(int(part) for part in version.split(".") if part.isdecimal())


_FILES = (entry.name.removesuffix(".json") for entry in files(__package__).iterdir() if entry.name.endswith(".json"))
VERSIONS = tuple(sorted((name.removeprefix("kafka-") for name in _FILES), key=version_numbers))
"""The judged releases, oldest first: those whose definitions are here."""


class StartRule(StrEnum):
    """Rules of KafkaConfig, independent of the message of a release."""

    VALUE = "a value that its definition refuses"
    MISSING = "a required key without a value"
    NOT_ADVERTISED = "the inter-broker listener is not advertised"
    NOT_MAPPED = "the inter-broker listener has no security protocol"
    MECHANISM_NOT_ENABLED = "the inter-broker mechanism is not enabled"


class ConfigError(ValueError):
    """Kafka refuses a configuration: its own message, the key to blame and the rule, where there are ones."""

    def __init__(self, message: str, key: str | None = None, rule: StartRule | None = None) -> None:
        """Keep all."""
        super().__init__(message)
        self.message = message
        self.key = key
        self.rule = rule


@dataclass(frozen=True, kw_only=True, slots=True)
class Definition:
    """One key. `default` has the type that `type` (BOOLEAN, INT, LIST, …) gives; a key that is `required` has none."""

    name: str
    type: str
    default: Value
    required: bool
    validator: Validator | None
    distinct: bool  # whether duplicate values count once (Kafka 4's ValidList)
    classes: frozenset[str]  # Kafka's own, where the type is CLASS

    def value(self, text: str) -> Value:
        """Return what Kafka makes of a text; raises ConfigError in Kafka's words (`ConfigDef.parseValue`)."""
        found, problem = parsed(text, self.type)
        if problem is None and self.type == "CLASS" and is_missing(str(found), self.classes):
            problem = f"Class {text} could not be found."
        if problem is None:
            if self.distinct and isinstance(found, tuple):
                found = tuple(dict.fromkeys(found))
            problem = self.validator(self.name, found) if self.validator else None
        else:
            problem = f"Invalid value {text} for configuration {self.name}: {problem}"
        if problem is not None:
            raise ConfigError(problem, self.name, StartRule.VALUE)
        return found


def is_missing(name: str, classes: frozenset[str]) -> bool:
    """Return whether a class surely does not exist.

    Only Kafka has classes in its own packages, no class is outside of all packages, and no part of a Java name is empty or starts
    with a digit. Any other name may be a class of the user's own, and is taken to exist.
    """
    parts = name.split(".")
    if len(parts) == 1 or any(not part or part[0].isdecimal() for part in parts):
        return True
    return name.startswith(("org.apache.kafka.", "kafka.")) and name not in classes


@cache
def kafka_classes(version: str) -> frozenset[str]:
    """Return the names of a release's own authorizers, callback handlers, policies and the like."""
    return frozenset(_data(version)[-1]["classes"])


@cache
def _data(version: str) -> list[dict[str, Any]]:
    rules: list[dict[str, Any]] = json.loads((files(__package__) / f"kafka-{version}.json").read_text("utf-8"))
    return rules


def keys(version: str) -> tuple[str, ...]:
    """Return the names of a release's keys, which takes a fifth of the time of their definitions."""
    return tuple(raw["name"] for raw in _data(version)[:-1])


@cache
def definitions(version: str) -> Mapping[str, Definition]:
    """Return a release's keys by name, in Kafka's order.

    Args:
        version: one of `VERSIONS`.
    """
    found = {}
    for raw in _data(version)[:-1]:
        default = raw.get("default")
        rule = raw.get("validator")
        found[raw["name"]] = Definition(
            name=raw["name"],
            type=raw["type"],
            default=tuple(default) if isinstance(default, list) else default,
            required=raw.get("required", False),
            validator=validator(rule, version) if rule else None,
            distinct=rule is not None and "isEmptyAllowed" in rule,
            classes=kafka_classes(version) if raw["type"] == "CLASS" else frozenset(),
        )
    return found
