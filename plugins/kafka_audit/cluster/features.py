"""Finalized features of a KRaft cluster: which level holds, and which every broker supports."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from kafka_audit.model.tables import BrokerFeature

METADATA_VERSION, KRAFT_VERSION, ELIGIBLE_REPLICAS = "metadata.version", "kraft.version", "eligible.leader.replicas.version"


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
