"""A row that Parquet refuses is left out and told; the rest lands, and no check passes by what is missing."""

import math
from dataclasses import replace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import small_cluster
from kafka_audit.checks.run import judge
from kafka_audit.cluster.view import ClusterView
from kafka_audit.incidents.inputs import _SOURCE
from kafka_audit.model.finding import Status
from kafka_audit.model.tables import (
    LONG,
    TABLES,
    BrokerConfig,
    RegisteredPartition,
    SourceRead,
    columns,
)
from kafka_audit.model.tables.fitting import misfit
from kafka_audit.store import Store, parquet, refused

ID = "20261122T120000Z-prod-0000"
READ = "DescribeConfigs BROKER"
SPEC = {
    "brokers": {0: "a:9092", 1: "b:9092", 2: "c:9092"},
    "topics": {"orders": {"partitions": {0: {"replicas": [0, 1, 2]}, 1: {"replicas": [1, 2]}}}},
    "configs": {"authorizer.class.name": "A", "super.users": "User:a", "log.dirs": "/data"},
}


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path)


def spoilt(table, index, **values):
    """Return a snapshot of which one row of a table has other values."""
    honest = replace(small_cluster.snapshot(SPEC), snapshot_id=ID)
    rows, seen = [], 0
    for row in honest.rows:
        hit = isinstance(row, table) and seen == index
        seen += isinstance(row, table)
        rows.append(replace(row, **values) if hit else row)
    return honest, replace(honest, rows=tuple(rows))


def published(store, snapshot):
    store.write(snapshot)
    return store.read(ID)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"key": None}, "broker_config.key is null"),
        ({"key": 7}, "broker_config.key is no text"),
        ({"value": "\ud800"}, "broker_config.value is no text that UTF-8 can hold"),
        ({"source": 2**63}, "broker_config.source is a number of more than 64 bits"),
        ({"sensitive": 3}, "broker_config.sensitive is no boolean"),
        ({"broker_id": "x"}, "broker_config.broker_id is no whole number"),
    ],
)
def test_of_an_answer_that_does_not_fit_nothing_is_left_and_its_read_failed(store, caplog, values, words):
    honest, snapshot = spoilt(BrokerConfig, 4, **values)
    found = published(store, snapshot)
    (lost,) = [row for row in snapshot.of(BrokerConfig) if row not in honest.of(BrokerConfig)]
    assert lost.observer == "broker:1"
    assert found.of(BrokerConfig) == tuple(row for row in honest.of(BrokerConfig) if row.observer != "broker:1")
    (read,) = [row for row in found.of(SourceRead) if row.outcome == "failed"]
    assert (read.observer, read.operation, read.error) == ("broker:1", READ, "unreadable answer")
    assert read.message == f"left out of the store: {words}"
    for table in {*TABLES} - {BrokerConfig, SourceRead}:
        assert found.of(table) == honest.of(table)
    assert words in caplog.text


def test_afterwards_the_checks_do_not_pass(store):
    honest, snapshot = spoilt(BrokerConfig, 4, key=None)
    before = {
        (judgement.code, judgement.resource): judgement.status
        for judgement in judge(ClusterView.of_files(published(store, replace(honest, snapshot_id=ID))))
    }
    (store_two := Store(f"{store.root}/two")).write(snapshot)
    after = {
        (judgement.code, judgement.resource): judgement.status for judgement in judge(ClusterView.of_files(store_two.read(ID)))
    }
    assert (before["KA402", "broker/1"], after["KA402", "broker/1"]) == (Status.PASS, Status.UNKNOWN)
    assert (before["KA001", "broker/1"], after["KA001", "broker/1"]) == (Status.PASS, Status.FAIL)
    assert after["KA001", "broker/2"] is Status.PASS


def test_of_znodes_one_row_goes_and_the_others_stay(store):
    honest, snapshot = spoilt(RegisteredPartition, 1, leader_epoch=2**70)
    found = published(store, snapshot)
    assert found.of(RegisteredPartition) == honest.of(RegisteredPartition)[:1]
    (read,) = [row for row in found.of(SourceRead) if row.outcome == "failed"]
    assert read.observer == "zookeeper"
    assert read.message == "left out of the store: registered_partition.leader_epoch is a number of more than 64 bits"


def test_a_failed_read_is_never_left_out(store):
    honest, _ = spoilt(SourceRead, 0)
    odd = SourceRead(sample=2**70, observer="broker:9", operation="Metadata\ud800", target=None, outcome="failed")
    found = published(store, replace(honest, rows=(*honest.rows, odd)))
    (read,) = [row for row in found.of(SourceRead) if row.outcome == "failed"]
    assert (read.observer, read.operation, read.sample) == ("broker:9", "Metadata\\ud800", 1)
    assert read.message == "left out of the store: source_read.sample is a number of more than 64 bits"


def test_what_fits_is_stored_as_it_was(store):
    honest, _ = spoilt(BrokerConfig, 0)
    nul = spoilt(BrokerConfig, 0, value="\0" * 10)[1]
    assert published(store, nul).of(BrokerConfig)[0].value == "\0" * 10
    assert len(nul.rows) == len(honest.rows)


_SAMPLES = {"bigint": 1, "string": "x", "double": 1.0, "boolean": True, "array<bigint>": (1,), "array<string>": ("x",)}


@pytest.mark.parametrize("table", [table for table in TABLES if table in _SOURCE], ids=lambda table: table.table())
def test_the_read_that_fails_is_one_that_checks_of_the_table_ask_for(table):
    """Else a check would pass by rows that are not there."""
    row = table(**{column.name: _SAMPLES[column.sql_type] for column in columns(table)})
    (read,) = refused.reads_with_lost_rows([], [(row, "words")])
    assert _SOURCE[table](read)
    if hasattr(row, "observer") and table.table() in {"acl_holder", "topic_config", "reassignment"}:
        (read,) = refused.reads_with_lost_rows([], [(replace(row, observer="zookeeper"), "words")])
        assert read.observer == "zookeeper"
        assert _SOURCE[table](read)


def test_every_table_but_our_own_has_its_read():
    ours = {"snapshot_info", "sample", "source_read", "ordinary_time"}
    assert {table.table() for table in TABLES if not table.filled_by} == ours
    assert {table for table in TABLES if table.filled_by} == _SOURCE.keys()


def test_of_each_column_a_file_of_another_party_is_judged_as_a_row_is():
    """Each column of each table in turn holds what it cannot, or can only just."""
    plain = {"bigint": 1, "double": 1.0, "string": "a", "boolean": True, "array<bigint>": (1,), "array<string>": ("a",)}
    odd = {"bigint": (2**31, -(2**63)), "double": (math.inf,), "array<bigint>": ((2**31,),), "array<string>": ((None,),)}
    for table in TABLES:
        row = {column.name: plain[column.sql_type] for column in columns(table)}
        for column in columns(table):
            for value in (*odd.get(column.sql_type, ()), *[None][column.nullable :]):
                values, sink = row | {column.name: value}, pa.BufferOutputStream()
                arrays = {name: pa.array([entry], parquet.schema(table).field(name).type) for name, entry in values.items()}
                pq.write_table(pa.table({"snapshot_id": ["s"], "cluster_id": ["c"], **arrays}), sink)
                try:
                    parquet.decode_checked(table, sink.getvalue().to_pybytes(), parquet.Room(rows=1, bytes=10_000))
                    found = None
                except ValueError as error:
                    found = str(error)
                assert found == misfit(table(**values)), (table, column.name, value)
                assert found or (value, column.most) == (2**31, LONG)
