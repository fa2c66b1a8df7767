"""Release 3.9: `KafkaConfig.validateValues` in the order of its source, after what the constructor reads."""

from kafka_audit.configuration.definitions.values import trimmed
from kafka_audit.configuration.starts import groups, roles, rules
from kafka_audit.configuration.starts.config import BROKER, NODE, Config, config_error, require
from kafka_audit.configuration.starts.listening import CONTROLLERS, Listening3
from kafka_audit.configuration.starts.protocol_versions import (
    INTER_BROKER_VERSION,
    Version,
    codec_fits,
    format_fits,
    version,
)

MIGRATION = "zookeeper.metadata.migration.enable"
_KRAFT = version("3.0-IV1")
_NO_GENERATION = (
    "broker.id generation is incompatible with ZooKeeper migration. Please stop using it before enabling migration "
    "(set broker.id to a value greater or equal to 0)."
)


def validate(config: Config) -> None:
    """Raise ConfigError with what release 3.9 says."""
    reported = config.items(roles.ROLES)
    if len(set(reported)) != len(reported):
        message = f"Duplicate role names found in `{roles.ROLES}`: ArrayBuffer({', '.join(reported)})"
        raise config_error(message, roles.ROLES)
    groups.groups_3(config)
    listening = Listening3(config)
    listening.kraft, listening.migrating = bool(reported), config.flag(MIGRATION)
    early = config.text_or_none("early.start.listeners")
    roles.early_listeners(listening, [trimmed(part) for part in early.split(",")] if early else None)
    limited = rules.connection_overrides(config)
    dirs = rules.log_dirs(config)
    inter_broker = _inter_broker_version(config, kraft=bool(reported))
    groups.protocols(config, kraft=bool(reported))
    _node(config, kraft=bool(reported))
    rules.logs(config, dirs, "greater than or equal to")
    rules.fetches(config)
    advertised = rules.listener_names(listening.advertised)
    _roles(listening, frozenset(reported), inter_broker, dirs)
    if not reported or "broker" in reported:
        roles.some_listener(listening, reported)
        rules.inter_broker_is_advertised(listening, advertised, rules.listener_names(listening.listeners))
    rules.routable(listening, listening.advertised)
    rules.routable(listening, listening.advertised_controllers)
    rules.control_plane(listening, advertised)
    if inter_broker < _KRAFT:  # from 3.0 on the format is not asked for
        format_fits(config, inter_broker)
        codec_fits(config, inter_broker)
    ibp = config.text(INTER_BROKER_VERSION)
    rules.sasl_by_version(listening, handshake=inter_broker >= version("0.10.0-IV1"), reported=ibp)
    rules.sasl(listening)
    rules.queue(config)
    rules.connections(config, limited)


def _inter_broker_version(config: Config, *, kraft: bool) -> Version:
    reported = config.text(INTER_BROKER_VERSION)
    if not kraft:
        return version(reported)
    if INTER_BROKER_VERSION in config.originals and version(reported) < _KRAFT:
        message = f"A non-KRaft version {reported} given for {INTER_BROKER_VERSION}. The minimum version is 3.0-IV1"
        raise config_error(message, INTER_BROKER_VERSION)
    return _KRAFT


def _node(config: Config, *, kraft: bool) -> None:
    node, broker = config.number(NODE), config.number(BROKER)
    if node != broker:
        message = "You must set `node.id` to the same value as `broker.id`."
        raise config_error(message, NODE)
    migrating = config.flag(MIGRATION)
    zookeeper = config.text_or_none("zookeeper.connect")
    if kraft:
        if node < 0:
            running = "when `process.roles` is defined (i.e. when running in KRaft mode)."
            message = f"Missing configuration `node.id` which is required {running}"
            raise config_error(message, NODE)
        if migrating and zookeeper is None:
            message = f"If using `{MIGRATION}` in KRaft mode, `zookeeper.connect` must also be set."
            raise config_error(message, "zookeeper.connect")
        return
    if zookeeper is None:
        message = "Missing required configuration `zookeeper.connect` which has no default value."
        raise config_error(message, "zookeeper.connect")
    where = config.blame(BROKER, NODE)
    if not config.flag("broker.id.generation.enable"):
        require(broker >= 0, "broker.id must be greater than or equal to 0", where)
        return
    require(not migrating or broker >= 0, _NO_GENERATION, where)
    message = "broker.id must be greater than or equal to -1 and not greater than reserved.broker.max.id"
    require(-1 <= broker <= config.number("reserved.broker.max.id"), message, where)


def _roles(listening: Listening3, reported: frozenset[str], inter_broker: Version, dirs: tuple[str, ...]) -> None:
    config = listening.config
    if not reported:
        _zookeeper(listening, inter_broker, dirs)
        return
    roles.quorum_is_named(config, roles.ROLES)
    roles.no_control_plane(listening)
    if reported == {"broker"}:
        roles.broker_only(listening)
        return
    if reported == {"controller"}:
        roles.controller_only(listening)
    roles.controller_rules(listening)


def _zookeeper(listening: Listening3, inter_broker: Version, dirs: tuple[str, ...]) -> None:
    config, names = listening.config, listening.controller_names
    shown = f"[{', '.join(names)}]"
    if not listening.migrating:
        require(not names, f"{CONTROLLERS} must be empty when not running in KRaft mode: {shown}", CONTROLLERS)
        return
    require(config.number(BROKER) >= 0, _NO_GENERATION, BROKER)
    roles.quorum_is_named(config, MIGRATION)
    message = f"{CONTROLLERS} must not be empty when running in ZooKeeper migration mode: {shown}"
    require(bool(names), message, CONTROLLERS)
    without = f"without setting '{INTER_BROKER_VERSION}' to"
    message = f"Cannot enable ZooKeeper migration {without} 3.4 or higher"
    require(inter_broker >= version("3.4-IV0"), message, INTER_BROKER_VERSION)
    if len(dirs) > 1:
        message = f"Cannot enable ZooKeeper migration with multiple log directories (aka JBOD) {without} 3.7-IV2 or higher"
        require(inter_broker >= version("3.7-IV2"), message, INTER_BROKER_VERSION)
