"""How Spark is set on this machine, and for little data anywhere: constants without pyspark, for callers that start Spark."""

import importlib.resources
import tempfile
from collections.abc import Mapping
from types import MappingProxyType

UMASK = 0o027
"""Of programs that write into a store on this machine: no other user reads it."""

PRIVATE: Mapping[str, str] = MappingProxyType({"spark.hadoop.fs.permissions.umask-mode": f"{UMASK:03o}"})
"""Hadoop sets the modes of files, regardless of the umask of its process."""

LOCAL: Mapping[str, str] = MappingProxyType(
    {
        **PRIVATE,
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        # A driver that advertises the host's name fails where that name does not resolve, as in a container without DNS.
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.sql.shuffle.partitions": "2",  # Spark's own 200 are 200 tasks per join, each longer than its work
        "spark.default.parallelism": "2",
        # Joins here are between a few views of one cluster; below this Spark sends the small side instead of shuffling both.
        "spark.sql.autoBroadcastJoinThreshold": "32m",
        # Each of hundreds of sorts takes a page at once: Spark's own choice is dozens of MB, to be cleared and collected.
        "spark.buffer.pageSize": "1m",
        "spark.sql.ui.explainMode": "simple",
    }
)
"""Spark configuration where driver and executors are one process on this machine; has to be there when that starts."""

# A run is hundreds of short jobs: compiling them well costs twice what it saves (measured for 3 and for 100 brokers). Java's
# first limits for heap and metaspace are full collections while Spark's classes are still coming in.
JAVA = (
    "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m -XX:+UseSerialGC -XX:MetaspaceSize=256m -Xms512m"
    " -XX:MaxNewSize=200m -XX:MinHeapFreeRatio=10 -XX:MaxHeapFreeRatio=25"
    " -XX:-UsePerfData"  # a file in /tmp, which a JVM that is killed leaves
)
_LOG_SETTINGS = "log4j2.properties"

ONE_TASK_ROWS = 2_000_000
"""Up to this many rows in a request's snapshots, one task does everything, with `ONE_TASK`; above, Spark's defaults apply."""

FEW_ROWS = 300_000
"""Up to this many, `FOR_FEW_ROWS` make an answer cheaper."""

VERY_FEW_ROWS = 30_000
"""Up to this many, what is read or kept becomes part of the plans that read it: Spark then drops what joins with nothing."""

# What differs is small, and a shuffle costs a stage and its tasks, whatever it moves (measured with 940,000 rows: 42 s of CPU
# with shuffles, 31 s without).
ONE_TASK: Mapping[str, str] = MappingProxyType(
    {
        "spark.sql.adaptive.enabled": "false",
        "spark.sql.optimizer.disableHints": "true",
        "spark.sql.shuffle.partitions": "1",
        "spark.sql.leafNodeDefaultParallelism": "1",
        "spark.sql.files.minPartitionNum": "1",
        # Everything is in one partition, whatever Spark believes of sizes that it multiplies with each join.
        "spark.sql.maxSinglePartitionBytes": str(2**63 - 1),
        "spark.sql.defaultSizeInBytes": "1",
    }
)
"""SQL configuration of a session for as long as one task computes each relation."""

MANY_ROWS: Mapping[str, str] = MappingProxyType({"spark.sql.sources.fileCompressionFactor": "50"})
"""SQL configuration of a session while Spark decides for itself. It estimates tables by their files, and sends to each join what
looks small: a million partitions are 5 MB of Parquet, and 300 MB as rows, for which a driver of 2 GB has no place."""

LISTED_HERE: Mapping[str, str] = MappingProxyType({"spark.sql.sources.parallelPartitionDiscovery.threshold": "100000"})
"""SQL configuration for a store that is a folder: to find more than 32 files, Spark would start a task for each of them."""

# Dozens of queries over a few rows cost what Spark does around the rows (measured: two thirds of a small cluster's answer): Java
# that is generated and compiled for each, a job for each table that is sent to a join.
FOR_FEW_ROWS: Mapping[str, str] = MappingProxyType(
    {
        **ONE_TASK,
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
        "spark.sql.autoBroadcastJoinThreshold": "-1",
    }
)
"""SQL configuration of a session for as long as it answers a request of few rows."""


def driver_java_options(scratch: str | None = None) -> str:
    """Return `spark.driver.extraJavaOptions` for a driver on this machine, as long as this package is files on it.

    What the driver keeps on disk meanwhile goes to `scratch`; without one to the temporary folder of this process.
    """
    place = tempfile.gettempdir() if scratch is None else scratch
    settings = importlib.resources.files(__package__) / _LOG_SETTINGS
    with importlib.resources.as_file(settings) as file:
        return f'{JAVA} "-Djava.io.tmpdir={place}" -Dlog4j2.configurationFile={file.as_uri()}'
