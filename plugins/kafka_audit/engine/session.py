"""A Spark session: the one that spark-submit configured, or a quiet one on this machine."""

import contextlib
import importlib.resources

from pyspark.sql import SparkSession

LOG_SETTINGS = "log4j2.properties"

_LOCAL = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    # A driver that advertises the host's name fails where that name does not resolve.
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.sql.shuffle.partitions": "2",
    "spark.default.parallelism": "2",
    "spark.driver.memory": "2g",
    # Joins here are between a few views of one cluster; below this Spark sends the small side instead of shuffling both.
    "spark.sql.autoBroadcastJoinThreshold": "32m",
}

# A run is hundreds of short jobs: compiling them well costs twice what it saves (measured for 3 and for 100 brokers).
_JAVA = "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m -XX:+UseSerialGC"

_ALWAYS = {
    "spark.sql.session.timeZone": "UTC",
    # Dozens of small SELECTs over the same views: the text of such a plan is megabytes, and nobody reads it.
    "spark.sql.maxPlanStringLength": "10000",
    "spark.sql.ansi.enabled": "true",
}


def start(master: str | None = None) -> SparkSession:
    """Return a session.

    Args:
        master: `local[*]` and the like for a session of our own on this machine; None keeps what spark-submit configured.
    """
    builder = SparkSession.builder.appName("kafka-audit")
    if master is not None:
        for key, value in _LOCAL.items():
            builder = builder.config(key, value)
        builder = builder.master(master)
    with contextlib.ExitStack() as stack:
        if master is not None:
            settings = stack.enter_context(importlib.resources.as_file(_log_settings()))
            builder = builder.config("spark.driver.extraJavaOptions", f"{_JAVA} -Dlog4j2.configurationFile={settings.as_uri()}")
        spark = builder.getOrCreate()
    for key, value in _ALWAYS.items():
        spark.conf.set(key, value)
    spark.sparkContext.setLogLevel("ERROR")
    return spark


def _log_settings() -> importlib.resources.abc.Traversable:
    return importlib.resources.files(__package__) / LOG_SETTINGS
