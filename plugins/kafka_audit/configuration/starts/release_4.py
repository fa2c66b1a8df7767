"""Releases 4.0 and later: `KafkaConfig.validateValues` in the order of its source, after what the constructor reads."""

from kafka_audit.configuration.starts import groups, roles, rules
from kafka_audit.configuration.starts.config import BROKER, NODE, Config, config_error, require
from kafka_audit.configuration.starts.listening import Listening3
from kafka_audit.configuration.starts.listening_4 import Listening4

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
