"""Rules that several releases share, each with its release's words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafka_audit.configuration.definitions import StartRule
from kafka_audit.configuration.definitions.addresses import not_a_number, valid_host
from kafka_audit.configuration.definitions.values import integer
from kafka_audit.configuration.starts.config import config_error, require
from kafka_audit.configuration.starts.endpoints import csv_list, csv_map
from kafka_audit.configuration.starts.listening import ADVERTISED, INTER_BROKER, INTER_BROKER_PROTOCOL, LISTENERS

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
    """Return the log directories of releases before 4."""
    reported = config.text_or_none("log.dirs")
    return csv_list(config.text("log.dir") if reported is None else reported)


def logs(config: Config, dirs: Sequence[str], at_least: str) -> None:
    """Judge times and places of the log, and the cleaner's memory.

    Args:
        config: what is judged.
        dirs: the log directories.
        at_least: how the release says that a time is too short.
    """
    roll = _time(config, "log.roll.ms", "log.roll.hours", _HOUR_MS)
    require(roll >= 1, f"log.roll.ms must be {at_least} 1", config.blame("log.roll.ms", "log.roll.hours"))
    jitter = _time(config, "log.roll.jitter.ms", "log.roll.jitter.hours", _HOUR_MS)
    where = config.blame("log.roll.jitter.ms", "log.roll.jitter.hours")
    require(jitter >= 0, f"log.roll.jitter.ms must be {at_least} 0", where)
    minutes = config.number_or_none("log.retention.minutes")
    kept = config.number("log.retention.hours") * _HOUR_MS if minutes is None else minutes * 60_000
    reported = config.number_or_none("log.retention.ms")
    kept = kept if reported is None else reported
    where = config.blame("log.retention.ms", "log.retention.minutes", "log.retention.hours")
    require(kept >= 1 or kept < 0, f"log.retention.ms must be unlimited (-1) or, {at_least} 1", where)
    where = config.blame("log.dirs", "log.dir")
    require(bool(dirs), "At least one log directory must be defined via log.dirs or log.dir.", where)
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
    """Judge with how many acknowledgements offsets are committed."""
    reported, most = "offsets.commit.required.acks", "offsets.topic.replication.factor"
    message = f"{reported} must be greater or equal -1 and less or equal to {most}"
    require(-1 <= config.number(reported) <= config.number(most), message, config.blame(reported, most))


def compression(config: Config, known: Sequence[str]) -> None:
    """Judge compression.type by the names of a release."""
    reported = config.text("compression.type")
    message = f"compression.type : {reported} is not valid. Valid options are {','.join(known)}"
    require(reported.lower() in known, message, "compression.type")


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
    require(set(advertised) <= set(bound), message, config.blame(ADVERTISED, LISTENERS))


def routable(listening: Listening, advertised: Iterable[Endpoint]) -> None:
    """Judge whether a wildcard address is advertised."""
    message = f"{ADVERTISED} cannot use the nonroutable meta-address 0.0.0.0. Use a routable IP address."
    everywhere = any(endpoint.host == "0.0.0.0" for endpoint in advertised)  # noqa: S104 -- compared, not bound
    require(not everywhere, message, listening.config.blame(ADVERTISED, LISTENERS))


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
    enabled = config.items_below(prefix, MECHANISMS)
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
    """Judge the limits of connections, and the time for which a refused login is kept waiting (2.1 and later)."""
    if config.number("max.connections.per.ip") == 0:
        message = f"max.connections.per.ip can be set to zero only if {OVERRIDES} property is set."
        require(bool(limited), message, "max.connections.per.ip")
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
