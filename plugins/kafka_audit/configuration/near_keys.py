"""Keys that Kafka does not know and that are almost one of its own. Pure.

Kafka gives all keys of the file to plugins, so that a key that no release defines may be a plugin's. It is taken for a mistake
only if one character too few, too many, wrong or misplaced, its case or its separators tell it from one of Kafka's.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache

from kafka_audit.configuration.definitions import VERSIONS, keys
from kafka_audit.configuration.files import programs

_NOT_DEFINED = frozenset(
    {
        "allow.everyone.if.no.acl.found",
        "authorizer.zookeeper.connection.timeout.ms",
        "authorizer.zookeeper.max.in.flight.requests",
        "authorizer.zookeeper.session.timeout.ms",
        "authorizer.zookeeper.url",
        "broker.id.command",
        "config.providers",
        "logs.dir",
        "super.users",
    }
)
"""Keys of Kafka's authorizers and, before 4.2, of `AbstractConfig`, which KafkaConfig does not define, and those of images
(wurstmeister's, Bitnami's) that look like keys of Kafka: Bitnami's chart writes `logs.dir`, the folder of the image's own logs,
into every server.properties."""

DYNAMIC_ALONE = frozenset(
    {
        "follower.replication.throttled.rate",
        "leader.replication.throttled.rate",
        "replica.alter.log.dirs.io.max.bytes.per.second",
    }
)
"""Keys of `DynamicConfig.Broker`, which no file sets."""

_OF_PLUGINS = re.compile(
    r"(?:listener\.name|confluent|rsm\.config|rlmm\.config|config\.providers|cruise\.control|log4j2?|strimzi|cfg|cub|rest|jmx)\."
    r"|create\.topics|restart\.attempts|ssl\.(?:keystore|key|truststore)\.(?:filename|credentials)"
    r"|[a-z0-9-]+\.sasl\.|kafka\.(?:metrics|csv)\."
)
"""Beginnings of keys that belong to a listener, a login or a plugin, and take names that Kafka does not define."""

_OF_TOPICS = {
    "delete.retention.ms": "log.cleaner.delete.retention.ms",
    "file.delete.delay.ms": "log.segment.delete.delay.ms",
    "flush.messages": "log.flush.interval.messages",
    "flush.ms": "log.flush.interval.ms",
    "max.compaction.lag.ms": "log.cleaner.max.compaction.lag.ms",
    "max.message.bytes": "message.max.bytes",
    "min.cleanable.dirty.ratio": "log.cleaner.min.cleanable.ratio",
    "min.compaction.lag.ms": "log.cleaner.min.compaction.lag.ms",
    "segment.bytes": "log.segment.bytes",
    "segment.jitter.ms": "log.roll.jitter.ms",
    "segment.ms": "log.roll.ms",
}
"""Keys of topics that brokers have under another name than with `log.` before it."""

_CLASS = re.compile(r"(.+?\.)(?:class(?:\.name)?|reporters|impl\.prefix)")
_PREFIX = ".impl.prefix"
_KAFKAS_OWN = ("org.apache.kafka.", "kafka.")
_BETWEEN = re.compile(r"[._-]")
_SHORTEST = 6  # letters: shorter keys are near to too much
_LONGEST = 100


@cache
def defined_keys() -> frozenset[str]:
    """Return every key that KafkaConfig of any release defines."""
    return frozenset(key for version in VERSIONS for key in keys(version))


@cache
def known_keys() -> frozenset[str]:
    """Return every key of any release, those of Kafka's authorizers among them."""
    return defined_keys() | _NOT_DEFINED


def is_known(key: str) -> bool:
    """Return whether a key is one of Kafka's, also for one listener, with a mechanism or without."""
    if key.startswith("listener.name."):
        key = key.lower().split(".", 3)[-1]
        return key in known_keys() or key.partition(".")[2] in known_keys()
    return key in known_keys()


def foreign_keys(settings: Mapping[str, str | None], release: str | None) -> Iterator[tuple[str, str]]:
    """Yield keys that Kafka does not read, and are near to none of its own, with the reason.

    Where settings name a class that is not Kafka's own, any other key may be one of that class.

    Args:
        settings: of one node; a value is None where it is hidden.
        release: of the node, None where it is not known.
    """
    of_classes = tuple(_prefixes(settings))
    near = {key for key, _ in nearest_keys(settings)}
    for key in sorted(settings.keys() - near):
        if len(key) > _LONGEST or _OF_PLUGINS.match(key) or key.startswith(of_classes) or key in _NOT_DEFINED:
            continue
        if key.startswith("--"):
            yield key, "it is an argument of kafka-server-start.sh"
        elif key in programs.CLIENTS and key not in defined_keys():
            yield key, "it is a key of clients"
        elif key in DYNAMIC_ALONE:
            yield key, "Kafka takes it as a dynamic setting alone, from kafka-configs.sh"
        elif key in defined_keys():
            if release is not None and key not in keys(release):
                has = [version for version in VERSIONS if key in keys(version)]
                yield key, f"Kafka {release} does not have it; {has[0]} to {has[-1]} do"
        elif not of_classes and "." in key:
            yield key, "Kafka has no such key"


def nearest_keys(settings: Mapping[str, str | None]) -> Iterator[tuple[str, str]]:
    """Yield keys that are almost one of Kafka's, with that one.

    Args:
        settings: of one node; a value is None where it is hidden.
    """
    of_classes = tuple(_prefixes(settings))
    for key in sorted(settings.keys() - known_keys()):
        if len(key) <= _LONGEST and not _OF_PLUGINS.match(key) and not key.startswith(of_classes):
            nearest = _nearest(key)
            if nearest is not None:
                yield key, nearest


def _prefixes(settings: Mapping[str, str | None]) -> Iterator[str]:
    """Yield the beginnings of the keys of classes that are not Kafka's own."""
    for key, value in settings.items():
        match = _CLASS.fullmatch(key) if key in known_keys() else None
        if match is not None and value and not all(name.strip().startswith(_KAFKAS_OWN) for name in value.split(",")):
            yield value if key.endswith(_PREFIX) else match[1]


def _nearest(key: str) -> str | None:
    """Return the key of Kafka that is meant: that of the broker for one of topics, else the one that differs least."""
    if key in _OF_TOPICS or f"log.{key}" in known_keys():
        return _OF_TOPICS.get(key, f"log.{key}")
    letters = _letters(key)
    if letters in _by_letters():
        return _by_letters()[letters]
    if len(letters) < _SHORTEST:
        return None
    found = {_by_letters()[known] for near in (letters, *_shorter(letters)) for known in _by_shorter().get(near, ())}
    return min(found, key=lambda known: (abs(len(known) - len(key)), known), default=None)


def _letters(key: str) -> str:
    return _BETWEEN.sub("", key.lower())


def _shorter(letters: str) -> Iterable[str]:
    """Return a word without each of its letters: words that share one of these differ by one letter or an exchange of two."""
    return {letters[:at] + letters[at + 1 :] for at in range(len(letters))}


@cache
def _by_letters() -> Mapping[str, str]:
    # A key of the newest releases before one of old ones with the same letters.
    return {_letters(key): key for key in sorted(known_keys(), reverse=True)}


@cache
def _by_shorter() -> Mapping[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for letters in _by_letters():
        for near in (letters, *_shorter(letters)):
            found[near] = (*found.get(near, ()), letters)
    return found
