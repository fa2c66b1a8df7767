"""Release 1.1: `KafkaConfig.validateValues` in the order of its source, after what the constructor reads."""

from kafka_audit.configuration.definitions.addresses import split
from kafka_audit.configuration.starts import rules
from kafka_audit.configuration.starts.config import Config, config_error, require
from kafka_audit.configuration.starts.listening import Listening1
from kafka_audit.configuration.starts.protocol_versions import (
    FORMAT_VERSION,
    INTER_BROKER_VERSION,
    OFFSETS_CODEC,
    format_fits,
    version,
)

_COMPRESSION = ("uncompressed", "snappy", "lz4", "gzip", "producer")
_CODECS = 3
_SUB_VERSIONS = {
    "0.10.0": 2,
    "0.10.1": 3,
    "0.10.2": 1,
    "0.11.0": 3,
    "1.0": 1,
    "1.1": 1,
}
_KNOWN = frozenset({"0.8.0", "0.8.1", "0.8.2", "0.9.0", *_SUB_VERSIONS}) | {
    f"{name}-IV{number}" for name, count in _SUB_VERSIONS.items() for number in range(count)
}


def validate(config: Config) -> None:
    """Raise ConfigError with what release 1.1 says."""
    rules.connection_overrides(config)  # 1.1 asks nothing more of them
    for key in (FORMAT_VERSION, INTER_BROKER_VERSION):
        _known_version(config.text(key), key)
    codec = config.number(OFFSETS_CODEC)
    if not 0 <= codec <= _CODECS:
        message = f"{codec} is an unknown compression codec"
        raise config_error(message, OFFSETS_CODEC)
    _broker_id(config)
    rules.logs(config, rules.log_dirs(config), "equal or greater than")
    rules.fetches(config)
    rules.acks(config)
    rules.compression(config, _COMPRESSION)
    listening = Listening1(config)
    advertised = rules.listener_names(listening.advertised)
    rules.inter_broker_is_advertised(listening, advertised, rules.listener_names(listening.listeners))
    rules.routable(listening, listening.advertised)
    reported = config.text(INTER_BROKER_VERSION)
    format_fits(config, version(reported))
    rules.sasl_by_version(listening, handshake=version(reported) >= version("0.10.0-IV1"), reported=reported)
    rules.sasl(listening)
    rules.queue(config)


def _known_version(text: str, key: str) -> None:
    if ".".join(split(text, ".")[: 3 if text.startswith("0.") else 2]) not in _KNOWN:
        message = f"Version `{text}` is not a valid version"
        raise config_error(message, key)


def _broker_id(config: Config) -> None:
    number = config.number("broker.id")
    if config.flag("broker.id.generation.enable"):
        message = "broker.id must be equal or greater than -1 and not greater than reserved.broker.max.id"
        require(-1 <= number <= config.number("reserved.broker.max.id"), message, "broker.id")
    else:
        require(number >= 0, "broker.id must be equal or greater than 0", "broker.id")
