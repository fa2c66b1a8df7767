"""What an audit costs beside the Spark start that it needs: `python benchmarks/audit_overhead.py [--repeats 3]`.

In the test bed (Linux, root or user namespaces, Java), against a healthy three-broker cluster, one after the other:
a bare `spark-submit` of a trivial job, and `kafka-audit run`. Prints each time, the medians and their ratio.
"""

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pyspark

from kafka_audit.testbed import Bed

JOB = """
from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
assert spark.range(1000).count() == 1000
spark.stop()
"""
MAX_RATIO = 1.5


def main() -> int:
    """Measure; return 1 when an audit costs more than MAX_RATIO bare submissions."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=3)
    repeats = parser.parse_args().repeats
    with tempfile.TemporaryDirectory(prefix="kafka-audit-benchmark-") as folder:
        work = Path(folder)
        (work / "job.py").write_text(JOB)
        with Bed(work / "bed") as bed:
            cluster = bed.cluster("3.9.1")
            cluster.create_topic("orders", {p: [p % 3, (p + 1) % 3, (p + 2) % 3] for p in range(12)})
            cluster.await_settled()
            (work / "clusters.yaml").write_text(cluster.clusters_yaml("bed"))
            bare, audits = _measure(bed, work, repeats)
    ratio = statistics.median(audits) / statistics.median(bare)
    print(f"median: bare spark-submit {statistics.median(bare):.1f} s, kafka-audit run {statistics.median(audits):.1f} s")
    print(f"ratio {ratio:.2f} (aim: below {MAX_RATIO})")
    return 0 if ratio < MAX_RATIO else 1


def _measure(bed: Bed, work: Path, repeats: int) -> tuple[list[float], list[float]]:
    spark_submit = str(Path(pyspark.__file__).with_name("bin") / "spark-submit")
    submission = [spark_submit, "--master", "local[*]", "--conf", "spark.ui.enabled=false", str(work / "job.py")]
    audit = [sys.executable, "-m", "kafka_audit.cli", "run", "bed"]
    audit += ["--config", str(work / "clusters.yaml"), "--out", str(work / "store")]
    environ = os.environ | {"PYSPARK_PYTHON": sys.executable, "PYSPARK_DRIVER_PYTHON": sys.executable}

    def run(command: list[str]) -> None:
        done = bed.worker.run(command, env=environ)
        if done.returncode:
            sys.exit(f"{command[0]} ended with {done.returncode}:\n{done.stdout}\n{done.stderr}")

    # Interleaved, so that whatever else the machine does falls on both.
    times: list[tuple[float, float]] = []
    for number in range(1, repeats + 1):
        times.append((_seconds(lambda: run(submission)), _seconds(lambda: run(audit))))
        print(f"{number}: bare spark-submit {times[-1][0]:.1f} s, kafka-audit run {times[-1][1]:.1f} s", flush=True)
    return [bare for bare, _ in times], [audit for _, audit in times]


def _seconds(action: Callable[[], None]) -> float:
    began = time.monotonic()
    action()
    return time.monotonic() - began


if __name__ == "__main__":
    sys.exit(main())
