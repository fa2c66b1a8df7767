"""Judging large clusters by each engine: `python benchmarks/large_clusters.py [--sizes 100x20000 100x200000 100x1000000]`.

The views of `views.py` are stored twice, as two audits of a cluster store them; between them the leaders of one topic in two
hundred moved. Each way then answers the same request, in processes of its own, as an audit does behind its snapshot:

- DuckDB: the embedded engine, which `kafka-audit run` takes
- Spark: `--engine spark`, on this machine
- two workers: the DAG's job, `spark-submit` to a standalone cluster of a master and two workers on this machine, of a core each

Checks that all judge the same, byte for byte. Prints the wall time, the CPU time and the most memory of all processes together
(their proportional share of what they have in common; master and workers do not count, executors do), what a snapshot takes on
the disk, and the time to read and compare the views. It needs Java 17.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil
import pyspark
from large_stores import ROOT, write
from views import PER_TOPIC, answers

from kafka_audit import audit
from kafka_audit.store import Store
from testbed.spark_cluster import SparkCluster

BEFORE, AFTER = "20260914T170000Z-prod-0001", "20260914T180000Z-prod-0001"
MOVED = 200
EMBEDDED = """
import sys
from kafka_audit.job import embedded_job
from kafka_audit.store import Store
embedded_job.answer(Store(sys.argv[1]), sys.argv[2])
"""
IN_SPARK = """
import sys
from kafka_audit.job import spark_job
from kafka_audit.spark import session
spark = session.start("local[*]")
spark_job.answer(spark, sys.argv[1], sys.argv[2])
session.end(spark)
"""
JOB = ROOT / "spark_jobs" / "diff_snapshots.py"
EXECUTOR = "org.apache.spark.executor.CoarseGrainedExecutorBackend"


@dataclass
class Cost:
    """What a way took: seconds, seconds of the CPU, bytes."""

    wall: float = 0
    cpu: float = 0
    memory: int = 0

    def __str__(self) -> str:
        """Return the cells of a table."""
        return f"{self.wall:.1f} s | {self.cpu:.1f} s | {self.memory / 2**20:,.0f} MB"


class Watched:
    """The cost of a process with its children, and of Spark's executors, looked at ten times a second."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        """Begin to look."""
        self.cost = Cost()
        self._process = psutil.Process(process.pid)
        self._cpu: dict[int, float] = {}
        self._ended = threading.Event()
        self._began = time.monotonic()
        self._thread = threading.Thread(target=self._look)
        self._thread.start()

    def end(self) -> Cost:
        """Return what it took."""
        self._ended.set()
        self._thread.join()
        self.cost.wall, self.cost.cpu = time.monotonic() - self._began, sum(self._cpu.values())
        return self.cost

    def _look(self) -> None:
        while not self._ended.wait(0.1):
            memory = 0
            for one in self._processes():
                try:
                    times = one.cpu_times()
                    self._cpu[one.pid] = times.user + times.system
                    memory += one.memory_full_info().pss
                except psutil.Error:  # it has just ended
                    continue
            self.cost.memory = max(self.cost.memory, memory)

    def _processes(self) -> list[psutil.Process]:
        try:
            own = [self._process, *self._process.children(recursive=True)]
        except psutil.Error:
            return []
        return own + [one for one in psutil.process_iter(["cmdline"]) if EXECUTOR in (one.info["cmdline"] or ())]


def judged(store: Store, way: str, command: Sequence[str | Path]) -> tuple[Cost, str]:
    """Let a way answer a request; return its cost and its answer."""
    run = f"{way.replace(' ', '-')}-{time.time_ns()}"
    audit.prepare_request(store, [AFTER], {AFTER: BEFORE}, run)
    kept = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    environ = kept | {"PYTHONPATH": str(ROOT / "plugins"), "PYSPARK_PYTHON": sys.executable}
    whole = [run if part == "RUN" else str(part) for part in command]
    with subprocess.Popen(whole, env=environ, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        watched = Watched(process)
        said = process.stdout.read() if process.stdout else ""
        process.wait()
        cost = watched.end()
    if process.returncode:
        sys.exit(f"{way} exited with {process.returncode}:\n{said[-3000:]}")
    return cost, store.read_judged(run, AFTER).to_json()


def main() -> int:
    """Measure and print; return 1 where two ways do not judge the same."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", nargs="+", default=["100x20000", "100x200000", "100x1000000"], metavar="BROKERSxPARTITIONS")
    submit = Path(pyspark.__file__).with_name("bin") / "spark-submit"
    different, faster = [], []
    print(
        "| brokers | partitions | a snapshot | read and compared | way | wall | CPU | memory |\n|---|---|---|---|---|---|---|---|"
    )
    for brokers, partitions in (tuple(map(int, size.split("x"))) for size in parser.parse_args().sizes):
        with tempfile.TemporaryDirectory(prefix="kafka-audit-benchmark-") as name:
            store = Store(Path(name) / "store")
            write(store, BEFORE, answers(brokers, partitions))
            began = time.process_time()
            write(store, AFTER, answers(brokers, partitions, partitions // PER_TOPIC // MOVED))
            taken = time.process_time() - began
            size = sum(path.stat().st_size for path in Path(store.root, "snapshots", AFTER).rglob("*")) / 1e6
            with SparkCluster(Path(name) / "spark") as workers:
                job = [
                    submit,
                    "--master",
                    workers.master,
                    "--conf",
                    "spark.ui.enabled=false",
                    ROOT / "spark_jobs" / "diff_snapshots.py",
                ]
                ways = {
                    "DuckDB": [sys.executable, "-c", EMBEDDED, store.root, "RUN"],
                    "Spark": [sys.executable, "-c", IN_SPARK, store.root, "RUN"],
                    "two workers": [*job, "--store", store.root, "--run", "RUN"],
                }
                found = {way: judged(store, way, command) for way, command in ways.items()}
            for way, (cost, _) in found.items():
                print(f"| {brokers} | {partitions:,} | {size:.1f} MB | {taken:.1f} s | {way} | {cost} |", flush=True)
        if len({answer for _, answer in found.values()}) > 1:
            different.append(f"{brokers}x{partitions}")
        if found["two workers"][0].wall < found["DuckDB"][0].wall:
            faster.append(f"{partitions:,}")
    same = f"not judged the same: {', '.join(different)}" if different else "all ways judge the same, byte for byte"
    fast = f"at {', '.join(faster)} partitions" if faster else "at none of these sizes"
    print(f"\n{same}\ntwo workers are faster than DuckDB {fast}")
    return int(bool(different))


if __name__ == "__main__":
    sys.exit(main())
