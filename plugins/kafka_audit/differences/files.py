"""The `.sql` files of this package: what they read, and their order.

A file is one SELECT in the SQL of Spark, which DuckDB runs with the macros of `embedded/measure.py`. It reads large tables of
snapshots, given tables and the shared relations of `reference/`. It returns `snapshot_id` and the columns of the dataclass in
`tables` that it is named after.
"""

import json
import re
from collections.abc import Collection, Iterable, Mapping
from functools import cache
from importlib.resources import files
from types import MappingProxyType

from kafka_audit.differences.tables import (
    CoordinatorShare,
    DeletedTopic,
    EpochChange,
    FollowedLeader,
    FormerLeaderState,
    InternalTopic,
    KeptTopic,
    LeaderMove,
    ListAge,
    ListCount,
    LossCount,
    LossEffect,
    MovedPartition,
    ReassignedState,
    ReplicaFault,
    ReplicaGap,
    ReplicaState,
    StateFault,
    TopicIdDifference,
    ViewDifference,
)
from kafka_audit.model.tables import LARGE, Row, columns

SHARED = (
    "topic_state",
    "differing_entry",
    "differing_topic",
    "same_topic",
    "partition_state",
    "same_partition",
    "sampled_partition",
    "replica_placement",
    "lacking_topic",
    "lone_topic",
    "differing_partition",
    "faulty_partition",
    "disagreement",
    "offline_follower",
    "unlisted_broker",
    "broker_loss",
    "cluster_state",
    "absent_broker",
    "absent_replica",
    "lost_replica",
    "lost_partition",
)
"""Relations that several files read, each after those that it reads."""

AS_LARGE_AS_STORED = frozenset({"sampled_partition"})
"""Relations that have all partitions of a cluster; the others grow with what differs, with topics or with brokers."""

_BY_MODE: Mapping[str, str] = MappingProxyType(
    {"topic_state": "topic", "partition_state": "partition", "sampled_partition": "sampled_partition"}
)
"""Those that ZooKeeper and KRaft clusters have by different files: the end of the files' names."""

_RESTS_ON: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "differing_entry": ("observer_view",),
        "differing_topic": ("topic_state", "reassigned", "former_leader"),
        "same_topic": ("topic_state",),
        "partition_state": ("differing_topic",),
        "same_partition": ("partition_state",),
        "replica_placement": ("sampled_partition",),
        "lacking_topic": ("differing_entry",),
        "lone_topic": ("observer_view",),
        "differing_partition": ("differing_entry",),
        "faulty_partition": ("sampled_partition",),
        "disagreement": ("differing_partition", "lacking_topic"),
        "offline_follower": ("observer_view",),
        "unlisted_broker": ("offline_follower",),
        "broker_loss": ("lost_broker",),
        "cluster_state": ("known_broker",),
        "absent_broker": ("replica_placement",),
        "absent_replica": ("absent_broker",),
        "lost_replica": ("lost_disk",),
        "lost_partition": ("sampled_partition",),
        ListAge.table(): ("reference_list",),
        ListCount.table(): ("observer_view",),
        ViewDifference.table(): ("disagreement",),
        ReplicaGap.table(): ("replica_placement",),
        ReplicaState.table(): ("faulty_partition",),
        ReplicaFault.table(): ("faulty_partition",),
        InternalTopic.table(): ("sampled_partition",),
        CoordinatorShare.table(): ("sampled_partition",),
        DeletedTopic.table(): ("topic_state",),
        ReassignedState.table(): ("reassigned",),
        LeaderMove.table(): ("same_topic",),
        MovedPartition.table(): ("same_partition",),
        EpochChange.table(): ("same_partition",),
        StateFault.table(): ("replica_placement",),
        TopicIdDifference.table(): ("observer_view",),
        KeptTopic.table(): ("observer_view",),
        FormerLeaderState.table(): ("former_leader",),
        LossCount.table(): ("lost_partition",),
        LossEffect.table(): ("lost_partition",),
        FollowedLeader.table(): ("replica_placement",),
    }
)
"""What has no row where none of these has one: a healthy cluster is not asked for what it cannot have."""


