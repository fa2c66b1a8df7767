"""The engine of a command: what answers the request of a run. DuckDB does so in this process, Spark in processes of its own."""

import importlib.util
import shlex
import sys
from collections.abc import Callable

from kafka_audit.model.errors import UsageError
from kafka_audit.store import Store

DUCKDB, SPARK = "duckdb", "spark"

Answer = Callable[[Store, str], None]
"""Answers the request of a run; raises EngineError where the engine failed."""


def engine_of(name: str) -> Answer:
    """Return the engine of that name.

    Raises:
        UsageError: Spark is not installed.
        EngineError: there is no Java for Spark.
    """
    if name == DUCKDB:
        from kafka_audit.job import embedded_job  # noqa: PLC0415 -- each engine is imported where it is used alone

        return embedded_job.answer
    require_package("pyspark", "spark")
    from kafka_audit.spark import submission  # noqa: PLC0415 -- see above

    submission.require_java()
    return lambda store, run_id: submission.submit_and_wait(store.root, run_id)


def require_package(package: str, extra: str) -> None:
    """Raise `UsageError` in one line where a package of an extra is not installed."""
    if importlib.util.find_spec(package) is None:
        msg = f"{package} is not installed: {shlex.quote(sys.executable)} -m pip install 'kafka-audit[{extra}]'"
        raise UsageError(msg)
