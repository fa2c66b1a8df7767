"""What a configuration listens on and advertises, and which listener is for what, by release (`KafkaConfig`)."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from kafka_audit.configuration.definitions import ConfigError, StartRule
from kafka_audit.configuration.definitions.addresses import split
from kafka_audit.configuration.definitions.values import trimmed
from kafka_audit.configuration.starts.config import config_error, require
from kafka_audit.configuration.starts.endpoints import (
    Endpoint,
    UnreadableError,
    csv_list,
    csv_map,
    is_endpoint,
    names_differ,
    parse_endpoints,
    ports_differ,
    shared_port,
)
from kafka_audit.configuration.starts.hashes import hash_order, scala_order

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kafka_audit.configuration.starts.config import Config

LISTENERS = "listeners"
ADVERTISED = "advertised.listeners"
MAP = "listener.security.protocol.map"
INTER_BROKER = "inter.broker.listener.name"
INTER_BROKER_PROTOCOL = "security.inter.broker.protocol"
CONTROL_PLANE = "control.plane.listener.name"
CONTROLLERS = "controller.listener.names"
NAMELESS = "The provided listener name is null or empty string"
_PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
_SECURE = frozenset(_PROTOCOLS[1:])


def protocol_of(text: str, key: str) -> str:
    """Return a security protocol by its name."""
    if text.upper() not in _PROTOCOLS:
        message = f"Invalid security protocol `{text}` defined in {key}"
        raise config_error(message, key)
    return text.upper()


class Listening:
    """The listeners of releases before 3.1, and what all releases share."""

    def __init__(self, config: Config) -> None:
        """Values are read lazily: Kafka reports the first error that it meets."""
        self.config = config

    @cached_property
    def protocols(self) -> dict[str, str]:
        """Security protocol by listener name."""
        return self._mapped()

    def _mapped(self) -> dict[str, str]:
        found: dict[str, str] = {}
        for reported, text in self._entries_of_map():
            name, protocol = self._name(reported, MAP), protocol_of(text, MAP)
            if name in found and self.config.since(4, 1):
                message = f"Duplicate key ListenerName({name}) (attempted merging values {found[name]} and {protocol})"
                raise config_error(message, MAP)
            found[name] = protocol
        return found

    def _entries_of_map(self) -> Iterable[tuple[str, str]]:
        # Of names that differ in their letters only, the last one in this order counts.
        entries = csv_map(MAP, self.config.text(MAP))
        if self.config.since(3, 8):  # a HashMap of Java's
            return [(name, entries[name]) for name in hash_order(entries, len(entries))]
        # The artifacts of 2.4 and later are those for Scala 2.13.
        return [(name, entries[name]) for name in scala_order(entries, keys_first=self.config.since(2, 4))]

    def _name(self, text: str, key: str) -> str:
        """Return a listener's name as Kafka compares it; releases before 3.6 let it be empty."""
        if self.config.since(3, 6) and not trimmed(text):
            raise config_error(NAMELESS, key)
        return text.upper()

    @cached_property
    def listeners(self) -> list[Endpoint]:
        """What the broker binds."""
        reported = self.config.text_or_none(LISTENERS)
        if reported is None:
            reported = f"PLAINTEXT://{self.config.text('host.name')}:{self.config.number('port')}"
        return self._read(reported, LISTENERS)

    @cached_property
    def advertised(self) -> list[Endpoint]:
        """The advertised endpoints."""
        config = self.config
        reported = config.text_or_none(ADVERTISED)
        if reported is not None:
            return self._read(reported, ADVERTISED)
        host, port = config.text_or_none("advertised.host.name"), config.number_or_none("advertised.port")
        if host is not None or port is not None:
            host = host if host is not None else config.text("host.name")
            port = port if port is not None else config.number("port")
            return self._read(f"PLAINTEXT://{host}:{port}", config.blame("advertised.host.name", "advertised.port"))
        return [endpoint for endpoint in self.listeners if endpoint.listener not in self.controller_names]

    @cached_property
    def controller_names(self) -> tuple[str, ...]:
        """Names in controller.listener.names, unchanged."""
        if self.config.since(4, 1):
            return self.config.items_or_none(CONTROLLERS) or csv_list(self.config.text(CONTROLLERS))
        reported = self.config.text(CONTROLLERS)
        none = self.config.since(3, 1) or not self.config.defines(CONTROLLERS)  # 2.8 and 3.0 read one empty name
        return () if none and not reported else tuple(split(reported, ","))

    @property
    def controllers(self) -> list[Endpoint]:
        """Listeners that are for controllers."""
        return [endpoint for endpoint in self.listeners if endpoint.listener in self.controller_names]

    def _read(self, text: str, key: str) -> list[Endpoint]:
        protocols = self.protocols
        try:
            found = parse_endpoints(csv_list(text), protocols, self._name)
        except (ValueError, ConfigError) as error:
            message = f"Error creating broker listeners from '{text}': {error}"
            raise ConfigError(message, key, StartRule.LISTS if isinstance(error, UnreadableError) else None) from None
        self._distinct(found, text, key)
        return found

    def _distinct(self, endpoints: list[Endpoint], text: str, key: str) -> None:
        port = f"Each listener must have a different port, listeners: {text}"
        if not self.config.since(2, 7):
            require(ports_differ(endpoints), port, key)
        require(names_differ(endpoints), f"Each listener must have a different name, listeners: {text}", key)
        if key != LISTENERS:
            return
        if not self.config.since(3, 6):
            require(ports_differ(endpoints), port, key)
        elif reported := shared_port(endpoints, text):
            required, message = reported
            require(not required, message, key)
            raise config_error(message, key)

    @cached_property
    def inter_broker(self) -> tuple[str, str]:
        """Name and protocol of the listener between brokers."""
        config = self.config
        reported = config.text_or_none(INTER_BROKER)
        if reported is None:
            protocol = protocol_of(config.text(INTER_BROKER_PROTOCOL), INTER_BROKER_PROTOCOL)
            return protocol, protocol
        if INTER_BROKER_PROTOCOL in config.originals:
            message = f"Only one of {INTER_BROKER} and {INTER_BROKER_PROTOCOL} should be set."
            raise config_error(message, INTER_BROKER)
        name = self._name(reported, INTER_BROKER)
        if name not in self.protocols:
            message = f"Listener with name {name} defined in {INTER_BROKER} not found in {MAP}."
            raise config_error(message, INTER_BROKER, StartRule.NOT_MAPPED)
        return name, self.protocols[name]

    @cached_property
    def control_plane(self) -> str | None:
        """Name of the separate listener for requests of the controller (KIP-291)."""
        reported = self.config.text_or_none(CONTROL_PLANE)
        if reported is None:
            return None
        name = self._name(reported, CONTROL_PLANE)
        if name not in self.protocols:
            message = f"Listener with {name} defined in {CONTROL_PLANE} not found in {MAP}."
            raise config_error(message, CONTROL_PLANE)
        return name

    def uses_sasl(self) -> bool:
        """Return whether brokers log in to each other by SASL."""
        return self.inter_broker[1].startswith("SASL_")


