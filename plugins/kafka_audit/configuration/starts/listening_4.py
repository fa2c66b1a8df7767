"""What release 4 listens on and advertises (`AbstractKafkaConfig`)."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from kafka_audit.configuration.definitions import ConfigError
from kafka_audit.configuration.definitions.addresses import VOTERS, voter_ids
from kafka_audit.configuration.starts.config import config_error
from kafka_audit.configuration.starts.endpoints import Endpoint, names_differ, parse_endpoints, shared_port
from kafka_audit.configuration.starts.listening import ADVERTISED, CONTROLLERS, LISTENERS, MAP, Listening3, protocol_of

if TYPE_CHECKING:
    from collections.abc import Sequence


class Listening4(Listening3):
    """Release 4: lists instead of texts, and Kafka is in Java here."""

    kraft = True

    def _mapped(self) -> dict[str, str]:
        found: dict[str, str] = {}
        for reported, text in self._entries_of_map():
            name, protocol = self._name(reported, MAP), protocol_of(text, MAP)
            if name in found:
                message = f"Duplicate key ListenerName({name}) (attempted merging values {found[name]} and {protocol})"
                raise config_error(message, MAP)
            found[name] = protocol
        return found

    @property
    def listener_entries(self) -> tuple[str, ...]:
        """The entries of listeners, unread."""
        return self.config.items(LISTENERS)

    @cached_property
    def listeners(self) -> list[Endpoint]:
        """What the broker binds."""
        return self._entries(self.config.items(LISTENERS), LISTENERS)

    @cached_property
    def reported_advertised(self) -> list[Endpoint] | None:
        """What advertised.listeners says, None where it is not set."""
        reported = self.config.items_or_none(ADVERTISED)
        return None if reported is None else self._entries(reported, ADVERTISED)

    @cached_property
    def controller_names(self) -> tuple[str, ...]:
        """Names in controller.listener.names, unchanged."""
        return self.config.items(CONTROLLERS)

    def _entries(self, entries: Sequence[str], key: str) -> list[Endpoint]:
        protocols = self.protocols
        shown = f"[{', '.join(entries)}]"
        problem = None
        endpoints: list[Endpoint] = []
        try:
            endpoints = parse_endpoints(entries, protocols, self._name)
        except (ValueError, ConfigError) as error:
            problem = str(error)
        if problem is None and not names_differ(endpoints):
            problem = f"Each listener must have a different name, listeners: {shown}"
        if problem is None and key == LISTENERS:
            reported = shared_port(endpoints, shown)
            problem = reported[1] if reported else None
        if problem is not None:
            message = f"Error creating broker listeners from '{shown}': {problem}"
            raise ConfigError(message, key)
        return endpoints

    def _inherited(self, bound: Endpoint, *, first: bool) -> Endpoint:
        if first and bound.host in {None, "0.0.0.0"}:  # noqa: S104 -- compared, not bound
            addresses = voter_ids(self.config.items(VOTERS))
            unroutable = next((host for host, _ in addresses.values() if host == "0.0.0.0"), None)  # noqa: S104
            if unroutable:
                message = f"Host string ({unroutable}) is not routeable"
                raise config_error(message, VOTERS)
            mine = addresses.get(self.config.number("node.id"))
            if mine:
                return Endpoint(listener=bound.listener, protocol=bound.protocol, host=mine[0], port=mine[1])
        return super()._inherited(bound, first=first)
