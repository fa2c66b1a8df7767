"""One configuration as a release's ConfigDef reads it."""

from collections.abc import Mapping

from kafka_audit.configuration.definitions import ConfigError, definitions
from kafka_audit.configuration.definitions.values import Value


class Config:
    """Typed values of all keys; keys that Kafka does not know are left as they are."""

    def __init__(self, properties: Mapping[str, str], version: str) -> None:
        """Read the values in Kafka's order; raises ConfigError at the first that Kafka refuses."""
        self.originals = properties
        self.version = version
        self._definitions = definitions(version)
        self._values: dict[str, Value] = {}
        for name, definition in self._definitions.items():
            if name in properties:
                self._values[name] = definition.value(properties[name])
            elif definition.required:
                message = f'Missing required configuration "{name}" which has no default value.'
                raise ConfigError(message, name)