class Listening3(Listening):
    """Release 3.1 and later: listeners of controllers have a default protocol if nothing is secured.

    Since 3.9 they are advertised separately.
    """

    kraft = False  # whether process.roles is set
    migrating = False

    @cached_property
    def protocols(self) -> dict[str, str]:
        """Security protocol by listener name."""
        found = self._mapped()
        if not self.kraft or MAP in self.config.originals:
            return found
        if any(name in _SECURE for name in self.controller_names) or any(
            self._secure(endpoint) for endpoint in self.listener_entries
        ):
            return found
        return found | {name: "PLAINTEXT" for name in self.controller_names if name != "PLAINTEXT"}

    @property
    def listener_entries(self) -> tuple[str, ...]:
        """The entries of listeners, unread."""
        return csv_list(self.config.text(LISTENERS))

    def _secure(self, entry: str) -> bool:
        name, colon, _ = entry.partition(":")
        if not colon or not (self.config.since(3, 9) or is_endpoint(entry)):
            message = f"Unable to parse a listener name from {entry}"
            raise config_error(message, LISTENERS, StartRule.LISTS)
        return name.upper() in _SECURE

    @cached_property
    def listeners(self) -> list[Endpoint]:
        """What the broker binds."""
        return self._read(self.config.text(LISTENERS), LISTENERS)

    @cached_property
    def reported_advertised(self) -> list[Endpoint] | None:
        """What advertised.listeners says, None where it is not set."""
        reported = self.config.text_or_none(ADVERTISED)
        return None if reported is None else self._read(reported, ADVERTISED)

    @cached_property
    def advertised_controllers(self) -> list[Endpoint]:
        """The advertised endpoints of controllers, otherwise those that they bind."""
        reported = [endpoint for endpoint in self.reported_advertised or () if endpoint.listener in self.controller_names]
        bound = self.controllers
        found = []
        for number, name in enumerate(self.controller_names):
            advertised = next((endpoint for endpoint in reported if endpoint.listener == name.upper()), None)
            if advertised is None:
                advertised = next((endpoint for endpoint in bound if endpoint.listener == name.upper()), None)
                advertised = self._inherited(advertised, first=number == 0) if advertised else None
            found += [advertised] if advertised else []
        return found

    def _inherited(self, bound: Endpoint, *, first: bool) -> Endpoint:
        del first  # later releases read controller.quorum.voters for it
        if bound.host == "0.0.0.0" and self.config.patch != "3.9.0":  # noqa: S104 -- compared, not bound; KAFKA-18281
            return Endpoint(listener=bound.listener, protocol=bound.protocol, host=None, port=bound.port)
        return bound

    @cached_property
    def advertised(self) -> list[Endpoint]:
        """The advertised endpoints, since 3.9 those of the broker role."""
        reported = self.reported_advertised
        if reported is not None and not self.config.since(3, 9):
            return reported
        found = self.listeners if reported is None else reported
        return [endpoint for endpoint in found if endpoint.listener not in self.controller_names or self._migrates(endpoint)]

    def _migrates(self, endpoint: Endpoint) -> bool:
        if not self.migrating or self.control_plane is None:
            return False
        if all(bound.listener != self.control_plane for bound in self.listeners):
            message = "head of empty ArrayBuffer"  # Scala's, which says nothing of the reason
            raise config_error(message, CONTROL_PLANE)
        return endpoint.listener == self.control_plane
