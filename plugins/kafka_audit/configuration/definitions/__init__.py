"""The broker's ConfigDef of each judged release, read off Kafka itself, and Kafka's own way to read a value by it.

`kafka-<version>.json` is what `testbed/oracles/KafkaConfigOracle.java define` wrote: name, type, default and validator of every
key in the order in which Kafka reads them. A test writes them anew and compares.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from kafka_audit.configuration.definitions.validators import Validator, validator
from kafka_audit.configuration.definitions.values import Value, parsed

VERSIONS = ("1.1.1", "2.8.2", "3.9.1", "4.3.0")


class ConfigError(ValueError):
    """Kafka refuses a configuration: its own message, and the key to blame where there is one."""

    def __init__(self, message: str, key: str | None = None) -> None:
        """Keep both."""
        super().__init__(message)
        self.message = message
        self.key = key


@dataclass(frozen=True, kw_only=True, slots=True)
class Definition:
    """One key. `default` has the type that `type` (BOOLEAN, INT, LIST, …) gives; a key that is `required` has none."""

    name: str
    type: str
    default: Value
    required: bool
    validator: Validator | None
    distinct: bool  # whether values that are told twice count once (Kafka 4's ValidList)

    def value(self, text: str) -> Value:
        """Return what Kafka makes of a text; raises ConfigError in Kafka's words (`ConfigDef.parseValue`)."""
        found, problem = parsed(text, self.type)
        if problem is None:
            if self.distinct and isinstance(found, tuple):
                found = tuple(dict.fromkeys(found))
            problem = self.validator(self.name, found) if self.validator else None
        else:
            problem = f"Invalid value {text} for configuration {self.name}: {problem}"
        if problem is not None:
            raise ConfigError(problem, self.name)
        return found


@cache
def definitions(version: str) -> Mapping[str, Definition]:
    """Return a release's keys by name, in Kafka's order.

    Args:
        version: one of `VERSIONS`.
    """
    data = json.loads((files(__package__) / f"kafka-{version}.json").read_text("utf-8"))
    found = {}
    for raw in data:
        default = raw.get("default")
        rule = raw.get("validator")
        found[raw["name"]] = Definition(
            name=raw["name"],
            type=raw["type"],
            default=tuple(default) if isinstance(default, list) else default,
            required=raw.get("required", False),
            validator=validator(rule, version) if rule else None,
            distinct=rule is not None and "isEmptyAllowed" in rule,
        )
    return found
