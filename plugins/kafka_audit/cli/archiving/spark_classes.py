"""Start Spark, compare two small snapshots, and let the JVM write the loaded classes to an archive when it exits.

`python -m kafka_audit.cli.archiving.spark_classes FILE`, started by `cli.archiving`. The process exits when stdin ends.
"""

import os
import sys
import tempfile
import threading
from pathlib import Path

from kafka_audit.cli.archiving import small_run
from kafka_audit.job import spark_job
from kafka_audit.spark import class_archive, session


def main(argv: list[str]) -> int:
    """Write the archive; it is complete when this function returns 0."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    spark = session.start("local[2]", class_archive.writing_options(Path(argv[0])))
    with tempfile.TemporaryDirectory() as folder:
        small_run.write_small_run(Path(folder))
        spark_job.answer(spark, folder, small_run.RUN)
        spark.read.parquet(f"file://{folder}/snapshots/*/view_partition.parquet").collect()  # as it reads larger clusters
    return session.end(spark)


def _end_with_parent() -> None:
    os.read(sys.stdin.fileno(), 1)
    os._exit(1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
