"""Limits of groups that must not contradict each other (`GroupCoordinatorConfig`, `ShareGroupConfig`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafka_audit.configuration.definitions import ConfigError, is_missing, kafka_classes
from kafka_audit.configuration.definitions.addresses import split
from kafka_audit.configuration.starts import rules

if TYPE_CHECKING:
    from kafka_audit.configuration.starts.config import Config

_HEARTBEAT, _SESSION, _ASSIGNMENT = "heartbeat.interval.ms", "session.timeout.ms", "assignment.interval.ms"
_CONSUMER, _SHARE, _STREAMS = "group.consumer", "group.share", "group.streams"
_LOCK = "group.share.{}record.lock.duration.ms"
_UPDATES, _MOST_UPDATES = "share.coordinator.snapshot.update.records.per.snapshot", 500


class GroupLimits:
    """Comparisons in a release's words."""

    def __init__(self, config: Config) -> None:
        """Before 4 Kafka writes "equals to", and before 3.9 Scala's `require` says it."""
        self._config = config
        self._equal = "equal to" if config.since(4) else "equals to"
        self._start = "" if config.since(3, 9) else "requirement failed: "

    def at_least(self, larger: str, smaller: str) -> None:
        """Raise ConfigError where one limit is below another."""
        self._judge(larger, smaller, f"greater than or {self._equal}", holds=self._of(larger) >= self._of(smaller))

    def at_most(self, smaller: str, larger: str) -> None:
        """Raise ConfigError where one limit is above another."""
        self._judge(smaller, larger, f"less than or {self._equal}", holds=self._of(smaller) <= self._of(larger))

    def below(self, smaller: str, larger: str) -> None:
        """Raise ConfigError where one limit is not below another."""
        self._judge(smaller, larger, "less than", holds=self._of(smaller) < self._of(larger))

    def between(self, prefix: str, name: str) -> None:
        """Judge a limit by its own limits."""
        own, least, most = (f"{prefix}.{part}{name}" for part in ("", "min.", "max."))
        self.at_least(most, least)
        self.at_least(own, least)
        self.at_most(own, most)

    def _of(self, name: str) -> int:
        return self._config.number(name)

    def _judge(self, name: str, other: str, relation: str, *, holds: bool) -> None:
        if not holds and self._config.defines(name) and self._config.defines(other):
            message = f"{self._start}{name} must be {relation} {other}"
            raise ConfigError(message, self._config.blame(name, other))


def _assignors(config: Config, key: str, known: tuple[str, ...] = ()) -> None:
    for name in config.items(key):
        if name not in known and is_missing(name, kafka_classes(config.version)):
            message = f"Class {name} cannot be found"
            if config.since(4, 4):
                message = f"Invalid value {name} for configuration {key}: Class cannot be found"
            raise ConfigError(message, key)


def consumers(config: Config) -> None:
    """Raise ConfigError with what releases 3.5 to 3.8 say after all other rules; 3.9 and later have said it."""
    limits = GroupLimits(config)
    limits.between(_CONSUMER, _HEARTBEAT)
    limits.between(_CONSUMER, _SESSION)


def assignors(config: Config) -> None:
    """Judge the assignors of consumer groups (since 3.6), and the codec of their offsets."""
    if config.since(3, 6):
        _assignors(config, "group.consumer.assignors", ("uniform", "range") if config.since(4) else ())
    rules.codec(config)


def groups_3(config: Config) -> None:
    """Raise ConfigError with what release 3.9 says before all other rules."""
    if not config.since(3, 9):
        return
    assignors(config)
    limits = GroupLimits(config)
    reported, most = "offsets.commit.required.acks", "offsets.topic.replication.factor"
    if not -1 <= config.number(reported) <= config.number(most):
        message = f"{reported} must be greater or equal to -1 and less or equal to {most}"
        raise ConfigError(message, config.blame(reported, most))
    for prefix in (_CONSUMER, _SHARE):
        limits.between(prefix, _HEARTBEAT)
        limits.between(prefix, _SESSION)
    limits.at_least(_LOCK.format(""), _LOCK.format("min."))
    limits.at_least(_LOCK.format("max."), _LOCK.format(""))


def groups_4(config: Config) -> None:
    """Raise ConfigError with what releases 4.0 and later say."""
    assignors(config)
    _assignors(config, "group.share.assignors", ("simple",))
    if config.since(4, 4):
        _assignors(config, "group.streams.assignors", ("sticky",))
    limits = GroupLimits(config)
    for prefix in (_CONSUMER, _SHARE, _STREAMS):
        limits.between(prefix, _HEARTBEAT)
        limits.between(prefix, _SESSION)
        limits.below(f"{prefix}.{_HEARTBEAT}", f"{prefix}.{_SESSION}")
        count = len(config.items("group.share.assignors"))
        if prefix == _SHARE and count != 1 and config.since(4, 1):
            message = f"group.share.assignors must contain exactly one assignor, but found {count}"
            raise ConfigError(message, "group.share.assignors")
        limits.between(prefix, _ASSIGNMENT)
    limits.at_most("group.streams.num.standby.replicas", "group.streams.max.standby.replicas")
    if config.since(4, 4):
        limits.at_least("group.streams.task.offset.interval.ms", "group.streams.min.task.offset.interval.ms")
        limits.at_most("group.streams.num.warmup.replicas", "group.streams.max.warmup.replicas")
        _tags(config)
    for limit in ("group.share.{}delivery.count.limit", "group.share.{}partition.max.record.locks"):
        limits.at_least(limit.format("max."), limit.format(""))
        limits.at_least(limit.format(""), limit.format("min."))
    limits.at_least(_LOCK.format(""), _LOCK.format("min."))
    limits.at_least(_LOCK.format("max."), _LOCK.format(""))
    limits.at_least("group.share.max.share.sessions", "group.share.max.size")
    rules.codec(config, "share.coordinator.state.topic.compression.codec")
    if config.number(_UPDATES) > _MOST_UPDATES:  # since 4.3 the definition says it
        message = f"{_UPDATES} must be between [0, {_MOST_UPDATES}]"
        raise ConfigError(message, _UPDATES)


def _tags(config: Config) -> None:
    """Judge tags as in the file: as a list, duplicates count once."""
    key = "group.streams.rack.aware.assignment.tags"
    reported = split(",".join(part.strip() for part in config.originals.get(key, "").split(",")), ",")
    if len(set(reported)) != len(reported):
        message = f"{key} must not contain duplicate tag keys."
        raise ConfigError(message, key)


def protocols(config: Config, *, kraft: bool) -> None:
    """Judge group.coordinator.rebalance.protocols (since 3.7)."""
    key = "group.coordinator.rebalance.protocols"
    if not config.defines(key):
        return
    reported = {text.upper() for text in config.items(key)}
    if "CLASSIC" not in reported:
        message = "Disabling the 'classic' protocol is not supported."
        raise ConfigError(message, key)
    if "CONSUMER" in reported and not kraft and config.since(3, 8):
        message = "The new 'consumer' rebalance protocol is only supported in KRaft cluster."
        raise ConfigError(message, key)
