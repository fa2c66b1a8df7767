"""The words of a world (`world.py`): which keys each part of it takes. Where a part is not listed, keys are names or ids."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import fields
from difflib import get_close_matches
from typing import Any

from kafka_audit.model.tables import (
    AddressProbe,
    Certificate,
    LogLine,
    Migration,
    PlannedUpgrade,
    RegisteredBroker,
    RegisteredPartition,
    Registry,
    Row,
    SnapshotInfo,
    Verdict,
    ZookeeperMember,
    ZookeeperNode,
)


def _columns(table: type[Row]) -> set[str]:
    return {field.name for field in fields(table)}


FAILURE = ("error", "reason", "layer", "needs", "message", "untrusted_host")
"""What is said of a read that failed."""
_REACHED = {"layer", "outcome", "error", "reason", "needs", "detail", "via", "addresses"}
_QUORUM = {"leader", "epoch", "high_watermark", "voters", "observers", "directories", "addresses", "times"}
WORDS: Mapping[str, Collection[str]] = {
    "info": _columns(SnapshotInfo),
    "zookeeper": _columns(Registry),
    "brokers/*": {"listeners", *_columns(RegisteredBroker)},
    "topics/*": {"topic_id", "czxid", "mzxid", "deleting", "config", "partitions"},
    "topics/*/partitions/*": _columns(RegisteredPartition),
    "views/*": {"answers", *FAILURE, "kafka_cluster_id", "controller_id", "metadata_version", "brokers", "topics"},
    "views/*/brokers/*": {"host", "port", "rack"},
    "views/*/topics/*": {"topic_id", "error", "partitions"},
    "views/*/topics/*/partitions/*": {"error", "leader", "leader_epoch", "replicas", "isr", "offline_replicas"},
    "reads/*": {"observer", "operation", "target", *FAILURE},
    "probes/*": {"vantage", "role", "from", "to", "listener", "resolved", "ms", "packets", "each", "mechanisms", *_REACHED},
    "probes/*/each/*": _columns(AddressProbe),
    "identities/*": {"to", "answered_by", "kafka_cluster_id", "asked"},
    "reassigning/*": {"topic", "partition", "adding", "removing"},
    "logins/*": {"broker", "listener", "mechanism", "side", "user", "password"},
    "authorities/*": {"issuer", "days", "again"},
    "certificates/*": {"days", *_columns(Certificate)},
    "certificates_of_others/*": {"listener", "host", "port", "days", "subject"},
    "logs/*": {"broker", "about", *_columns(LogLine)},
    "members/*": _columns(ZookeeperMember),
    "znodes/*": _columns(ZookeeperNode),
    "quorum": {"says", *_QUORUM},
    "quorum/says/*": {"node", *_QUORUM},
    "quorum/directories": {"voters", "observers"},
    "quorum/says/*/directories": {"voters", "observers"},
    "controllers/*": {"node", *_REACHED},
    "controllers_from/*/*": _REACHED,
    "zookeeper_from/*/*": _REACHED,
    "voters/*/*": _REACHED,
    "migration": _columns(Migration),
    "log_dirs/*/*": {"error", "total", "usable", "replicas", "held", "offsets", "future", "holds"},
    "leadership": {"answers", "asked", "unasked"},
    "leadership/answers/*": {"broker", "of", "error", "listed"},
    "leadership/asked/*": {"as_leader", "as_former", "listed_offline"},
    "eligible/*": {"eligible", "last_known", "leader"},
    "groups/*": {"at", "client", "host", "partitions", "state", "kind"},
    "transactions/*": {"of", "stable", "end", "older_s"},
    "coordinated/*": {"of", "id", "state", "at", "producer", "epoch", "began_s", "timeout_s"},
    "planned_upgrade": _columns(PlannedUpgrade),
    "verdicts/*": _columns(Verdict),
}


def demand(place: str, keys: Iterable[Any], known: Collection[str]) -> None:
    """Raise ValueError naming a key that no test reads, and the nearest one that some does."""
    for key in keys:
        if key not in known:
            nearest = get_close_matches(str(key), known, 1)
            hint = f"; did you mean {nearest[0]!r}?" if nearest else f" (known: {sorted(known)})"
            msg = f"{place}: unknown key {key!r}{hint}"
            raise ValueError(msg)


def demand_words(place: str, world: Any, known: Collection[str]) -> None:
    """Raise ValueError naming a key of a world, or of a part of one; `known` are the parts of the base."""
    demand(place, world, known)
    for part, value in world.items():
        _demand_within(f"{place}: {part}", part, value)


def _demand_within(place: str, path: str, part: Any) -> None:
    if isinstance(part, dict):
        demand(place, part, WORDS.get(path, part))
        for key, value in part.items():
            _demand_within(f"{place}: {key}", f"{path}/{key if path in WORDS else '*'}", value)
    elif isinstance(part, list):
        for one in part:
            _demand_within(place, f"{path}/*", one)
