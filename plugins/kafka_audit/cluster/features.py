"""Finalized features of a KRaft cluster: which level holds, and which every broker supports."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from kafka_audit.model.tables import BrokerFeature

METADATA_VERSION, KRAFT_VERSION, ELIGIBLE_REPLICAS = "metadata.version", "kraft.version", "eligible.leader.replicas.version"
NO_EPOCH_BUMP = 12
"""metadata.version 3.6-IV0: a shrinking ISR no longer raises the leader epoch (KAFKA-15021)."""

_FIRST_LEVEL: Mapping[str, int] = MappingProxyType(
    {"3.0": 1, "3.1": 2, "3.2": 3, "3.3": 4, "3.4": 8, "3.5": 9, "3.6": 12, "3.7": 15, "3.8": 20, "3.9": 21, "4.0": 22, "4.1": 26}
    | {"4.2": 28, "4.3": 30, "4.4": 31, "4.5": 34}
)
"""The first level of each release's metadata.version; `org.apache.kafka.server.common.MetadataVersion`."""

_NEWEST = "4.5"  # which levels it has is not known

_LEAST_OF_4 = 7
"""metadata.version 3.3-IV3, the oldest that Kafka 4 knows (`MetadataVersion.MINIMUM_VERSION` of 4.0 to 4.4)."""

_HIGHEST_LEVEL: Mapping[str, Mapping[str, int]] = MappingProxyType(
    {
        KRAFT_VERSION: {"3.9": 1},
        "transaction.version": {"4.0": 2},
        "group.version": {"4.0": 1},
        "eligible.leader.replicas.version": {"4.0": 1},
        "share.version": {"4.1": 1, "4.4": 2},
        "streams.version": {"4.2": 1},
    }
)
"""The highest production level of a feature, by the first release that has it (`Feature.latestProduction`)."""


@dataclass(frozen=True, kw_only=True)
class Feature:
    """One feature of the cluster."""

    name: str
    finalized: int | None  # by the newest metadata that a broker has
    supported: int | None  # the highest level that every broker supports; None where one does not support it
    differs: bool  # brokers support different levels: an upgrade is going on


def cluster_features(rows: Iterable[BrokerFeature]) -> Mapping[str, Feature]:
    """Return the features that brokers report, by name."""
    known = [row for row in rows if row.broker_id >= 0]
    brokers = {row.broker_id for row in known}
    found = {}
    for name in {row.feature for row in known}:
        mine = [row for row in known if row.feature == name]
        newest = max(mine, key=lambda row: -1 if row.finalized_epoch is None else row.finalized_epoch)
        highest = {row.broker_id: row.max_supported for row in mine}
        levels = [level for level in highest.values() if level is not None]
        everywhere = len(levels) == len(brokers)
        supported = min(levels) if levels and everywhere else None
        differs = len(set(levels)) > 1 or not everywhere
        found[name] = Feature(name=name, finalized=newest.finalized, supported=supported, differs=differs)
    return found


def first_level(release: str) -> int:
    """Return the first level of a release's metadata.version: only this release and later ones support it."""
    return _FIRST_LEVEL[release]


def metadata_release(level: int) -> str:
    """Return the release that a level of metadata.version came with, e.g. `3.9`; `level 40` where it is newer than is known."""
    named = [name for name, first in _FIRST_LEVEL.items() if first <= level]
    return named[-1] if named and named[-1] != _NEWEST else f"level {level}"


def metadata_levels(minor: tuple[int, ...]) -> tuple[int, int] | None:
    """Return the lowest and the highest level of metadata.version with which a release, e.g. (4, 0), runs; None before 3.3."""
    later = [first for name, first in _FIRST_LEVEL.items() if _numbers(name) > minor]
    return None if minor < (3, 3) or not later else (_LEAST_OF_4 if minor >= (4,) else 1, min(later) - 1)


def highest_level(feature: str, minor: tuple[int, ...]) -> int | None:
    """Return the highest level of a feature that a release supports, 0 for none; None of a feature that is not known here."""
    known = _HIGHEST_LEVEL.get(feature)
    return None if known is None else max((level for name, level in known.items() if _numbers(name) <= minor), default=0)


def _numbers(release: str) -> tuple[int, ...]:
    return tuple(map(int, release.split(".")))
