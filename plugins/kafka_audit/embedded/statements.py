"""The statements of `differences` in DuckDB's words: `sql/` holds each file as sqlglot translated it before the release.

`make docs` writes that folder, and a test compares it with the files that it was made of.
"""

from collections.abc import Iterable
from functools import cache
from importlib.resources import files

from kafka_audit.differences.files import in_order, parts_of_shared_relation, rows_of_all
from kafka_audit.model.tables import Row

# Spark's functions that sqlglot passes on as they are.
MACROS = """
CREATE MACRO get(items, place) AS items[place + 1];
CREATE MACRO arrays_overlap(a, b) AS list_has_any(a, b);
"""


@cache
def translated(name: str) -> str:
    """Return a file in DuckDB's words, by its path below `differences` without `.sql`."""
    return files(__package__).joinpath("sql", *f"{name}.sql".split("/")).read_text(encoding="utf-8")


def shared_relation(name: str, modes: Iterable[bool]) -> str:
    """Return the SELECT of a shared relation; `modes` as in `differences.files`."""
    return rows_of_all(translated(part) for part in parts_of_shared_relation(name, modes))


def embedded_statement(table: type[Row]) -> str:
    """Return the SELECT of a difference table, with its columns in the order of `column_names`."""
    return in_order(table, translated(table.table()))
