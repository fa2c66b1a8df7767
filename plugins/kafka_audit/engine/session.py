"""A Spark session: the one that spark-submit configured, or a quiet one on this machine."""

from pyspark.sql import SparkSession

from kafka_audit.engine.local_settings import LOCAL, java_options

_ALWAYS = {
    "spark.sql.session.timeZone": "UTC",
    # Dozens of small SELECTs over the same views: the text of such a plan is megabytes, and nobody reads it.
    "spark.sql.maxPlanStringLength": "1000",
    "spark.sql.ansi.enabled": "true",
}


def start(master: str | None = None) -> SparkSession:
    """Return a session.

    Args:
        master: `local[*]` and the like for a session of our own on this machine; None keeps what spark-submit configured.
    """
    builder = SparkSession.builder.appName("kafka-audit")
    if master is not None:
        for key, value in LOCAL.items():
            builder = builder.config(key, value)
        builder = builder.config("spark.driver.memory", "2g")
        builder = builder.config("spark.driver.extraJavaOptions", java_options())
        builder = builder.master(master)
    spark = builder.getOrCreate()
    for key, value in _ALWAYS.items():
        spark.conf.set(key, value)
    spark.sparkContext.setLogLevel("ERROR")
    return spark
