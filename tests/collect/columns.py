"""Rows of large tables as columns and back, so that tests speak of rows."""

from typing import NamedTuple

from kafka_audit.collect.brokers.metadata import read_topics
from kafka_audit.collect.rows.collected import Collected
from kafka_audit.collect.rows.columns import NONE
from kafka_audit.model.tables import LARGE
from kafka_audit.store import parquet


def collected(rows):
    """Return rows as a sample has them."""
    rows = tuple(rows)
    large = {table: parquet.table_of(table, [row for row in rows if type(row) is table]) for table in LARGE}
    return Collected(rows=tuple(row for row in rows if type(row) not in LARGE), large=large)


def rows_of(found):
    """Return everything that was collected as rows."""
    return (*found.rows, *(row for table, data in found.large.items() for row in parquet.rows_of(table, data)))


class Partition(NamedTuple):
    """A partition of an answer to Metadata."""

    partition: int
    error: int
    leader: int
    leader_epoch: int | None
    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    offline_replicas: tuple[int, ...]


class Topic(NamedTuple):
    """A topic of an answer to Metadata."""

    name: str
    topic_id: str | None
    error: int
    partitions: tuple[Partition, ...]


def read_topic(data, version):
    """Decode one topic of an answer."""
    (topic,) = topics_of(read_topics([data], version))
    return topic


def topics_of(found):
    """Return decoded topics one by one."""
    rows = [
        Partition(partition, error, leader, None if epoch == NONE else epoch, replicas, isr, offline)
        for partition, error, leader, epoch, replicas, isr, offline in zip(
            found.partition.tolist(),
            found.error.tolist(),
            found.leader.tolist(),
            found.leader_epoch.tolist(),
            _lists(found.replicas),
            _lists(found.isr),
            _lists(found.offline_replicas),
            strict=True,
        )
    ]
    heads = zip(found.names, found.topic_ids, found.errors, strict=True)
    return [Topic(*head, tuple(rows[found.bounds[at] : found.bounds[at + 1]])) for at, head in enumerate(heads)]


def _lists(found):
    return [tuple(row) for row in found.arrow().to_pylist()]