@cache
def query_text(name: str) -> str:
    """Return a file's text, by its path below this folder without `.sql`."""
    return files(__package__).joinpath(*f"{name}.sql".split("/")).read_text(encoding="utf-8")


def parts_of_shared_relation(name: str, modes: Iterable[bool]) -> tuple[str, ...]:
    """Return the files, as `query_text` takes them, whose rows together are a shared relation.

    Args:
        name: of `SHARED`.
        modes: whether clusters are without ZooKeeper, as far as there are such ones: the others' files cost nothing.
    """
    if name not in _BY_MODE:
        return (f"reference/{name}",)
    kinds = [kind for kind, kraft in (("zookeeper", False), ("kraft", True)) if kraft in set(modes)]
    return tuple(f"reference/{kind}_{_BY_MODE[name]}" for kind in kinds)


def shared_relation_sql(name: str, modes: Iterable[bool]) -> str:
    """Return the SELECT of a shared relation."""
    return rows_of_all(query_text(part) for part in parts_of_shared_relation(name, modes))


def rows_of_all(selects: Iterable[str]) -> str:
    """Return the SELECT of the rows of all these, in the SQL of any engine."""
    texts = [*selects]
    return texts[0] if len(texts) == 1 else "\nUNION ALL\n".join(f"SELECT * FROM (\n{text})" for text in texts)  # noqa: S608 -- our own files


@cache
def _ddl_of_relations() -> Mapping[str, str]:
    found: dict[str, str] = json.loads(files(__package__).joinpath("relations.json").read_text(encoding="utf-8"))
    return found


def relation_ddl(name: str) -> str:
    """Return the columns of a shared relation with Spark's types, as `model.tables.ddl` returns those of a table."""
    return _ddl_of_relations()[name]


def is_empty(name: str, empty: Collection[str]) -> bool:
    """Return whether a relation or table has no row because nothing has one that it rests on; `empty` are the names of such."""
    return name in _RESTS_ON and all(base in empty for base in _RESTS_ON[name])


def shared_relations_before(name: str, modes: Iterable[bool]) -> frozenset[str]:
    """Return the shared relations that must be known before a shared relation is computed; `modes` as above."""
    return frozenset({*_names_read(shared_relation_sql(name, modes)), *_RESTS_ON.get(name, ())} & {*SHARED})


def _names_read(text: str) -> set[str]:
    """Return the names that a SELECT reads: tables, relations, and its own common table expressions."""
    return set(re.findall(r"\b(?:FROM|JOIN) (\w+)", text))


@cache
def _bases(table: str, *, unread_relation: str | None = None) -> frozenset[str]:
    """Return the names that a difference table rests on, in either mode: large tables, given ones and relations."""
    known, unread = set(), {table}
    while unread:
        name = unread.pop()
        known.add(name)
        read = _names_read(shared_relation_sql(name, (False, True)) if name in SHARED else query_text(name))
        unread |= read.intersection(SHARED) - known - {unread_relation}
        known |= read
    return frozenset(known)


def large_tables(table: type[Row], *, order: bool = True) -> frozenset[type[Row]]:
    """Return the large tables that a difference table rests on, of clusters of either mode.

    Without `order` those are left out that say only which entries of a list come last.
    """
    bases = _bases(table.table(), unread_relation=None if order else "lone_topic")
    return frozenset(large for large in LARGE if large.table() in bases)


def shared_relations(tables: Iterable[type[Row]]) -> tuple[str, ...]:
    """Return the shared relations that difference tables rest on, each after those that it reads."""
    read = frozenset[str]().union(*(_bases(table.table()) for table in tables))
    return tuple(name for name in SHARED if name in read)


def statement(table: type[Row]) -> str:
    """Return the SELECT of a difference table, with its columns in the order of `column_names`."""
    return in_order(table, query_text(table.table()))


def in_order(table: type[Row], select: str) -> str:
    """Return a SELECT with the columns in the order of `column_names`, in the SQL of any engine."""
    return f"SELECT {', '.join(column_names(table))} FROM (\n{select})"  # noqa: S608 -- our own file


def column_names(table: type[Row]) -> tuple[str, ...]:
    """Return the columns of a given or a difference table."""
    return ("snapshot_id", *(column.name for column in columns(table)))
