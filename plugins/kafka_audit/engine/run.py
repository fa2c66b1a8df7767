"""One submission: read the request, judge every pair with all SQL checks at once, write judgements, changes, disagreements."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from kafka_audit.checks import Check, catalogue
from kafka_audit.engine.local_settings import FEW_ROWS, FOR_FEW_ROWS
from kafka_audit.engine.views import RESULT, register, sources, stored_tables, url
from kafka_audit.model.errors import EngineError
from kafka_audit.model.run import Request, run_path
from kafka_audit.model.tables import RegisteredBroker, RegisteredEndpoint, RegisteredPartition, RegisteredTopic, Registry, Row

_PART: Mapping[type[Row], str] = {
    Registry: "controller",
    RegisteredBroker: "brokers",
    RegisteredEndpoint: "brokers",
    RegisteredTopic: "topics",
    RegisteredPartition: "topics",
}
"""Which part of ZooKeeper a table comes from, by the names of the view `zookeeper_gap`."""

_SPARK_ERRORS = (PySparkException, Py4JError)
"""What a query raises: the second where it fails while it runs, as for a damaged file."""

_CONCLUDED = """
    WITH needed(code, part) AS (VALUES {needed}),
    gap AS (
        SELECT n.code, g.snapshot_id, min_by(g.status, NOT g.whole) AS status, min_by(g.reason, NOT g.whole) AS reason,
               min_by(g.error, NOT g.whole) AS error, min_by(g.needs, NOT g.whole) AS needs, bool_or(g.whole) AS whole
        FROM needed AS n JOIN zookeeper_gap AS g ON g.part = n.part AND g.slot = 'now' GROUP BY n.code, g.snapshot_id),
    verdict AS ({verdicts})
    SELECT v.snapshot_id, v.code, v.resource, if(v.status = 'PASS' AND g.code IS NOT NULL, 'UNKNOWN', v.status) AS status,
           if(v.status = 'FAIL', v.severity, NULL) AS severity, v.confidence,
           map_filter(CASE v.status
                          WHEN 'UNKNOWN' THEN v.evidence
                          WHEN 'PASS' THEN map_concat(map_filter(v.evidence, (k, x) -> k NOT IN ('error', 'needs')),
                                                      map('error', g.error, 'needs', g.needs))
                          ELSE map_filter(v.evidence, (k, x) -> k <> 'needs') END,
                      (k, x) -> x IS NOT NULL) AS evidence
    FROM verdict AS v LEFT JOIN gap AS g ON g.code = v.code AND g.snapshot_id = v.snapshot_id
    WHERE NOT coalesce(g.whole, false)
    UNION ALL
    SELECT snapshot_id, code, 'cluster', status, NULL, 'measured',
           map_filter(map('who', 'any broker', 'target', 'any broker', 'reason', reason, 'error', error, 'needs', needs),
                      (k, x) -> x IS NOT NULL)
    FROM gap WHERE whole
