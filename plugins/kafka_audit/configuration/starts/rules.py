"""Rules that several releases share, each with its release's words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafka_audit.configuration.definitions import StartRule, is_missing, kafka_classes
from kafka_audit.configuration.definitions.addresses import not_a_number, valid_host
from kafka_audit.configuration.definitions.values import integer
from kafka_audit.configuration.starts.config import config_error, require
from kafka_audit.configuration.starts.endpoints import csv_list, csv_map
from kafka_audit.configuration.starts.listening import ADVERTISED, CONTROLLERS, INTER_BROKER, INTER_BROKER_PROTOCOL, LISTENERS
from kafka_audit.configuration.starts.protocol_versions import OFFSETS_CODEC, ZSTD

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kafka_audit.configuration.starts.config import Config
    from kafka_audit.configuration.starts.endpoints import Endpoint
    from kafka_audit.configuration.starts.listening import Listening

_HOUR_MS = 3_600_000
_MEGABYTE = 1024 * 1024
OVERRIDES = "max.connections.per.ip.overrides"
MECHANISM = "sasl.mechanism.inter.broker.protocol"
MECHANISMS = "sasl.enabled.mechanisms"


def connection_overrides(config: Config) -> list[str]:
    """Return the addresses of max.connections.per.ip.overrides."""
    found = csv_map(OVERRIDES, config.text(OVERRIDES))
    for limit in found.values():
        if integer(limit) is None:
            raise config_error(not_a_number(limit), OVERRIDES)
    return list(found)


def log_dirs(config: Config) -> tuple[str, ...]:
    """Return the log directories; since 4.2 they are a list of Kafka's own."""
    if config.since(4, 2):
        dirs = config.items_or_none("log.dirs")
        return config.items("log.dir") if dirs is None else dirs
    reported = config.text_or_none("log.dirs")
    return csv_list(config.text("log.dir") if reported is None else reported)


def at_least_in_words(config: Config) -> str:
    """Return how the release says that a number is too small."""
    return "greater than or equal to" if config.since(2, 8) else "equal or greater than"


