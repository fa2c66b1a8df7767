"""A transaction beyond every time-out that no coordinator has is looked at twice: one may just have ended."""

import pytest

from kafka_audit.collect.rows.collected import Collected
from kafka_audit.collect.sampling.sample_differences import SampleTables, find_sample_differences
from kafka_audit.model.tables import CoordinatedTransaction, OldTransaction, SourceRead
from made_rows import made

PAST = made(OldTransaction, topic="orders", partition=1, stable_offset=5, end_offset=9, older_than_ms=960_000)
YOUNG = made(OldTransaction, topic="orders", partition=1, stable_offset=5, end_offset=9, older_than_ms=60_000)
ASKED = made(SourceRead, observer="broker:0", operation="ListTransactions", outcome="answered")
HAS_IT = made(CoordinatedTransaction, transactional_id="tx", state="Ongoing", partitions=("orders-1",))


@pytest.mark.parametrize(
    ("rows", "found"),
    [((PAST, ASKED), True), ((YOUNG, ASKED), False), ((PAST, ASKED, HAS_IT), False), ((PAST,), False)],
    ids=["none has it", "it is young", "a coordinator has it", "no coordinator can be asked"],
)
def test_a_second_sample_is_taken_where_no_coordinator_has_an_old_transaction(rows, found):
    differences = find_sample_differences(SampleTables(Collected(rows=rows)))
    assert [key for key in differences.others if key[0] == "transaction"] == ([("transaction", "orders", 1, 5)] if found else [])
