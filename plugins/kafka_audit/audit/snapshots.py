"""The first step of an audit: take a snapshot of a cluster and publish it."""

import secrets as tokens
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from kafka_audit.bounds.memory import release_memory
from kafka_audit.collect import snapshot as collector
from kafka_audit.collect.queue_vantages import QueueAnswer
from kafka_audit.model.cluster import Cluster
from kafka_audit.model.tables import Snapshot
from kafka_audit.store import Store

Take = Callable[..., Snapshot]


def stamp(now: float) -> str:
    """Return a time (seconds since the epoch) as ids of snapshots and runs start with: 20260131T235959Z."""
    return datetime.fromtimestamp(now, UTC).strftime("%Y%m%dT%H%M%SZ")


def publish_snapshot(  # noqa: PLR0913 -- one of them replaces a part only in tests
    cluster: Cluster,
    store: Store,
    say: Callable[[str], None],
    *,
    secrets: Mapping[str, str] | None = None,
    answers: Mapping[str, QueueAnswer] | None = None,
    take: Take = collector.take_snapshot,
) -> str:
    """Take a snapshot of a cluster, publish it, return its id. What does not answer becomes rows, never an error.

    Args:
        cluster: the cluster to read.
        store: where the snapshot goes.
        say: gets a line for each step.
        secrets: passwords by the names that `password_env` gives; default: the environment.
        answers: what workers of Airflow queues saw, by vantage.
        take: the collector.

    Raises:
        UsageError: the cluster file names something that cannot be audited, e.g. a chroot without `/brokers/ids`.
    """
    snapshot_id = f"{stamp(time.time())}-{cluster.name}-{tokens.token_hex(2)}"
    given: dict[str, Any] = {} if secrets is None else {"secrets": secrets}
    given |= {"answers": answers} if answers else {}
    store.write(take(cluster, snapshot_id=snapshot_id, say=say, **given))
    release_memory()
    return snapshot_id
