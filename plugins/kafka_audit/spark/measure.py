"""Run the files of `differences` in Spark, over stored and given tables, and return their rows."""

import json
import threading
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from itertools import chain
from typing import Any

import pyarrow as pa
from py4j.protocol import Py4JError
from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql import DataFrame, Observation, SparkSession, functions
from pyspark.sql.functions import lit

from kafka_audit.differences import files
from kafka_audit.differences.alike import Alike, without_equal_views
from kafka_audit.differences.arrow import given_tables, modes, stored_rows
from kafka_audit.differences.found import Differences
from kafka_audit.differences.tables import DIFFERENCES, ListAge
from kafka_audit.model.errors import EngineError
from kafka_audit.model.tables import KEY, LARGE, Row, ddl
from kafka_audit.spark.local_settings import (
    FEW_ROWS,
    FOR_FEW_ROWS,
    LISTED_HERE,
    MANY_ROWS,
    ONE_TASK,
    ONE_TASK_ROWS,
    VERY_FEW_ROWS,
)
from kafka_audit.spark.object_stores import url

_SNAPSHOT = KEY[0].name

Given = Mapping[str, Sequence[Row]]
"""Rows of the given tables by judged snapshot."""

_AT_ONCE = 2
"""Queries that return results at once; each of them is planned by one thread."""

_HERE = "file://"
"""How the URL of a store begins that is a folder on this machine."""

_AGAIN_S = 0.5
"""How often what runs is ended once the time is over: one query is many jobs."""

_ERRORS = (PySparkException, Py4JError, pa.ArrowException, OSError)
"""What a query raises: the second where it fails while it runs; it, or those of Arrow, for a damaged file."""


class SparkMeasure:
    """Measures over some snapshots of a store."""

    def __init__(
        self,
        spark: SparkSession,
        root: str,
        holders: Mapping[str, Mapping[str, str]],
        *,
        rows: int | None = None,
        disagreements: str | None = None,
    ) -> None:
        """Keep what to measure; nothing is read yet.

        Args:
            spark: session to run on; temporary views of the tables' names are replaced.
            root: the store's path, or its URL.
            holders: by large table, by snapshot that is judged or that one is compared with: the snapshot whose folder has the
                file of the table. The rows of a file hold the id of that snapshot.
            rows: how many there are of the tables that the files read, roughly; None: many.
            disagreements: where to write as Parquet every partition that a view shows differently from the reference, a row for
                each observer; nothing is written where all views agree.
        """
        self._spark = spark
        self._root = url(root)
        self._holders = holders
        self._rows = rows
        self._disagreements = disagreements

    def ages(self, given: Given) -> dict[str, tuple[ListAge, ...]]:
        """Return how new the lists are that the `ReferenceList` rows of each snapshot name, whatever place they have there.

        Raises:
            EngineError: a query failed; names the store.
        """
        with self._pass(given, files.large_tables(ListAge)) as run:
            found = run.ages()
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
        with self._pass(same.given, LARGE) as run:
            found = run.differences(tables)
            if self._disagreements is not None:
                run.write_disagreements(same, url(self._disagreements))
        return {name: Differences.from_rows(tables, same.spread(name, found[name])) for name in given}

    @contextmanager
    def _pass(self, given: Given, large: Iterable[type[Row]]) -> Iterator["_Pass"]:
        use = _SparkUse.of(self._rows)
        try:
            with _set(self._spark, {**use.settings, **(LISTED_HERE if self._is_here else {})}):
                run = _Pass(self._spark, use)
                run.register({table.table(): self._stored(table, use) for table in large}, given)
                yield run
        except _ERRORS as error:
            msg = f"{self._root}: the differences between snapshots cannot be computed: {_root_of(error)}"
            raise EngineError(msg) from error

    @property
    def _is_here(self) -> bool:
        return self._root.startswith(_HERE)

    def _stored(self, table: type[Row], use: "_SparkUse") -> DataFrame:
        folder, holders = f"{self._root}/snapshots", self._holders.get(table.table(), {})
        if use.literal and self._is_here:
            paths = {
                snapshot_id: f"{folder.removeprefix(_HERE)}/{holder}/{table.table()}.parquet"
                for snapshot_id, holder in holders.items()
            }
            return self._spark.createDataFrame(stored_rows(table, paths))
        return stored_table(self._spark, table, folder, holders)


