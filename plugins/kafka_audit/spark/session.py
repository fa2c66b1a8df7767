"""A Spark session: the one that spark-submit configured, or a quiet one on this machine."""

import os
import sys
from typing import Any

from py4j import protocol
from pyspark import SparkContext
from pyspark.sql import SparkSession

from kafka_audit.spark.local_settings import LOCAL, driver_java_options
from kafka_audit.spark.object_stores import s3a_settings

_ALWAYS = {
    "spark.sql.session.timeZone": "UTC",
    # Dozens of small SELECTs over the same views: the text of such a plan is megabytes and is not read.
    "spark.sql.maxPlanStringLength": "1000",
    "spark.sql.ansi.enabled": "true",
    # It would compute each list that is exploded twice more, to drop empty ones (a tenth of an audit of 200,000 partitions).
    "spark.sql.optimizer.excludedRules": "org.apache.spark.sql.catalyst.optimizer.InferFiltersFromGenerate",
    # The first lower() would make a table of the titles of all characters, in a second; Java's own lower() needs none.
    "spark.sql.icu.caseMappings.enabled": "false",
}


def start(master: str | None = None, more_java_options: str = "") -> SparkSession:
    """Return a session.

    Args:
        master: `local[*]` and the like for a separate session on this machine; None keeps what spark-submit configured.
        more_java_options: further JVM options of such a session.
    """
    _take_nothing_of_numpy()
    builder = SparkSession.builder.appName("kafka-audit")
    if master is not None:
        for key, value in {**LOCAL, **s3a_settings(os.environ)}.items():
            builder = builder.config(key, value)
        builder = builder.config("spark.driver.memory", "2g")
        builder = builder.config("spark.driver.extraJavaOptions", f"{driver_java_options()} {more_java_options}".rstrip())
        builder = builder.master(master)
    spark = builder.getOrCreate()
    for key, value in _ALWAYS.items():
        spark.conf.set(key, value)
    spark.sparkContext.setLogLevel("ERROR")
    return spark


def end(spark: SparkSession) -> int:
    """Stop a session that `start` started on this machine, wait until its JVM has exited, and return the exit code."""
    gateway: Any = SparkContext._gateway  # noqa: SLF001 -- pyspark has no public interface to its JVM's process
    spark.stop()
    gateway.proc.stdin.close()
    code: int = gateway.proc.wait()
    return code


def without_pandas() -> None:
    """Let this process, a Spark job, have no pandas: pyarrow and pyspark import it if they can, which takes about 1 s."""
    sys.meta_path.insert(0, _WithoutPandas())


class _WithoutPandas:
    @staticmethod
    def find_spec(name: str, *_: object) -> None:
        """Raise ModuleNotFoundError for pandas."""
        if name == "pandas":
            raise ModuleNotFoundError(name=name)


def _take_nothing_of_numpy() -> None:
    """Unregister pyspark's NumPy converters: the first call into the JVM asks them, and they import pandas (about 1 s)."""
    protocol.INPUT_CONVERTER[:] = [entry for entry in protocol.INPUT_CONVERTER if not type(entry).__name__.startswith("Numpy")]
