"""Snapshots of large clusters, made from the answers of their brokers without a network."""

import sys
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
from views import VERSION

from kafka_audit.collect.brokers.views import View, ViewBook
from kafka_audit.model.tables import BrokerView, Row, ViewBroker
from kafka_audit.store import Store

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

import small_cluster  # noqa: E402 -- found by the path above


def write(
    store: Store, snapshot_id: str, bodies: Iterable[bytes], min_isr: int | None = None
) -> tuple[list[View], Mapping[type[Row], pa.Table]]:
    """Publish the snapshot of a KRaft cluster whose brokers gave these answers to Metadata; return views and large tables.

    With `min_isr` the settings of brokers and topics were read: it is what brokers are set to, and topics set nothing.
    """
    book = ViewBook()
    views = [book.add(body, VERSION) for body in bodies]
    large = book.large({view.topics_digest for view in views})
    spec = {**small_cluster.KRAFT, "brokers": {one: f"b{one}.kafka.example:9092" for one in range(len(views))}}
    if min_isr is None:
        unread = {"operation": "DescribeConfigs*", "error": "timeout"}
        spec["reads"] = [unread | {"observer": f"broker:{one}"} for one in range(len(views))]
    else:
        spec["configs"] = {"min.insync.replicas": str(min_isr)}
    plain = small_cluster.snapshot(spec, snapshot_id)
    rows = [row for row in plain.rows if not isinstance(row, BrokerView | ViewBroker)]
    rows += book.rows({view.brokers_digest for view in views})
    rows += [
        BrokerView(
            sample=1,
            observer=f"broker:{broker}",
            broker_id=broker,
            listener="PLAINTEXT",
            address=f"b{broker}.kafka.example:9092",
            kafka_cluster_id=plain.cluster_id,
            controller_id=0,
            brokers_listed=view.brokers_listed,
            topics_listed=view.topics_listed,
            brokers_digest=view.brokers_digest,
            topics_digest=view.topics_digest,
            metadata_version=VERSION,
        )
        for broker, view in enumerate(views)
    ]
    store.write(replace(plain, rows=tuple(rows), large=large))
    return views, large
