"""The broker's ConfigDef of each supported release, from Kafka's classes, and Kafka's rules to read a value by it.

`kafka-<version>.json` is the output of `testbed/oracles/KafkaConfigOracle.java`: name, type, default and validator of every
key in the order in which Kafka reads them, and the names of Kafka's own classes that a configuration may name. A test runs it
again and compares.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from functools import cache
from importlib.resources import files
from math import isfinite
from typing import Any

from kafka_audit.configuration.definitions.addresses import bootstrap_servers, split, voters
from kafka_audit.configuration.definitions.values import Value, integer, parsed

_PLAIN = (1e-3, 1e7)

Validator = Callable[[str, Value], str | None]


def validator(rule: Mapping[str, Any], version: str) -> Validator:
    """Return the validator that a release's file describes; raises KeyError for one that is not known here."""
    if rule["rule"] == "ControllerQuorumVotersValidator":
        return voters(version)
    if rule["rule"] == "ControllerQuorumBootstrapServersValidator":
        return bootstrap_servers(version)
    if rule["rule"] == "MetadataVersionValidator":
        return _metadata_version(rule, version)
    return _RULES[rule["rule"]](rule)


def shown(value: Value) -> str:
    """Return a value as Java prints it."""
    if isinstance(value, tuple):
        return f"[{', '.join(value)}]"
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return _double(value) if isinstance(value, float) else str(value)


def _double(number: float) -> str:
    """Return a number as `Double.toString` does: in plain digits from a thousandth to ten millions."""
    if not isfinite(number):
        return {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}[str(number)]
    if number == 0 or _PLAIN[0] <= abs(number) < _PLAIN[1]:
        return f"{Decimal(repr(number)):f}"
    digits, _, exponent = f"{Decimal(repr(number)).normalize():E}".partition("E")
    return f"{digits if '.' in digits else f'{digits}.0'}E{int(exponent)}"


def _invalid(name: str, value: Value, why: str) -> str:
    return f"Invalid value {shown(value)} for configuration {name}: {why}"


def _range(rule: Mapping[str, Any]) -> Validator:
    low, high = rule["min"], rule["max"]

    def judge(name: str, value: Value) -> str | None:
        if not isinstance(value, int | float):
            return _invalid(name, None, "Value must be non-null")
        if low is not None and value < low:
            return _invalid(name, value, f"Value must be at least {low}")
        if high is not None and value > high:
            return _invalid(name, value, f"Value must be no more than {high}")
        return None

    return judge


def _one_of(rule: Mapping[str, Any]) -> Validator:
    known = rule["validStrings"]
    reported = f"String must be one of: {', '.join(known)}"
    return lambda name, value: None if value in known else _invalid(name, value, reported)


def _one_of_any_case(rule: Mapping[str, Any]) -> Validator:
    known = rule["validStrings"]
    reported = f"String must be one of (case insensitive): {', '.join(known)}"
    return lambda name, value: None if str(value).upper() in known else _invalid(name, value, reported)


def _list(rule: Mapping[str, Any]) -> Validator:
    allowed = _one_of(rule["validString"])
    known = rule["validString"]["validStrings"]
    # Before Kafka 4 a ValidList checks only its strings.
    strict = "isEmptyAllowed" in rule
    refused_empty = strict and not rule["isEmptyAllowed"]
    reported = f"[{', '.join(known)}]" if known else "any non-empty value"

    def judge(name: str, value: Value) -> str | None:
        if not isinstance(value, tuple):
            return None
        if refused_empty and not value:
            return f"Configuration '{name}' must not be empty. Valid values include: {reported}"
        for part in value:
            if strict and not part:
                return f"Configuration '{name}' values must not be empty."
            if (known or not strict) and (problem := allowed(name, part)):
                return problem
        return None

    return judge


def _not_empty(_rule: Mapping[str, Any]) -> Validator:
    return lambda name, value: _invalid(name, value, "String must be non-empty") if value == "" else None


def _api_version(rule: Mapping[str, Any]) -> Validator:
    # The class lists its versions only with sub-versions; "2.8" alone means the last of 2.8.
    known = frozenset(rule["says"].strip("[]").split(", "))
    known |= {entry.partition("-")[0] for entry in known}

    def judge(name: str, value: Value) -> str | None:
        text = str(value)
        short = ".".join(split(text, ".")[: 3 if text.startswith("0.") else 2])
        return None if short in known else _invalid(name, value, f"Version `{text}` is not a valid version")

    return judge


def _metadata_version(rule: Mapping[str, Any], release: str) -> Validator:
    known = frozenset(rule["says"].strip("[]").split(", "))
    # Releases that were not out yet have no name without a sub-version.
    known |= {name for entry in known if (name := entry.partition("-")[0]) <= release}

    def judge(name: str, value: Value) -> str | None:
        text = str(value)
        parts, count = split(text, "."), 3 if text.startswith("0.") else 2
        short = ".".join(parts[:count]) if len(parts) > count else text
        return None if short in known else _invalid(name, value, f"Version {text} is not a valid version")

    return judge


def _gzip_level(_rule: Mapping[str, Any]) -> Validator:
    def judge(name: str, value: Value) -> str | None:
        if isinstance(value, int) and (value == -1 or 1 <= value <= 9):  # noqa: PLR2004 -- Deflater's levels
            return None
        return _invalid(name, value, "Value must be between 1 and 9 or equal to -1")

    return judge


def _lambda(rule: Mapping[str, Any]) -> Validator:
    return _gzip_level(rule) if "or -1" in rule["says"] else _threads(rule)


def _threads(_rule: Mapping[str, Any]) -> Validator:
    reported = "Value can be -1 or greater than 0"
    return lambda name, value: None if isinstance(value, int) and (value == -1 or value > 0) else _invalid(name, value, reported)


def _any(_rule: Mapping[str, Any]) -> Validator:
    return lambda _name, _value: None


_RULES: Mapping[str, Callable[[Mapping[str, Any]], Validator]] = {
    "Range": _range,
    "ValidString": _one_of,
    "CaseInsensitiveValidString": _one_of_any_case,
    "ValidList": _list,
    "NonEmptyString": _not_empty,
    "NonNullValidator": _any,  # a file cannot say null
    "ApiVersionValidator$": _api_version,
    "CompressionType$1$1": _gzip_level,
    "LambdaValidator": _lambda,
}


def version_numbers(version: str) -> tuple[int, ...]:
    """Return the numbers of a version, by which versions sort."""
    return tuple(number for part in version.split(".") if (number := integer(part)) is not None)


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
    LISTS = "a list of listeners that no other key mends"


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
