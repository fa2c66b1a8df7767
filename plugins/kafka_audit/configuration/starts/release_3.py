"""Release 3: `KafkaConfig.validateValues` in the order of its source, after what the constructor reads."""

from kafka_audit.configuration.starts import groups, roles, rules
from kafka_audit.configuration.starts.config import BROKER, NODE, Config, config_error, require
from kafka_audit.configuration.starts.listening import CONTROLLERS, Listening3
from kafka_audit.configuration.starts.protocol_versions import INTER_BROKER_VERSION, Version, codec_fits, format_fits, version

AUTHORIZER = "authorizer.class.name"
MIGRATION = "zookeeper.metadata.migration.enable"
_KRAFT = version("3.0-IV1")
_NO_GENERATION = (
    "broker.id generation is incompatible with ZooKeeper migration. Please stop using it before enabling migration "
    "(set broker.id to a value greater or equal to 0)."
)


def validate(config: Config) -> None:
    """Raise ConfigError with what a release says."""
    reported = rules.distinct_roles(config)
    kraft = bool(reported)
    groups.groups_3(config)
    rules.authorizer(config)
    listening = Listening3(config)
    listening.kraft, listening.migrating = kraft and config.since(3, 1), config.flag(MIGRATION)
    roles.early_listeners(listening)
    limited = rules.connection_overrides(config)
    dirs = rules.log_dirs(config)
    inter_broker = _inter_broker_version(config, kraft=kraft)
    groups.protocols(config, kraft=kraft)
    groups.assignors(config)  # 3.9 and later have judged them above
    _node(config, kraft=kraft)
    rules.logs(config, dirs)
    rules.fetches(config)
    rules.acks(config)
    rules.compression(config)
    roles.some_controller_listener(listening, reported)
    advertised = rules.listener_names(listening.advertised)
    _roles(listening, reported, inter_broker, dirs)
    if not kraft or "broker" in reported:
        roles.some_listener(listening, reported)
        rules.inter_broker_is_advertised(listening, advertised, rules.listener_names(listening.listeners))
    rules.routable(listening, listening.advertised)
    rules.routable(listening, listening.advertised_controllers if config.since(3, 9) else ())
    rules.advertised_listeners_serve_clients(listening)
    rules.control_plane(listening, advertised)
    if inter_broker < _KRAFT:  # from 3.0 on the format is not asked for
        format_fits(config, inter_broker)
        codec_fits(config, inter_broker)
    ibp = config.text(INTER_BROKER_VERSION)
    rules.sasl_by_version(listening, handshake=inter_broker >= version("0.10.0-IV1"), reported=ibp)
    rules.sasl(listening)
    rules.queue(config)
    rules.connections(config, limited)
    groups.consumers(config)


def _inter_broker_version(config: Config, *, kraft: bool) -> Version:
    reported = config.text(INTER_BROKER_VERSION)
    if not kraft or not config.since(3, 3):
        return version(reported)
    if INTER_BROKER_VERSION in config.originals and version(reported) < _KRAFT:
        message = f"A non-KRaft version {reported} given for {INTER_BROKER_VERSION}. The minimum version is 3.0-IV1"
        raise config_error(message, INTER_BROKER_VERSION)
    return _KRAFT


def _node(config: Config, *, kraft: bool) -> None:
    node, broker = config.number(NODE), config.number(BROKER)
    if not config.since(3, 1):
        node = broker = broker if node < 0 else node
    if node != broker:
        message = "You must set `node.id` to the same value as `broker.id`."
        raise config_error(message, NODE)
    migrating = config.flag(MIGRATION)
    if kraft:
        rules.node_is_named(node)
        if migrating and config.text_or_none("zookeeper.connect") is None:
            message = f"If using `{MIGRATION}` in KRaft mode, `zookeeper.connect` must also be set."
            raise config_error(message, "zookeeper.connect")
        if not config.since(3, 1):
            _voters(config, node)
        return
    rules.zookeeper_is_named(config)
    if migrating and config.flag("broker.id.generation.enable") and config.since(3, 9):
        require(broker >= 0, _NO_GENERATION, config.blame(BROKER, NODE))
    rules.broker_id(config, broker)


def _voters(config: Config, node: int) -> None:
    """Judge the quorum as 3.0 does; later releases do it by role."""
    roles.quorum_is_named(config, roles.ROLES)
    judge = roles.controller_is_voter if "controller" in config.items(roles.ROLES) else roles.broker_is_no_voter
    judge(config, node)
    for key in ("alter.config.policy.class.name", "create.topic.policy.class.name"):
        require(config.text_or_none(key) is None, f"{key} is not supported in KRaft.", key)


def _roles(listening: Listening3, reported: frozenset[str], inter_broker: Version, dirs: tuple[str, ...]) -> None:
    config = listening.config
    if not config.since(3, 1):
        return
    if not reported:
        _zookeeper(listening, inter_broker, dirs)
        return
    roles.quorum_is_named(config, roles.ROLES)
    roles.no_control_plane(listening)
    if "broker" in reported:
        roles.no_controller_is_advertised(listening)
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
    if config.since(3, 9):
        require(config.number(BROKER) >= 0, _NO_GENERATION, BROKER)
    if not config.since(3, 5):
        message = f"ZooKeeper migration does not yet support authorizers. Remove {AUTHORIZER} before performing a migration."
        require(AUTHORIZER not in config.originals, message, AUTHORIZER)
    roles.quorum_is_named(config, MIGRATION)
    message = f"{CONTROLLERS} must not be empty when running in ZooKeeper migration mode: {shown}"
    require(bool(names), message, CONTROLLERS)
    without = f"without setting '{INTER_BROKER_VERSION}' to"
    message = f"Cannot enable ZooKeeper migration {without} 3.4 or higher"
    require(inter_broker >= version("3.4-IV0"), message, INTER_BROKER_VERSION)
    if len(dirs) > 1 and config.since(3, 7):
        message = f"Cannot enable ZooKeeper migration with multiple log directories (aka JBOD) {without} 3.7-IV2 or higher"
        require(inter_broker >= version("3.7-IV2"), message, INTER_BROKER_VERSION)
    elif config.since(3, 5):
        message = "Cannot enable ZooKeeper migration when multiple log directories (aka JBOD) are in use."
        require(len(dirs) == 1 or config.since(3, 7), message, "log.dirs")
