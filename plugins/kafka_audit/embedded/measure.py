"""Run the files of `differences` in DuckDB, over stored and given tables, and return their rows.

Functions of Spark are macros here, and two notations are put differently.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import duckdb

from kafka_audit.bounds.scratch import Scratch
from kafka_audit.differences import files
from kafka_audit.differences.alike import Alike, without_equal_views
from kafka_audit.differences.arrow import given_tables, modes
from kafka_audit.differences.files import in_order, query_text
from kafka_audit.differences.found import Differences
from kafka_audit.differences.tables import DIFFERENCES, ListAge
from kafka_audit.model.errors import EngineError
from kafka_audit.model.tables import KEY, LARGE, Row, columns

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
    return _in_duckdb(files.shared_relation_sql(name, modes))


def embedded_statement(table: type[Row]) -> str:
    """Return the SELECT of a difference table, with its columns in the order of `column_names`."""
    return _in_duckdb(in_order(table, query_text(table.table())))


@dataclass(frozen=True, kw_only=True)
class StoredFile:
    """A Parquet file on this machine.

    Attributes:
        path: the file.
        holder: the snapshot that wrote it, whose id its rows have.
        snapshots: those that share it.
    """

    path: Path
    holder: str
    snapshots: tuple[str, ...]


Given = Mapping[str, Sequence[Row]]
"""Rows of the given tables by judged snapshot."""

MEMORY = "600MB"
"""What DuckDB may keep in memory; more goes to disk. 200,000 partitions of 100 brokers need less."""

_LITTLE = 4 * 1024 * 1024
"""Bytes of Parquet that one thread measures as soon as several do, with a fifth less CPU: plans cost more than rows."""

_TYPES = {"bigint": "BIGINT", "double": "DOUBLE", "string": "VARCHAR", "boolean": "BOOLEAN"}


class EmbeddedMeasure:
    """Measures over some snapshots of a store."""

    def __init__(self, where: str, stored: Mapping[str, Sequence[StoredFile]], disagreements: Path | None = None) -> None:
        """Keep what to measure; nothing is read yet.

        Args:
            where: the store, for messages.
            stored: the Parquet files of each large table.
            disagreements: file to write with every partition that a view shows differently from the reference, a row for each
                observer; it is not written where all views agree.
        """
        self._where = where
        self._stored = stored
        self._disagreements = disagreements

    def ages(self, given: Given) -> dict[str, tuple[ListAge, ...]]:
        """Return how new the lists are that the `ReferenceList` rows of each snapshot name, whatever place they have there.

        Raises:
            EngineError: a query failed; names the store.
        """
        with self._connected(given) as connection:
            _relate(connection, given, files.shared_relations((ListAge,)))
            found = _collect(connection, (ListAge,))
        return {name: tuple(row for row in found[name] if isinstance(row, ListAge)) for name in given}

    def differences(self, given: Given, tables: Sequence[type[Row]] = DIFFERENCES) -> dict[str, Differences]:
        """Return the differences of every judged snapshot.

        Args:
            given: the given tables of each.
            tables: those that are computed.

        Raises:
            EngineError: a query failed; names the store.
        """
        same = without_equal_views(given)
        with self._connected(same.given) as connection:
            _relate(connection, same.given, files.shared_relations(tables))
            found = _collect(connection, tables)
            if self._disagreements is not None:
                _write_disagreements(connection, same, self._disagreements)
        return {name: Differences.from_rows(tables, same.spread(name, found[name])) for name in given}

    def relation_types(self) -> dict[str, list[tuple[str, str]]]:
        """Return the columns of each shared relation, with DuckDB's types, as they are without any rows."""
        with self._connected({}) as connection:
            _relate(connection, {}, files.SHARED)
            return {name: [row[:2] for row in connection.execute(f"DESCRIBE {name}").fetchall()] for name in files.SHARED}

    def _config(self, scratch: Path) -> dict[str, str | bool | int | float | list[str]]:
        """Return settings: nothing is fetched from anywhere, and what does not fit into memory goes to our own folder."""
        config: dict[str, str | bool | int | float | list[str]] = {
            "memory_limit": MEMORY,
            "temp_directory": str(scratch),
            "preserve_insertion_order": False,
            "default_null_order": NULL_ORDER,
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
        }
        return config | {"threads": 1} if sum(_sizes(self._stored)) <= _LITTLE else config

    @contextmanager
    def _connected(self, given: Given) -> Iterator[duckdb.DuckDBPyConnection]:
        """Yield a connection on which stored and given tables have their names."""
        try:
            with Scratch() as scratch, duckdb.connect(config=self._config(scratch.path)) as connection:
                connection.execute(MACROS)
                for table in LARGE:
                    connection.execute(
                        f"CREATE VIEW {table.table()} AS {_stored_table(table, self._stored.get(table.table(), ()))}"
                    )
                for name, rows in given_tables(given).items():
                    connection.register(name, rows)
                yield connection
        except (duckdb.Error, OSError) as error:
            first = str(error).partition("\n")[0]
            msg = f"{self._where}: the differences between snapshots cannot be computed: {first}"
            raise EngineError(msg) from error