def stored_table(spark: SparkSession, table: type[Row], root: str, holders: Mapping[str, str]) -> DataFrame:
    """Return a table over some snapshots; empty where none of them has it.

    Args:
        spark: the session.
        table: the table.
        root: the folder of all snapshots, as a URL.
        holders: by snapshot, the snapshot whose folder has the file.

    Raises:
        AnalysisException: a file is there, but is no Parquet.
    """
    readers: dict[str, list[str]] = {}
    for snapshot_id, holder in sorted(holders.items()):
        readers.setdefault(holder, []).append(snapshot_id)
    frame = _files(spark, table, [f"{root}/{holder}/{table.table()}.parquet" for holder in readers])
    if all(ids == [holder] for holder, ids in readers.items()):
        return frame
    # A file that two snapshots share is read once.
    ids_of = functions.create_map(
        *(column for holder, ids in readers.items() for column in (lit(holder), functions.array(*map(lit, ids))))
    )
    others = [name for name in frame.columns if name != _SNAPSHOT]
    return frame.select(functions.explode(functions.element_at(ids_of, frame[_SNAPSHOT])).alias(_SNAPSHOT), *others)


def _files(spark: SparkSession, table: type[Row], paths: Sequence[str]) -> DataFrame:
    """Return what these files of a table hold; those that are not there hold nothing."""
    try:
        if paths:
            return spark.read.schema(ddl(table)).parquet(*paths)
    except AnalysisException as error:
        if error.getCondition() != "PATH_NOT_FOUND":
            raise
    if len(paths) <= 1:
        return _nothing(spark, ddl(table))
    frames = [_files(spark, table, [path]) for path in paths]
    frame = frames[0]
    for other in frames[1:]:
        frame = frame.unionByName(other)
    return frame


def _nothing(spark: SparkSession, columns: str) -> DataFrame:
    """Return a table of such columns without rows; Spark sees that it has none, and drops what joins with it."""
    return spark.sql(f"SELECT nothing.* FROM (SELECT CAST(NULL AS struct<{columns}>) AS nothing WHERE false)")  # noqa: S608


@contextmanager
def _set(spark: SparkSession, settings: Mapping[str, str]) -> Iterator[None]:
    before = {key: spark.conf.get(key) for key in settings}
    for key, value in settings.items():
        spark.conf.set(key, value)
    try:
        yield
    finally:
        for key, old in before.items():
            if old is None:
                spark.conf.unset(key)
            else:
                spark.conf.set(key, old)


@contextmanager
def jobs_ended_after(spark: SparkSession, seconds: float) -> Iterator[None]:
    """End what Spark computes inside after so many seconds: a query that runs then fails, and so does each that follows.

    Raises:
        EngineError: the time was over; what else failed is raised as it is.
    """
    left, is_over = threading.Event(), threading.Event()

    def watch() -> None:
        wait = seconds
        while not left.wait(wait):
            is_over.set()
            spark.sparkContext.cancelAllJobs()
            wait = _AGAIN_S

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
    except EngineError as error:
        if not is_over.is_set():
            raise
        msg = f"the comparison took longer than {seconds:g} s"
        raise EngineError(msg) from error
    finally:
        left.set()
        thread.join()


def _root_of(error: Exception) -> str:
    """Return the line that says what went wrong first; Spark wraps it several times, and py4j names the call before the error."""
    lines = str(error).splitlines()
    causes = [line.removeprefix("Caused by: ").removeprefix(": ") for line in lines if line.startswith(("Caused by: ", ": "))]
    return (causes or lines or [type(error).__name__])[-1 if causes else 0]


@dataclass(frozen=True, kw_only=True)
class _SparkUse:
    """How Spark computes a pass, by the number of rows that it reads.

    Attributes:
        settings: SQL configuration for as long as it lasts.
        one_task: each relation has one partition, so that no query has a shuffle.
        one_result: so has the union of all files: each task of a stage is sent the whole of it.
        literal: what is stored on this machine, and what is computed, becomes part of the plans that read it: Spark then drops
            what joins with nothing, and need not load what reads Parquet.
    """

    settings: Mapping[str, str] = field(default_factory=dict)
    one_task: bool = False
    one_result: bool = False
    literal: bool = False

    @classmethod
    def of(cls, rows: int | None) -> "_SparkUse":
        """Return what fits so many rows; None: many."""
        if rows is None or rows > max(ONE_TASK_ROWS, FEW_ROWS):
            return cls(settings=MANY_ROWS)
        if rows > FEW_ROWS:
            return cls(settings=ONE_TASK, one_task=True)
        return cls(settings=FOR_FEW_ROWS, one_task=True, one_result=True, literal=rows <= VERY_FEW_ROWS)


