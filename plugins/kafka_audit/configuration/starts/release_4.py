"""Releases 4.0 and later: `KafkaConfig.validateValues` in the order of its source, and what 4.2 and later listen on."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from kafka_audit.configuration.definitions import ConfigError, StartRule
from kafka_audit.configuration.definitions.addresses import VOTERS, voter_ids
from kafka_audit.configuration.starts.config import config_error
from kafka_audit.configuration.starts.endpoints import Endpoint, UnreadableError, parse_endpoints
from kafka_audit.configuration.starts.listening import ADVERTISED, LISTENERS, Listening3

if TYPE_CHECKING:
    from collections.abc import Sequence
from kafka_audit.configuration.starts import groups, roles, rules
from kafka_audit.configuration.starts.config import BROKER, NODE, Config, require


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
            raise ConfigError(message, key, StartRule.LISTS if isinstance(error, UnreadableError) else None) from None
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


_AUTO_JOIN = "controller.quorum.auto.join.enable"
_CORDONED = "cordoned.log.dirs"
_SAME_ID = "`node.id` and `broker.id` must be set to the same value. `broker.id` is deprecated, please use `node.id` instead."
_SAME_ID_4_3 = "You must set `node.id` to the same value as `broker.id`."


def validate(config: Config) -> None:
    """Raise ConfigError with what a release says."""
    reported = rules.distinct_roles(config)
    groups.groups_4(config)
    listening = Listening4(config) if config.since(4, 2) else Listening3(config)
    listening.kraft = True
    roles.early_listeners(listening)
    if not config.since(4, 1):
        rules.connection_overrides(config)
    groups.protocols(config, kraft=True)
    if config.number(NODE) != config.number(BROKER):
        raise config_error(_SAME_ID if config.since(4, 4) else _SAME_ID_4_3, NODE)
    dirs = rules.log_dirs(config)
    rules.logs(config, dirs)
    rules.fetches(config)
    advertised = rules.listener_names(listening.advertised)
    _roles(listening, reported)
    if "broker" in reported:
        roles.some_listener(listening, reported)
        rules.inter_broker_is_advertised(listening, advertised, rules.listener_names(listening.listeners))
        _cordoned(config, dirs)
    rules.routable(listening, listening.advertised)
    rules.routable(listening, listening.advertised_controllers)
    rules.sasl(listening)
    rules.queue(config)
    rules.connections(config, rules.connection_overrides(config))


def _roles(listening: Listening3, reported: frozenset[str]) -> None:
    config = listening.config
    if not reported:  # only 4.0 and 4.1 accept this
        return
    roles.quorum_is_named(config, roles.ROLES)
    if reported == {"broker"}:
        roles.broker_only(listening)
        message = f"{_AUTO_JOIN} is only supported when {roles.ROLES} contains the 'controller' role."
        require(not config.flag(_AUTO_JOIN), message, _AUTO_JOIN)
        return
    if reported == {"controller"}:
        roles.controller_only(listening)
        roles.not_between_brokers(listening)
    roles.controller_rules(listening)


def _cordoned(config: Config, dirs: tuple[str, ...]) -> None:
    reported = config.items(_CORDONED)
    if "*" in reported:
        require(len(reported) == 1, f"When {_CORDONED} is set to *, it must not contain other values", _CORDONED)
        return
    missing = ", ".join(endpoint for endpoint in reported if endpoint not in dirs)
    message = f"All entries in {_CORDONED} must be present in log.dirs or log.dir. Missing entries : {missing}"
    require(not missing, message, _CORDONED)
