"""The statements of `differences` as DuckDB runs them: Spark's functions are macros, and two notations are put differently."""

import re
from collections.abc import Iterable

from kafka_audit.differences.files import in_order, parts_of_shared_relation, query_text, rows_of_all
from kafka_audit.model.tables import Row

MACROS = """
CREATE MACRO size(items) AS len(items);
CREATE MACRO get(items, place) AS items[place + 1];
CREATE MACRO slice(items, first, count) AS items[first:first + count - 1];
CREATE MACRO explode(items) AS unnest(items);
CREATE MACRO transform(items, change) AS list_transform(items, change);
CREATE MACRO sort_array(items) AS list_sort(items, 'ASC', 'NULLS FIRST');
CREATE MACRO array_min(items) AS list_min(items);
CREATE MACRO array_max(items) AS list_max(items);
CREATE MACRO array_compact(items) AS list_filter(items, lambda item : item IS NOT NULL);
CREATE MACRO array_except(items, others) AS
    CASE WHEN others IS NOT NULL THEN list_filter(list_distinct(items), lambda item : NOT list_contains(others, item)) END;
CREATE MACRO arrays_overlap(items, others) AS list_has_any(items, others);
CREATE MACRO collect_set(item) AS list(DISTINCT item) FILTER (WHERE item IS NOT NULL);
CREATE MACRO collect_list(item) AS list(item) FILTER (WHERE item IS NOT NULL);
"""
"""Spark's functions in DuckDB. No list of the files has a null among its items."""

NULL_ORDER = "nulls_first_on_asc_last_on_desc"
"""Where Spark puts nulls."""


def _in_duckdb(text: str) -> str:
    """Return a text in DuckDB's notation of what no macro can be: lists and the functions that are passed to functions."""
    return re.sub(r"\barray\(", "list_value(", re.sub(r"\b(\w+) -> ", r"lambda \1 : ", text))


def shared_relation(name: str, modes: Iterable[bool]) -> str:
    """Return the SELECT of a shared relation; `modes` as in `differences.files`."""
    return _in_duckdb(rows_of_all(query_text(part) for part in parts_of_shared_relation(name, modes)))


def embedded_statement(table: type[Row]) -> str:
    """Return the SELECT of a difference table, with its columns in the order of `column_names`."""
    return _in_duckdb(in_order(table, query_text(table.table())))
