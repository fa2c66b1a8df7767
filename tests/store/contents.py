"""A snapshot's contents, whether its large tables are rows or columns."""

from kafka_audit.model.tables import TABLES


def contents(snapshot):
    names = (snapshot.snapshot_id, snapshot.cluster, snapshot.cluster_id)
    return names, {table.table(): snapshot.of(table) for table in TABLES}