def logs(config: Config, dirs: Sequence[str]) -> None:
    """Judge times and places of the log, and the cleaner's memory."""
    least = at_least_in_words(config)
    roll = _time(config, "log.roll.ms", "log.roll.hours", _HOUR_MS)
    require(roll >= 1, f"log.roll.ms must be {least} 1", config.blame("log.roll.ms", "log.roll.hours"))
    jitter = _time(config, "log.roll.jitter.ms", "log.roll.jitter.hours", _HOUR_MS)
    where = config.blame("log.roll.jitter.ms", "log.roll.jitter.hours")
    require(jitter >= 0, f"log.roll.jitter.ms must be {least} 0", where)
    minutes = config.number_or_none("log.retention.minutes")
    kept = config.number("log.retention.hours") * _HOUR_MS if minutes is None else minutes * 60_000
    reported = config.number_or_none("log.retention.ms")
    kept = kept if reported is None else reported
    where = config.blame("log.retention.ms", "log.retention.minutes", "log.retention.hours")
    require(kept >= 1 or kept < 0, f"log.retention.ms must be unlimited (-1) or, {least} 1", where)
    where = config.blame("log.dirs", "log.dir")
    require(bool(dirs), "At least one log directory must be defined via log.dirs or log.dir.", where)
    tiered = config.since(3, 6) and not config.since(3, 8) and config.flag("remote.log.storage.system.enable")
    if tiered and len(dirs) > 1:
        message = f"Multiple log directories `{','.join(dirs)}` are not supported when remote log storage is enabled"
        raise config_error(message, where)
    threads = config.number("log.cleaner.threads")
    if threads == 0:
        message = "/ by zero"
        raise config_error(message, "log.cleaner.threads")
    memory = "log.cleaner.dedupe.buffer.size"
    message = f"{memory} must be at least 1MB per cleaner thread."
    require(config.number(memory) // threads > _MEGABYTE, message, config.blame(memory, "log.cleaner.threads"))


def _time(config: Config, name: str, longer: str, unit: int) -> int:
    reported = config.number_or_none(name)
    return config.number(longer) * unit if reported is None else reported


def fetches(config: Config) -> None:
    """Judge how long a replica waits."""
    wait, socket, lag = "replica.fetch.wait.max.ms", "replica.socket.timeout.ms", "replica.lag.time.max.ms"
    message = f"{socket} should always be at least {wait} to prevent unnecessary socket timeouts"
    require(config.number(wait) <= config.number(socket), message, config.blame(wait, socket))
    message = f"{wait} should always be less than or equal to {lag} to prevent frequent changes in ISR"
    require(config.number(wait) <= config.number(lag), message, config.blame(wait, lag))


def acks(config: Config) -> None:
    """Judge with how many acknowledgements offsets are committed (before 3.9; `groups_3` does it there)."""
    if config.since(3, 9):
        return
    reported, most = "offsets.commit.required.acks", "offsets.topic.replication.factor"
    message = f"{reported} must be greater or equal -1 and less or equal to {most}"
    require(-1 <= config.number(reported) <= config.number(most), message, config.blame(reported, most))


def compression(config: Config) -> None:
    """Judge compression.type by the names of a release (before 3.5; its definition names them since)."""
    if config.since(3, 5):
        return
    known = ("uncompressed", "zstd", "lz4", "snappy", "gzip") if config.since(2, 1) else ("uncompressed", "snappy", "lz4", "gzip")
    reported = config.text("compression.type")
    message = f"compression.type : {reported} is not valid. Valid options are {','.join(known)},producer"
    require(reported.lower() in {*known, "producer"}, message, "compression.type")


def codec(config: Config, key: str = OFFSETS_CODEC) -> None:
    """Judge the number of a compression codec; zstd came with 2.1."""
    number = config.number(key)
    if not 0 <= number <= (ZSTD if config.since(2, 1) else ZSTD - 1):
        message = f"Unknown compression type id: {number}" if config.since(3, 5) else f"{number} is an unknown compression codec"
        raise config_error(message, key)


def authorizer(config: Config) -> None:
    """Judge whether the authorizer's class exists: KafkaConfig made one in 2.4 to 3.2."""
    key = "authorizer.class.name"
    name = config.text(key)
    if config.since(2, 4) and not config.since(3, 3) and name and is_missing(name, kafka_classes(config.version)):
        raise config_error(name, key)  # all that Java's exception says


def distinct_roles(config: Config) -> frozenset[str]:
    """Return process.roles, in which no role may be twice; it is empty before 2.8."""
    roles = config.items("process.roles")
    if len(set(roles)) != len(roles):
        shown = ", ".join(role if config.since(3, 4) else f"{role.capitalize()}Role" for role in roles)
        message = f"Duplicate role names found in `process.roles`: ArrayBuffer({shown})"
        raise config_error(message, "process.roles")
    return frozenset(roles)


def broker_id(config: Config, number: int) -> None:
    """Judge the id of a broker with ZooKeeper."""
    where = config.blame("broker.id", "node.id")
    if config.flag("broker.id.generation.enable"):
        message = f"broker.id must be {at_least_in_words(config)} -1 and not greater than reserved.broker.max.id"
        require(-1 <= number <= config.number("reserved.broker.max.id"), message, where)
    else:
        require(number >= 0, f"broker.id must be {at_least_in_words(config)} 0", where)


def zookeeper_is_named(config: Config) -> None:
    """Judge whether a broker without process.roles knows ZooKeeper; before 2.8 the definition requires it."""
    if config.text_or_none("zookeeper.connect") is None:
        message = "Missing required configuration `zookeeper.connect` which has no default value."
        raise config_error(message, "zookeeper.connect", StartRule.MISSING)


def node_is_named(number: int) -> None:
    """Judge whether a node of KRaft has an id."""
    if number < 0:
        running = "when `process.roles` is defined (i.e. when running in KRaft mode)."
        message = f"Missing configuration `node.id` which is required {running}"
        raise config_error(message, "node.id")


def listener_names(endpoints: Iterable[Endpoint]) -> tuple[str, ...]:
    """Return the names of listeners, each once."""
    return tuple(dict.fromkeys(endpoint.listener for endpoint in endpoints))


def inter_broker_is_advertised(listening: Listening, advertised: Sequence[str], bound: Sequence[str]) -> None:
    """Judge whether brokers can find the listener that they use among themselves, and bind all that is advertised."""
    config = listening.config
    valid = f"The valid options based on currently configured listeners are {','.join(advertised)}"
    message = f"{INTER_BROKER} must be a listener name defined in {ADVERTISED}. {valid}"
    where = config.blame(INTER_BROKER, INTER_BROKER_PROTOCOL, ADVERTISED, LISTENERS)
    require(listening.inter_broker[0] in advertised, message, where, StartRule.NOT_ADVERTISED)
    message = (
        f"{ADVERTISED} listener names must be equal to or a subset of the ones defined in {LISTENERS}. "
        f"Found {','.join(advertised)}. The valid options based on the current configuration are {','.join(bound)}"
    )
    require(set(advertised) <= set(bound), message, config.blame(ADVERTISED, LISTENERS), StartRule.LISTS)


def routable(listening: Listening, advertised: Iterable[Endpoint]) -> None:
    """Judge whether a wildcard address is advertised."""
    message = f"{ADVERTISED} cannot use the nonroutable meta-address 0.0.0.0. Use a routable IP address."
    everywhere = any(endpoint.host == "0.0.0.0" for endpoint in advertised)  # noqa: S104 -- compared, not bound
    require(not everywhere, message, listening.config.blame(ADVERTISED, LISTENERS))


def advertised_listeners_serve_clients(listening: Listening) -> None:
    """Judge that no listener of controllers is advertised (2.8 and 3.0; later releases do it by role)."""
    message = f"{ADVERTISED} cannot contain any of {CONTROLLERS}"
    mixed = any(endpoint in listening.advertised for endpoint in listening.controllers)
    require(listening.config.since(3, 1) or not mixed, message, CONTROLLERS)


def control_plane(listening: Listening, advertised: Sequence[str]) -> None:
    """Judge control.plane.listener.name (releases 2.2 to 3)."""
    key = "control.plane.listener.name"
    name = listening.control_plane
    if name is None:
        return
    valid = f"The valid options based on currently configured listeners are {','.join(advertised)}"
    require(name in advertised, f"{key} must be a listener name defined in {ADVERTISED}. {valid}", key)
    message = (
        f"{key}, when defined, should have a different value from the inter broker listener name. "
        f"Currently they both have the value ListenerName({name})"
    )
    require(name != listening.inter_broker[0], message, key)


def sasl(listening: Listening) -> None:
    """Judge whether the listener between brokers has the mechanism that brokers log in with."""
    message = f"{MECHANISM} must be included in {MECHANISMS} when SASL is used for inter-broker communication"
    if not listening.uses_sasl():
        return
    config = listening.config
    prefix = f"listener.name.{listening.inter_broker[0].lower()}."
    enabled = config.items_below(prefix, MECHANISMS) if config.since(1, 1) else config.items(MECHANISMS)
    where = config.blame(prefix + MECHANISMS, MECHANISM, MECHANISMS)
    where = where if where in config.originals else INTER_BROKER
    where = config.blame(where, INTER_BROKER_PROTOCOL)
    require(config.text(MECHANISM) in enabled, message, where, StartRule.MECHANISM_NOT_ENABLED)


def sasl_by_version(listening: Listening, *, handshake: bool, reported: str) -> None:
    """Judge SASL between brokers with a protocol before its handshake (KIP-43)."""
    message = (
        "Only GSSAPI mechanism is supported for inter-broker communication with SASL when "
        f"inter.broker.protocol.version is set to {reported}"
    )
    holds = not listening.uses_sasl() or handshake or listening.config.text(MECHANISM) == "GSSAPI"
    require(holds, message, "inter.broker.protocol.version")


def queue(config: Config) -> None:
    """Judge the memory of the request queue."""
    memory, largest = "queued.max.request.bytes", "socket.request.max.bytes"
    size = config.number(memory)
    message = f"{memory} must be larger or equal to {largest}"
    require(size <= 0 or size >= config.number(largest), message, memory)


def connections(config: Config, limited: Sequence[str]) -> None:
    """Judge the limits of connections, and the time for which a refused login is kept waiting."""
    if config.number("max.connections.per.ip") == 0 and config.since(2, 0):
        message = f"max.connections.per.ip can be set to zero only if {OVERRIDES} property is set."
        require(bool(limited), message, "max.connections.per.ip")
    if not config.since(2, 1):
        return
    invalid = [address for address in limited if not valid_host(address)]
    if invalid:
        message = f"{OVERRIDES} contains invalid addresses : {','.join(invalid)}"
        raise config_error(message, OVERRIDES)
    idle, delay = config.number("connections.max.idle.ms"), config.number("connection.failed.authentication.delay.ms")
    if idle >= 0:
        message = (
            f"connection.failed.authentication.delay.ms={delay} should always be less than connections.max.idle.ms={idle} "
            "to prevent failed authentication responses from timing out"
        )
        where = config.blame("connections.max.idle.ms", "connection.failed.authentication.delay.ms")
        require(delay < idle, message, where)
