"""Rows of which a test names what it is about: what else a row must have is plain."""

from dataclasses import MISSING, fields

from kafka_audit.model.tables import BrokerConfig, BrokerView, Sample, SnapshotInfo, columns

_PLAIN = {
    "sample": 1,
    "last_sample": 1,
    "broker_id": 1,
    "vantage": "worker",
    "role": "client",
    "listener": "PLAINTEXT",
    "protocol": "PLAINTEXT",
    "host": "h",
    "port": 9092,
    "address": "h:9092",
    "layer": "tcp",
    "outcome": "ok",
    "metadata_version": 12,
}
_OF_TABLE = {
    BrokerConfig: {"source": 4},  # the file
    Sample: {"reason": "first"},
    SnapshotInfo: {
        "cluster": "prod",
        "mode": "zookeeper",
        "tool_version": "0.1.0",
        "samples": 1,
        "settle_s": 5.0,
        "leader_moves": 0.2,
        "skew_s": 60.0,
    },
    BrokerView: {"controller_id": 0, "brokers_listed": 1, "brokers_digest": "b", "topics_digest": "t"},
}
_OF_TYPE = {"bigint": 0, "double": 0.0, "string": "", "boolean": False}


def made(table, **values):
    """Return a row of a table.

    A column without a default that is not named is as above, null where it may be, else 0, "" or (). The observer is the broker
    of the row.
    """
    plain = _PLAIN | _OF_TABLE.get(table, {}) | {"observer": f"broker:{values.get('broker_id', _PLAIN['broker_id'])}"}
    types = {column.name: None if column.nullable else _OF_TYPE.get(column.sql_type, ()) for column in columns(table)}
    needed = [field.name for field in fields(table) if field.default is MISSING and field.default_factory is MISSING]
    return table(**{name: plain.get(name, types[name]) for name in needed} | values)


def of(rows, table):
    """Return the rows of one table."""
    return [row for row in rows if isinstance(row, table)]
