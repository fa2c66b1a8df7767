"""The engine of a command: what answers the request of a run. DuckDB does so in this process, Spark beside it."""

import contextlib
import importlib.util
import shlex
import sys
from collections.abc import Callable, Iterator

from kafka_audit.model.errors import UsageError
from kafka_audit.store import Store

DUCKDB, SPARK = "duckdb", "spark"

Answer = Callable[[Store, str], None]
"""Answers the request of a run; raises EngineError where the engine failed."""


@contextlib.contextmanager
def started(engine: str) -> Iterator[Answer]:
    """Yield the engine of that name. Spark starts now, while the cluster is still being asked, and ends with the block.

    Raises:
        UsageError: Spark is not installed.
        EngineError: there is no Java for Spark.
    """
    if engine == DUCKDB:
        from kafka_audit.job import embedded_job  # noqa: PLC0415 -- each engine is imported where it is used alone

        yield embedded_job.answer
        return
    require_package("pyspark", "spark")
    from kafka_audit.job.spark_behind import SparkBehind, require_java  # noqa: PLC0415 -- see above

    require_java()
    with SparkBehind() as spark:
        yield lambda store, run_id: spark.answer(store.root, run_id)


def require_package(package: str, extra: str) -> None:
    """Raise `UsageError` in one line where a package of an extra is not installed."""
    if importlib.util.find_spec(package) is None:
        msg = f"{package} is not installed: {shlex.quote(sys.executable)} -m pip install 'kafka-audit[{extra}]'"
        raise UsageError(msg)
