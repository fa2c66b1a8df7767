"""What releases 4.2 and later listen on and advertise (`AbstractKafkaConfig`)."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from kafka_audit.configuration.definitions import ConfigError
from kafka_audit.configuration.definitions.addresses import VOTERS, voter_ids
from kafka_audit.configuration.starts.config import config_error
from kafka_audit.configuration.starts.endpoints import Endpoint, parse_endpoints
from kafka_audit.configuration.starts.listening import ADVERTISED, LISTENERS, Listening3

if TYPE_CHECKING:
    from collections.abc import Sequence


class Listening4(Listening3):
    """Releases 4.2 and later: lists instead of texts. Since 4.3 Kafka is in Java here."""

    kraft = True

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

    def _entries(self, entries: Sequence[str], key: str) -> list[Endpoint]:
        protocols = self.protocols
        shown = f"[{', '.join(entries)}]"
        try:
            endpoints = parse_endpoints(entries, protocols, self._name)
            if self.config.since(4, 3):
                self._distinct(endpoints, shown, key)
        except (ValueError, ConfigError) as error:
            # Since 4.3 Java judges this, and has no `require`.
            problem = str(error).removeprefix("requirement failed: ")
            message = f"Error creating broker listeners from '{shown}': {problem}"
            raise ConfigError(message, key) from None
        self._distinct(endpoints, shown, key)
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