def _sizes(stored: Mapping[str, Sequence[StoredFile]]) -> Iterator[int]:
    return (file.path.stat().st_size for files_of_table in stored.values() for file in files_of_table)


def _stored_table(table: type[Row], stored: Sequence[StoredFile]) -> str:
    """Return a SELECT over the files of a table. A column that an older file lacks is null, as in Spark."""
    names = ", ".join(column.name for column in columns(table))
    typed = ", ".join(f"CAST(NULL AS {_type(column.sql_type)}) AS {column.name}" for column in (*KEY, *columns(table)))
    nothing = f"SELECT {typed} WHERE false"
    if not stored:
        return nothing
    paths = ", ".join(_text(str(file.path)) for file in stored)
    everything = f"({nothing} UNION ALL BY NAME SELECT * FROM read_parquet([{paths}], union_by_name = true))"  # noqa: S608
    if all(file.snapshots == (file.holder,) for file in stored):
        return f"SELECT snapshot_id, {names} FROM {everything}"  # noqa: S608
    # A file that two snapshots share is there once.
    shared = ", ".join(f"({_text(file.holder)}, {_text(name)})" for file in stored for name in file.snapshots)
    return (
        f"SELECT holders.snapshot_id, {', '.join(f'rows.{column.name}' for column in columns(table))} FROM {everything} AS rows"  # noqa: S608
        f" JOIN (VALUES {shared}) AS holders(holder, snapshot_id) ON rows.snapshot_id = holders.holder"
    )


def _type(sql_type: str) -> str:
    inner = sql_type.removeprefix("array<").removesuffix(">")
    return _TYPES[inner] + ("[]" if inner != sql_type else "")


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def _relate(connection: duckdb.DuckDBPyConnection, given: Given, names: Iterable[str]) -> None:
    """Compute relations that several files share."""
    for name in names:
        connection.execute(f"CREATE TABLE {name} AS {shared_relation(name, modes(given))}")


def _collect(connection: duckdb.DuckDBPyConnection, tables: Iterable[type[Row]]) -> dict[str, list[Row]]:
    """Return the rows of difference tables by snapshot."""
    found: dict[str, list[Row]] = defaultdict(list)
    for table in tables:
        names = [column.name for column in columns(table)]
        for snapshot_id, *values in connection.execute(embedded_statement(table)).fetchall():
            cells = (tuple(value) if isinstance(value, list) else value for value in values)
            found[snapshot_id].append(table(**dict(zip(names, cells, strict=True))))
    return found


def _write_disagreements(connection: duckdb.DuckDBPyConnection, same: Alike, path: Path) -> None:
    """Write the differences of views, for every observer of such a view."""
    if connection.execute("SELECT count(*) FROM disagreement").fetchone() == (0,):
        return
    rows = [(*key, observer) for key, observers in same.names.items() for observer in observers]
    connection.execute("CREATE TABLE observer_alike (snapshot_id VARCHAR, name VARCHAR, observer VARCHAR)")
    connection.executemany("INSERT INTO observer_alike VALUES (?, ?, ?)", rows)
    connection.execute(
        "COPY (SELECT d.snapshot_id, a.observer, d.* EXCLUDE (snapshot_id, name) FROM disagreement AS d"  # noqa: S608 -- our own path
        " JOIN observer_alike AS a ON a.snapshot_id = d.snapshot_id AND a.name = d.name)"
        f" TO {_text(str(path))} (FORMAT parquet)"
    )
