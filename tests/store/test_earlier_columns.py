"""Snapshots of versions without a column are read: what it says follows from what they have."""

import pyarrow as pa
import pyarrow.parquet as pq

from checks.secured_world import log_line
from kafka_audit.model.read_failure import ReadFailure
from kafka_audit.model.tables import LogLine, SourceRead
from kafka_audit.says.signs import login_fault, shown_by
from kafka_audit.store import parquet
from made_rows import made


def stored_without(row, column, **more):
    """Return a row as it is read from a file without a column, and with columns that are no longer there."""
    own = parquet.table_of(type(row), [row]).drop_columns([column])
    for name, value in {"snapshot_id": "s", "cluster_id": "c", **more}.items():
        own = own.append_column(pa.field(name, pa.string()), [[value]])
    sink = pa.BufferOutputStream()
    pq.write_table(own, sink)
    (found,) = parquet.rows_of(type(row), parquet.decode(type(row), sink.getvalue().to_pybytes()))
    return found


def test_a_read_has_the_failure_of_its_text():
    read = made(SourceRead, operation="Metadata", target="b1:9092", outcome="failed", error="timeout", reason="TIMEOUT")
    found = stored_without(read, "reason")
    assert (found.reason, found.failure) == (None, ReadFailure.TIMEOUT)


def test_a_line_of_a_log_has_the_meaning_of_its_signature_now():
    text = "WARN it was unsuccessful / org.apache.kafka.common.errors.SslAuthenticationException: SSL handshake failed"
    line = log_line(1789408800000, broker=0, about=2, signature="controller_connection_unsuccessful", text=text)
    found = stored_without(line, "exception", supports="KA302", login_fault="credential")
    assert isinstance(found, LogLine)
    assert (shown_by(found), login_fault(found)) == ("KA412", "certificate")
