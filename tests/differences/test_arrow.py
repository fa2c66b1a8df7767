"""Small stored tables as Arrow."""

import pyarrow as pa
import pytest
from pyarrow import parquet

from kafka_audit.differences.arrow import stored_rows
from kafka_audit.model.tables import TopicConfig


@pytest.fixture
def file(tmp_path):
    """A file of another version: without the topic, with a column that is not known here."""
    path = tmp_path / "topic config.parquet"
    parquet.write_table(pa.table({"snapshot_id": ["s1"], "cluster_id": ["c"], "key": ["retention.ms"], "more": [1]}), path)
    return path


def test_a_file_that_two_snapshots_share_has_rows_of_both(file):
    rows = stored_rows(TopicConfig, {"s1": str(file), "s2": str(file)}).to_pylist()
    assert [(row["snapshot_id"], row["key"]) for row in rows] == [("s1", "retention.ms"), ("s2", "retention.ms")]


def test_columns_are_those_of_the_table_whatever_the_file_has(file):
    (row,) = stored_rows(TopicConfig, {"s1": str(file)}).to_pylist()
    assert row["topic"] is None
    assert "more" not in row
    assert stored_rows(TopicConfig, {}).column_names == list(row)


def test_a_file_that_is_no_parquet_is_named(tmp_path):
    (tmp_path / "bad.parquet").write_bytes(b"no parquet")
    with pytest.raises(pa.ArrowException, match=r"bad\.parquet"):
        stored_rows(TopicConfig, {"s1": str(tmp_path / "bad.parquet")})


def test_a_file_that_is_not_there_is_no_empty_one(tmp_path):
    with pytest.raises(OSError, match=r"gone\.parquet"):
        stored_rows(TopicConfig, {"s1": str(tmp_path / "gone.parquet")})
