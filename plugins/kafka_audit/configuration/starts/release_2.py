"""Releases 1.0 to 2.8: `KafkaConfig.validateValues` in the order of its source, after what the constructor reads."""

from kafka_audit.configuration.definitions.addresses import split
from kafka_audit.configuration.starts import rules
from kafka_audit.configuration.starts.config import BROKER, NODE, Config, config_error
from kafka_audit.configuration.starts.listening import Listening
from kafka_audit.configuration.starts.protocol_versions import (
    FORMAT_VERSION,
    INTER_BROKER_VERSION,
    codec_fits,
    format_fits,
    version,
)

_SUB_VERSIONS = {"0.10.0": 2, "0.10.1": 3, "0.10.2": 1, "0.11.0": 3, "1.0": 1, "1.1": 1, "2.0": 2}
_KNOWN = frozenset({"0.8.0", "0.8.1", "0.8.2", "0.9.0", *_SUB_VERSIONS}) | {
    f"{name}-IV{number}" for name, count in _SUB_VERSIONS.items() for number in range(count)
}


def validate(config: Config) -> None:
    """Raise ConfigError with what a release says."""
    roles = rules.distinct_roles(config)
    rules.authorizer(config)
    limited = rules.connection_overrides(config)
    listening = Listening(config)
    early = not config.since(1, 1)  # 1.0 reads listeners in the constructor
    _known_version(config, FORMAT_VERSION)
    _ = early and listening.inter_broker
    _known_version(config, INTER_BROKER_VERSION)
    rules.codec(config)
    _ = early and (listening.listeners, listening.advertised)
    _node(config, kraft=bool(roles))
    rules.logs(config, rules.log_dirs(config))
    rules.fetches(config)
    rules.acks(config)
    rules.compression(config)
    _listeners(listening, broker=not roles or "broker" in roles)
    reported = config.text(INTER_BROKER_VERSION)
    format_fits(config, version(reported))
    codec_fits(config, version(reported))
    rules.sasl_by_version(listening, handshake=version(reported) >= version("0.10.0-IV1"), reported=reported)
    rules.sasl(listening)
    rules.queue(config)
    rules.connections(config, limited)


def _known_version(config: Config, key: str) -> None:
    """Judge a version by those that were out with the release; since 2.1 the definition lists them."""
    text = config.text(key)
    short = ".".join(split(text, ".")[: 3 if text.startswith("0.") else 2])
    if not config.since(2, 1) and not (short in _KNOWN and config.since(*version(short)[0])):
        message = f"Version `{text}` is not a valid version"
        raise config_error(message, key)


def _node(config: Config, *, kraft: bool) -> None:
    number = config.number(NODE) if config.defines(NODE) else config.number(BROKER)
    number = config.number(BROKER) if number < 0 else number
    if kraft:
        rules.node_is_named(number)
        return
    rules.zookeeper_is_named(config)
    rules.broker_id(config, number)


def _listeners(listening: Listening, *, broker: bool) -> None:
    advertised = rules.listener_names(listening.advertised)
    bound = rules.listener_names(listening.listeners)
    if broker:
        rules.inter_broker_is_advertised(listening, advertised, bound)
    rules.routable(listening, listening.advertised)
    rules.advertised_listeners_serve_clients(listening)
    rules.control_plane(listening, advertised)
