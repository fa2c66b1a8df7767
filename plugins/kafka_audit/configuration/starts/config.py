"""One configuration as a release's ConfigDef reads it (`AbstractConfig`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafka_audit.configuration.definitions import ConfigError, StartRule, definitions, version_numbers
from kafka_audit.configuration.starts.hashes import hash_order

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kafka_audit.configuration.definitions.values import Value


NODE, BROKER = "node.id", "broker.id"


class Config:
    """Typed values of all keys; keys that Kafka does not know are left as they are.

    A key that the release does not define has no value, so that a rule about it holds in every release without it.
    """

    def __init__(self, properties: Mapping[str, str], version: str, patch: str | None = None) -> None:
        """Read the values in Kafka's order; raises ConfigError at the first that Kafka refuses."""
        self.version, self.patch = version, patch or version
        self._release = version_numbers(version)
        self._set = properties
        self.originals = properties = _with_synonyms(properties) if self.since(3, 1) else properties
        self._definitions = definitions(version)
        self._values: dict[str, Value] = {}
        for name, definition in self._definitions.items():
            if name in properties:
                self._values[name] = definition.value(properties[name])
            elif definition.required:
                message = f'Missing required configuration "{name}" which has no default value.'
                raise ConfigError(message, name, StartRule.MISSING)

    def since(self, *release: int) -> bool:
        """Return whether the configuration is judged by this release or a newer one: `since(3, 3)`."""
        return self._release >= release

    def defines(self, name: str) -> bool:
        """Return whether the release has this key."""
        return name in self._definitions

    def _value(self, name: str) -> Value:
        if name in self._values:
            return self._values[name]
        return self._definitions[name].default if name in self._definitions else None

    def number(self, name: str) -> int:
        """Return a number that has a default."""
        value = self._value(name)
        return value if isinstance(value, int) else 0

    def number_or_none(self, name: str) -> int | None:
        """Return a number that may be unset."""
        value = self._value(name)
        return value if isinstance(value, int) else None

    def flag(self, name: str) -> bool:
        """Return a boolean."""
        return self._value(name) is True

    def text(self, name: str) -> str:
        """Return a text, empty where there is none."""
        return self.text_or_none(name) or ""

    def text_or_none(self, name: str) -> str | None:
        """Return a text that may be unset."""
        value = self._value(name)
        return value if isinstance(value, str) else None

    def items(self, name: str) -> tuple[str, ...]:
        """Return a list, empty where there is none."""
        return self.items_or_none(name) or ()

    def items_or_none(self, name: str) -> tuple[str, ...] | None:
        """Return a list that may be unset."""
        value = self._value(name)
        return value if isinstance(value, tuple) else None

    def items_below(self, prefix: str, name: str) -> tuple[str, ...]:
        """Return a list as it holds under a prefix; raises ConfigError at any other key there that Kafka refuses.

        `AbstractConfig.valuesWithPrefixOverride` reads all keys under the prefix, those of one mechanism too.
        """
        found: Value = self._value(name)
        below = (key for key in self.originals if key.startswith(prefix))
        for key in hash_order(below, len(self.originals)):
            own = key.removeprefix(prefix)
            definition = self._definitions.get(own) or self._definitions.get(own[own.find(".") + 1 :])
            if definition is None:
                continue
            try:
                value = definition.value(self.originals[key])
            except ConfigError as error:
                raise ConfigError(error.message, key) from None
            found = value if own == name else found
        return found if isinstance(found, tuple) else ()

    def blame(self, *names: str) -> str:
        """Return the first of some keys that the file sets, without one the first."""
        return next((name for name in names if name in self._set), names[0])


def _with_synonyms(properties: Mapping[str, str]) -> Mapping[str, str]:
    """Return the properties with node and broker id each the other's, as `populateSynonyms` of 3.1 and later makes them."""
    node, broker = properties.get(NODE), properties.get(BROKER)
    if (node is None) == (broker is None):
        return properties
    reported = node if broker is None else broker
    return {**properties, NODE: reported or "", BROKER: reported or ""}


def require(holds: bool, message: str, key: str, rule: StartRule | None = None) -> None:  # noqa: FBT001 -- Scala's own
    """Raise what Scala's `require` throws where something does not hold."""
    if not holds:
        reported = f"requirement failed: {message}"
        raise ConfigError(reported, key, rule)


def config_error(message: str, key: str, rule: StartRule | None = None) -> ConfigError:
    """Return Kafka's exception with its message."""
    return ConfigError(message, key, rule)
