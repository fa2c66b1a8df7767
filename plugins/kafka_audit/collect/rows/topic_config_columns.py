"""Topic configurations as columns: what topics set for themselves, from a broker or from ZooKeeper."""

import json
from collections.abc import Mapping

import pyarrow as pa

from kafka_audit.clients.read_error import ReadError
from kafka_audit.collect.rows.columns import table
from kafka_audit.model.read_failure import ReadFailure
from kafka_audit.model.tables import TopicConfig
from kafka_audit.model.tables.fitting import MOST_TEXT

PLACEMENT = "confluent.placement.constraints"
"""JSON, of Confluent Server: how many replicas of a topic are in which racks, and how many observers, which are in no ISR."""

KEYS = (
    "cleanup.policy",
    PLACEMENT,
    "follower.replication.throttled.replicas",
    "leader.replication.throttled.replicas",
    "local.retention.bytes",
    "local.retention.ms",
    "max.compaction.lag.ms",
    "max.message.bytes",
    "min.compaction.lag.ms",
    "min.insync.replicas",
    "remote.storage.enable",
    "retention.bytes",
    "retention.ms",
    "segment.bytes",
    "unclean.leader.election.enable",
)
"""The settings that checks need; other settings of topics are not stored."""

MOST = 1000
"""Characters of a value that are kept: a list of throttled replicas names each of them."""

_MOST_REPLICAS = 32_767


class TopicConfigs:
    """What topics set for themselves, as columns that grow."""

    def __init__(self, observer: str) -> None:
        """Start without any; `observer` reports them."""
        self._observer = observer
        self._topics: list[str] = []
        self._keys: list[str] = []
        self._values: list[str] = []

    def add(self, topic: str, key: str, value: object) -> None:
        """Add one key, its value cut after `MOST` characters; of a placement only the number of observers, if there are any."""
        value = _observers(value) if key == PLACEMENT else value
        if value is None:
            return
        self._topics.append(topic)
        self._keys.append(key)
        self._values.append(str(value)[:MOST])

    def table(self) -> pa.Table:
        """Return them; raises ReadError where a text is none that a table can hold."""
        observers = pa.repeat(self._observer, len(self._topics))
        found = table(TopicConfig, observer=observers, topic=self._topics, key=self._keys, value=self._values)
        if max(map(len, self._topics), default=0) > MOST_TEXT:
            raise ReadError(ReadFailure.MALFORMED_ANSWER, "a topic's name of more characters than a text may have")
        return found


def _observers(placement: object) -> int | None:
    """Return how many replicas of each partition are observers; None for none, and for what cannot be read."""
    try:
        held = json.loads(str(placement))
    except (ValueError, RecursionError):
        return None
    entries = held.get("observers") if isinstance(held, Mapping) else None
    counts = [entry.get("count") for entry in entries if isinstance(entry, Mapping)] if isinstance(entries, list) else []
    found = sum(count for count in counts if isinstance(count, int) and 0 < count <= _MOST_REPLICAS)
    return found or None
