"""Rows of difference tables, whatever order an engine returns them in."""

from kafka_audit.differences.found import Differences
from kafka_audit.differences.tables import ListAge


def test_the_order_of_an_engine_does_not_show():
    rows = [ListAge(moment=moment, topics_digest="d", age=age) for moment in ("now", "before") for age in (2, 1)]
    assert Differences().with_rows(ListAge, rows) == Differences().with_rows(ListAge, rows[::-1])
    assert Differences.from_rows((ListAge,), rows) == Differences().with_rows(ListAge, rows)
