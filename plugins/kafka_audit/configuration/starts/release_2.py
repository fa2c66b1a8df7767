"""Release 2.8: `KafkaConfig.validateValues` in the order of its source, after what the constructor reads."""

from kafka_audit.configuration.definitions import is_missing, kafka_classes
from kafka_audit.configuration.starts import rules
from kafka_audit.configuration.starts.config import Config, config_error, require
from kafka_audit.configuration.starts.listening import ADVERTISED, CONTROLLERS, Listening
from kafka_audit.configuration.starts.protocol_versions import (
    INTER_BROKER_VERSION,
    OFFSETS_CODEC,
    ZSTD,
    codec_fits,
    format_fits,
    version,
)

_COMPRESSION = ("uncompressed", "zstd", "lz4", "snappy", "gzip", "producer")


def validate(config: Config) -> None:
    """Raise ConfigError with what release 2.8 says."""
    roles = config.items("process.roles")
    if len(set(roles)) != len(roles):
        shown = ", ".join(f"{role.capitalize()}Role" for role in roles)
        message = f"Duplicate role names found in `process.roles`: ArrayBuffer({shown})"
        raise config_error(message, "process.roles")
    authorizer = config.text("authorizer.class.name")
    if authorizer and is_missing(authorizer, kafka_classes("2.8.2")):
        raise config_error(authorizer, "authorizer.class.name")  # all that Java's exception says
    limited = rules.connection_overrides(config)
    codec = config.number(OFFSETS_CODEC)
    if not 0 <= codec <= ZSTD:
        message = f"{codec} is an unknown compression codec"
        raise config_error(message, OFFSETS_CODEC)
    _node(config, kraft=bool(roles))
    rules.logs(config, rules.log_dirs(config), "greater than or equal to")
    rules.fetches(config)
    rules.acks(config)
    rules.compression(config, _COMPRESSION)
    listening = Listening(config)
    _listeners(listening, broker=not roles or "broker" in roles)
    reported = config.text(INTER_BROKER_VERSION)
    format_fits(config, version(reported))
    codec_fits(config, version(reported))
    rules.sasl_by_version(listening, handshake=version(reported) >= version("0.10.0-IV1"), reported=reported)
    rules.sasl(listening)
    rules.queue(config)
    rules.connections(config, limited)


def _node(config: Config, *, kraft: bool) -> None:
    number = config.number("node.id")
    number = config.number("broker.id") if number < 0 else number
    if kraft:
        if number < 0:
            message = (
                "Missing configuration `node.id` which is required when `process.roles` is defined "
                "(i.e. when running in KRaft mode)."
            )
            raise config_error(message, "node.id")
        return
    if config.text_or_none("zookeeper.connect") is None:
        message = "Missing required configuration `zookeeper.connect` which has no default value."
        raise config_error(message, "zookeeper.connect")
    where = config.blame("broker.id", "node.id")
    if config.flag("broker.id.generation.enable"):
        message = "broker.id must be greater than or equal to -1 and not greater than reserved.broker.max.id"
        require(-1 <= number <= config.number("reserved.broker.max.id"), message, where)
    else:
        require(number >= 0, "broker.id must be greater than or equal to 0", where)


def _listeners(listening: Listening, *, broker: bool) -> None:
    advertised = rules.listener_names(listening.advertised)
    bound = rules.listener_names(listening.listeners)
    if broker:
        rules.inter_broker_is_advertised(listening, advertised, bound)
    rules.routable(listening, listening.advertised)
    message = f"{ADVERTISED} cannot contain any of {CONTROLLERS}"
    require(not any(endpoint in listening.advertised for endpoint in listening.controllers), message, CONTROLLERS)
    rules.control_plane(listening, advertised)