class _Pass:
    """One pass over the files: tables become known by name, shared relations are computed, rows collected."""

    def __init__(self, spark: SparkSession, use: _SparkUse) -> None:
        """Begin a pass."""
        self._spark = spark
        self._use = use
        self._empty: set[str] = set()
        self._modes: set[bool] = set()

    def register(self, tables: Mapping[str, DataFrame], given: Given) -> None:
        """Make stored and given tables known by name."""
        for name, frame in tables.items():
            self._name(name, frame)
        self._modes = modes(given)
        for name, rows in given_tables(given).items():
            self._literal(name, rows)

    def ages(self) -> dict[str, list[Row]]:
        """Return the `ListAge` rows by snapshot."""
        return _by_snapshot((ListAge,), self._collect(self._queries((ListAge,))))

    def differences(self, tables: Sequence[type[Row]]) -> dict[str, list[Row]]:
        """Compute the relations that several files share, and return the rows of difference tables by snapshot.

        Relations also show which files have no rows. Each begins as soon as those that it reads are known: two of one task each
        fill two cores. For the last one, which takes longest, only those files wait that read it.
        """
        known: dict[str, Future[None]] = {}

        def compute(name: str) -> None:
            for earlier in files.shared_relations_before(name, self._modes):
                known[earlier].result()
            self._relate(name)

        last = [table for table in tables if files.SHARED[-1] in files.shared_relations((table,))]
        first = [table for table in tables if table not in last]
        rows: list[Future[list[Any]]] = []
        with ThreadPoolExecutor(len(files.SHARED) + _AT_ONCE + 1) as threads:
            for name in files.SHARED:
                known[name] = threads.submit(compute, name)
            for some, at_once in ((first, _AT_ONCE), (last, 1)):
                for name in files.shared_relations(some):
                    known[name].result()
                queries = self._queries(some)
                rows += [threads.submit(self._collect, queries[number::at_once]) for number in range(at_once)]
        for relation in known.values():
            relation.result()
        return _by_snapshot(tables, chain.from_iterable(part.result() for part in rows))

    def _relate(self, name: str) -> None:
        if files.is_empty(name, self._empty):  # Spark need not even analyse it
            self._empty.add(name)
            self._name(name, _nothing(self._spark, files.relation_ddl(name)))
            return
        frame = self._spark.sql(files.shared_relation_sql(name, self._modes))
        if self._use.literal:
            self._literal(name, frame.toArrow(), frame)
        elif name in files.AS_LARGE_AS_STORED and not self._use.one_task and not any(self._modes):
            self._name(name, frame)  # reading the stored columns again is cheaper than keeping all of their rows
        else:
            self._keep(name, frame)

    def _queries(self, tables: Iterable[type[Row]]) -> list[str]:
        """Return a SELECT for each table that may have rows: its name, and the row as JSON."""
        return [
            f"SELECT '{table.table()}' AS name, to_json(struct(*)) AS row FROM (\n{files.statement(table)})"  # noqa: S608 -- our own files
            for table in tables
            if not files.is_empty(table.table(), self._empty)
        ]

    def _collect(self, queries: Sequence[str]) -> list[Any]:
        """Return the rows of all these, as one query."""
        if not queries:
            return []
        frame = self._spark.sql("\nUNION ALL\n".join(queries))
        return (frame.coalesce(1) if self._use.one_result else frame).collect()

    def write_disagreements(self, same: Alike, path: str) -> None:
        """Write the differences of views, for every observer of such a view."""
        if "disagreement" in self._empty:
            return
        names = [(*key, observer) for key, observers in same.names.items() for observer in observers]
        columns_ = ("snapshot_id", "name", "observer")
        self._literal("observer_alike", pa.table(dict(zip(columns_, zip(*names, strict=True), strict=True))))
        frame = self._spark.sql(
            "SELECT d.snapshot_id, a.observer, d.* EXCEPT (snapshot_id, name) FROM disagreement AS d"
            " JOIN observer_alike AS a ON a.snapshot_id = d.snapshot_id AND a.name = d.name"
        )
        frame.write.mode("overwrite").parquet(path)

    def _name(self, name: str, frame: DataFrame) -> None:
        (frame.coalesce(1) if self._use.one_task else frame).createOrReplaceTempView(name)

    def _literal(self, name: str, table: pa.Table, frame: DataFrame | None = None) -> None:
        if table.num_rows == 0:
            self._empty.add(name)
        self._name(name, self._spark.createDataFrame(table, None if frame is None else frame.schema))

    def _keep(self, name: str, frame: DataFrame) -> None:
        rows = Observation()
        observed = frame.observe(rows, functions.count(lit(1)).alias("rows"))
        kept = (observed.coalesce(1) if self._use.one_task else observed).localCheckpoint(eager=True)
        if not rows.get["rows"]:
            self._empty.add(name)
        self._name(name, kept)


def _by_snapshot(tables: Iterable[type[Row]], rows: Iterable[Any]) -> dict[str, list[Row]]:
    """Return the rows that such queries returned."""
    classes = {table.table(): table for table in tables}
    found: dict[str, list[Row]] = defaultdict(list)
    for name, text in rows:
        raw = json.loads(text)
        found[raw.pop("snapshot_id")].append(_row(classes[name], raw))
    return found


def _row(table: type[Row], raw: Mapping[str, Any]) -> Row:
    """Return a row as Spark wrote it: nulls are left out, arrays are lists."""
    cells = ((field.name, raw.get(field.name)) for field in fields(table))
    return table(**{name: tuple(value) if isinstance(value, list) else value for name, value in cells})