"""
"""What checks said, after rule 1: a check whose part of ZooKeeper was not read says so once, of the cluster; where only single
znodes of it could not be read, nothing passes. Null evidence is left out."""


def answer(
    spark: SparkSession,
    store_root: str,
    run_id: str,
    checks: Mapping[str, Check] | None = None,
    *,
    rows: int | None = None,
) -> None:
    """Judge every pair of a request and write the answer below `runs/<run_id>/`, replacing an earlier try's.

    Args:
        spark: session to run on; temporary views of these names are replaced.
        store_root: the store's local path or URL.
        run_id: whose `request.json` to read.
        checks: defaults to the whole catalogue.
        rows: how many there are in the request's snapshots, roughly; None: as their manifests say; many where one is missing.

    Raises:
        EngineError: the request or a snapshot is not there, or a check's SELECT does not run; names it.
    """
    request = _request(spark, store_root, run_id)
    sql_checks = [check for check in (catalogue() if checks is None else checks).values() if check.kind == "sql"]
    known = _rows(spark, store_root, request) if rows is None else rows
    try:
        with _set(spark, FOR_FEW_ROWS if known is not None and known <= FEW_ROWS else {}):
            _read(spark, store_root, request, known)
            _write(spark, sql_checks, f"{url(store_root)}/{run_path(run_id, '')}")
    finally:
        # Spark takes a kept table for the same one as long as its path is, whatever has been written there since.
        spark.catalog.clearCache()


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


def _rows(spark: SparkSession, store_root: str, request: Request) -> int | None:
    paths = [f"{url(store_root)}/snapshots/{one}/manifest.json" for one in sources(request)]
    try:
        manifests = [json.loads(row[0]) for row in spark.read.text(paths, wholetext=True).collect()]
    except _SPARK_ERRORS:
        return None
    return sum(int(file["rows"]) for manifest in manifests for file in manifest["tables"].values())


def judge(spark: SparkSession, checks: Sequence[Check]) -> DataFrame:
    """Return what SQL checks say over the registered views, as one query with the columns of `RESULT`.

    Raises:
        EngineError: a check's SELECT is wrong; names it.
    """
    try:
        return spark.sql(statement(checks))
    except _SPARK_ERRORS:
        for check in checks:
            _alone(spark, check)
        raise


def statement(checks: Sequence[Check]) -> str:
    """Return the one query of all checks."""
    needed = sorted({(check.code, _PART[table]) for check in checks for table in check.needs if table in _PART})
    rows = ", ".join(f"('{code}', '{part}')" for code, part in needed) or "('none', 'none')"
    return _CONCLUDED.format(needed=rows, verdicts="\nUNION ALL\n".join(_select(check) for check in checks))


def _select(check: Check) -> str:
    own = ", ".join(f"CAST({column.name} AS {column.sql_type}) AS {column.name}" for column in RESULT)
    return f"SELECT {own} FROM ({check.function()})"  # noqa: S608 -- a check's own text


def _alone(spark: SparkSession, check: Check) -> None:
    """Raise for a check that breaks by itself."""
    try:
        strangers = spark.sql(_select(check)).where(f"code <> '{check.code}'").limit(1).collect()
    except _SPARK_ERRORS as error:
        msg = f"check {check.code} ({check.family}/{check.name}) does not run: {_root_of(error)}"
        raise EngineError(msg) from error
    if strangers:
        msg = f"check {check.code} ({check.family}/{check.name}) judges for {strangers[0].code}"
        raise EngineError(msg)


def _root_of(error: Exception) -> str:
    """Return the line that says what went wrong first; Spark wraps it several times."""
    lines = str(error).splitlines()
    causes = [line.removeprefix("Caused by: ") for line in lines if line.startswith("Caused by: ")]
    return (causes or lines or [type(error).__name__])[-1 if causes else 0]


def _request(spark: SparkSession, store_root: str, run_id: str) -> Request:
    path = f"{url(store_root)}/{run_path(run_id, 'request.json')}"
    try:
        text = spark.read.text(path, wholetext=True).first()
    except _SPARK_ERRORS as error:
        msg = f"{path}: cannot be read: {_root_of(error)}"
        raise EngineError(msg) from error
    if text is None:
        msg = f"{path}: is empty"
        raise EngineError(msg)
    return Request.from_json(text[0])


def _read(spark: SparkSession, store_root: str, request: Request, rows: int | None) -> None:
    """Register the views; raise for a snapshot without rows: a wrong id would else pass for a cluster without findings."""
    try:
        register(spark, stored_tables(spark, store_root, request), request.pairs, request.row_judgements, rows=rows)
    except _SPARK_ERRORS as error:
        msg = f"{store_root}: the snapshots of run {request.run_id} cannot be read: {_root_of(error)}"
        raise EngineError(msg) from error
    there = {row.snapshot_id for row in spark.sql("SELECT DISTINCT snapshot_id FROM sample").collect()}
    there &= {row.snapshot_id for row in spark.sql("SELECT DISTINCT snapshot_id FROM snapshot_info").collect()}
    missing = set(sources(request)) - there
    if missing:
        msg = f"{store_root}/snapshots/{min(missing)}: no tables that Spark could read"
        raise EngineError(msg)


def _write(spark: SparkSession, checks: Sequence[Check], folder: str) -> None:
    try:
        judge(spark, checks).write.mode("overwrite").json(f"{folder}judgements")
    except _SPARK_ERRORS:
        for check in checks:  # some errors, a cast for example, show only when rows are there
            _alone(spark, check)
        raise
    changes = spark.sql("SELECT snapshot_id, kind, resource, before, after FROM change")
    changes.write.mode("overwrite").option("ignoreNullFields", value=False).json(f"{folder}changes")
    disagreements = spark.table("disagreement").drop("name", "weight")
    disagreements.write.mode("overwrite").parquet(f"{folder}disagreements")
