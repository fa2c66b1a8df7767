"""The tables and views that SQL checks select from, and the columns that each of them returns."""

import json
from collections.abc import Iterable, Mapping, Sequence

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import broadcast

from kafka_audit.engine.local_settings import FEW_ROWS, VERY_FEW_ROWS
from kafka_audit.engine.prepared import VIEWS
from kafka_audit.model.finding import Judgement
from kafka_audit.model.run import Pair, Request
from kafka_audit.model.tables import SQL_TABLES, Column, Row, ddl

RESULT: tuple[Column, ...] = (
    Column(name="snapshot_id", sql_type="string", nullable=False),
    Column(name="code", sql_type="string", nullable=False),
    Column(name="resource", sql_type="string", nullable=False),
    Column(name="status", sql_type="string", nullable=False),
    Column(name="severity", sql_type="string", nullable=True),  # null: the check's own
    Column(name="confidence", sql_type="string", nullable=False),
    Column(name="evidence", sql_type="map<string,string>", nullable=False),  # nulls are left out of it afterwards
)
"""Columns of every check's SELECT, in this order."""

_PAIR = "snapshot_id string NOT NULL, previous_snapshot_id string"
_ROW_JUDGEMENT = "snapshot_id string NOT NULL, code string NOT NULL, resource string NOT NULL, status string NOT NULL"


def url(root: str) -> str:
    """Return a store's root as Spark's file systems know it: `s3://` is `s3a://` there, a local path a `file://` URL."""
    if root.startswith("s3://"):
        return "s3a://" + root.removeprefix("s3://")
    # Not Path.as_uri: Hadoop does not take percent signs for escapes.
    return root if "://" in root else f"file://{root}"


def sources(request: Request) -> list[str]:
    """Return the ids of the snapshots that a request is about."""
    return sorted({i for pair in request.pairs for i in (pair.snapshot_id, pair.previous_snapshot_id) if i is not None})


def stored_tables(spark: SparkSession, root: str, request: Request) -> dict[str, DataFrame]:
    """Return every snapshot table over all snapshots of a request, empty where no snapshot has it.

    Raises:
        AnalysisException: a file is there, but is no Parquet.
    """
    ids = sources(request)
    return {
        table.table(): _stored(spark, table, [f"{url(root)}/snapshots/{i}/{table.table()}.parquet" for i in ids])
        for table in SQL_TABLES
    }


def _stored(spark: SparkSession, table: type[Row], paths: list[str]) -> DataFrame:
    try:
        return spark.read.schema(ddl(table)).parquet(*paths)
    except AnalysisException as error:
        if error.getCondition() != "PATH_NOT_FOUND":
            raise
        # A snapshot of an earlier version has no file for a table that came later.
        found = [frame for path in paths if (frame := _one(spark, table, path)) is not None] if len(paths) > 1 else []
    frame = spark.sql(f"SELECT inline(CAST(array() AS array<struct<{ddl(table)}>>))")
    for other in found:
        frame = frame.unionByName(other)
    return frame


def _one(spark: SparkSession, table: type[Row], path: str) -> DataFrame | None:
    try:
        return spark.read.schema(ddl(table)).parquet(path)
    except AnalysisException as error:
        if error.getCondition() != "PATH_NOT_FOUND":
            raise
        return None


def register(
    spark: SparkSession,
    tables: Mapping[str, DataFrame],
    pairs: Iterable[Pair],
    row_judgements: Iterable[Judgement] = (),
    *,
    rows: int | None = None,
) -> None:
    """Make tables and prepared views known by name, and compute those that several others read.

    Args:
        spark: session whose temporary views are replaced.
        tables: snapshot tables by name.
        pairs: what is judged.
        row_judgements: what the Python checks found.
        rows: how many the tables have, roughly; few are kept in one partition: with `local_settings.FOR_FEW_ROWS` a query has
            fewer shuffles then. None: many.
    """
    few = rows is not None and rows <= FEW_ROWS
    for name, frame in tables.items():
        (frame.coalesce(1) if few else frame).createOrReplaceTempView(name)
    judged = [(j.snapshot_id, j.code, j.resource, j.status.value) for j in row_judgements]
    pair = _told(spark, _PAIR, [(p.snapshot_id, p.previous_snapshot_id) for p in pairs])
    for name, frame in (("pair", pair), ("row_judgement", _told(spark, _ROW_JUDGEMENT, judged))):
        (frame.coalesce(1) if few else broadcast(frame)).createOrReplaceTempView(name)
    kraft = bool(spark.table("snapshot_info").where("mode = 'kraft'").head(1))
    for view in VIEWS:
        if sql := view.sql + (view.kraft if kraft else ""):
            _kept(spark, spark.sql(sql), view.kept, rows).createOrReplaceTempView(view.name)


def _told(spark: SparkSession, schema: str, values: Sequence[tuple[str | None, ...]]) -> DataFrame:
    """Return rows of strings as a table; `createDataFrame` would start a Python worker for them."""
    names = [column.split()[0] for column in schema.split(", ")]
    text = json.dumps([dict(zip(names, row, strict=True)) for row in values])
    return spark.sql(f"SELECT inline(from_json(:told, 'array<struct<{schema}>>'))", args={"told": text})


def _kept(spark: SparkSession, frame: DataFrame, kept: str | None, rows: int | None) -> DataFrame:
    """Compute a view that is kept.

    A cached frame would bring its whole plan into every plan that reads it; a dozen levels of that never end. A checkpoint ends
    the plan, and stays on the executors: one that is lost fails the job, which is submitted again as a whole.
    """
    if kept is None:
        return frame
    if rows is not None and rows <= FEW_ROWS:
        single = frame.coalesce(1)
        return _literal(spark, single) if rows <= VERY_FEW_ROWS else single.localCheckpoint(eager=True)
    if kept == "table":
        return frame.persist()
    computed = frame.localCheckpoint(eager=True)
    return broadcast(computed) if kept == "small" else computed


def _literal(spark: SparkSession, frame: DataFrame) -> DataFrame:
    try:
        table = frame.toArrow()
    except ImportError:  # a driver on a cluster needs no pyarrow
        return frame.localCheckpoint(eager=True)
    return spark.createDataFrame(table, frame.schema).coalesce(1)
