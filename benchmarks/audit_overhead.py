"""Compare audits of a three-broker cluster with a bare `spark-submit`: `python benchmarks/audit_overhead.py [--rounds 3]`.

The cluster is the one of the soak test: brokers and a ZooKeeper in Python on loopback addresses. Requires Java
17 and no other service. Each round runs, one after the other:

- bare: `spark-submit` of a job with one trivial SQL statement
- embedded: `kafka-audit run`, which needs no Java
- spark: `kafka-audit run --engine spark`
- compare: the task `compare` of the DAG on a local master

Prints the wall time and the CPU time of each run, with all its processes, and the ratios of the medians to bare. Other work on
the machine changes the times, those of the CPU less; compare the ratios only. The first round is not counted: Python compiles its
modules in it, and the audits get a previous snapshot.
"""

import argparse
import contextlib
import ctypes
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import pyspark

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from hostile_parties.cluster import HostileCluster  # noqa: E402 -- of the tests
from kafka_audit.store import Store  # noqa: E402

BARE = """
from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
assert spark.sql("SELECT count(*) FROM range(1000)").first()[0] == 1000
spark.stop()
"""
COMPARE = """
import resource, sys, time
import airflow_environment
airflow_environment.apply()
from kafka_audit.airflow.operators.compare_operator import CompareSnapshots
task = CompareSnapshots(task_id="compare", snapshot_ids=[sys.argv[1]], application=sys.argv[2])
def cpu():
    return sum(sum(resource.getrusage(whose)[:2]) for whose in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
began = time.monotonic(), cpu()
task.execute({"run_id": "benchmark"})
print("SECONDS", time.monotonic() - began[0], cpu() - began[1])
"""
MOST = {"embedded": 0.5, "spark": 2.0, "compare": 1.6}
_TAKE_ORPHANS = 36  # PR_SET_CHILD_SUBREAPER of <sys/prctl.h>


@dataclass(frozen=True)
class Cost:
    """Seconds of a run, and of the CPU in all its processes."""

    wall: float
    cpu: float

    def __str__(self) -> str:
        """Return both, rounded."""
        return f"{self.wall:.1f} s (CPU {self.cpu:.1f} s)"


class Machine:
    """Commands in an environment of their own below a folder."""

    def __init__(self, work: Path) -> None:
        """Take an empty folder."""
        self._work = work
        ctypes.CDLL(None).prctl(_TAKE_ORPHANS, 1)  # a JVM that nobody waits for counts, too
        kept = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
        self._environ = kept | {
            "PYSPARK_PYTHON": sys.executable,
            "PYSPARK_DRIVER_PYTHON": sys.executable,
            "PYTHONPATH": os.pathsep.join([str(ROOT / "plugins"), str(ROOT / "tests")]),
            "PYTHONPYCACHEPREFIX": str(work / "compiled"),  # of all packages alike, wherever they are installed from
        }

    def run(self, *command: str | Path, **variables: str) -> tuple[Cost, str]:
        """Run a command; return its cost and stdout."""
        environ = self._environ | variables
        began, cpu = time.monotonic(), _cpu_of_children()
        done = subprocess.run([*map(str, command)], env=environ, cwd=self._work, capture_output=True, text=True, check=False)
        seconds = time.monotonic() - began
        with contextlib.suppress(ChildProcessError):
            while True:
                os.wait()
        if done.returncode not in {0, 3}:  # 3: the audit reports failures, such as loopback addresses
            sys.exit(f"{command} exited with {done.returncode}:\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}")
        return Cost(seconds, _cpu_of_children() - cpu), done.stdout


def main() -> int:
    """Measure; return 1 if a ratio exceeds `MOST`."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory(prefix="kafka-audit-benchmark-") as folder, HostileCluster() as cluster:
        work = Path(folder)
        for number in range(3):
            cluster.create_topic(f"topic-{number}", {partition: [partition % 3, (partition + 1) % 3] for partition in range(12)})
        entry = {key: value for key, value in cluster.entry().items() if key != "limits"}
        (work / "clusters.yaml").write_text(json.dumps({"clusters": {"small": entry}}))
        (work / "bare.py").write_text(BARE)
        machine = Machine(work)
        taken: dict[str, list[Cost]] = {}
        for number in range(rounds + 1):
            costs = _round(machine, work)
            print(
                "not counted" if not number else f"round {number}",
                *(f"{key} {one}" for key, one in costs.items()),
                flush=True,
            )
            for key, one in costs.items() if number else ():
                taken.setdefault(key, []).append(one)
    return _verdict(taken)


def _cpu_of_children() -> float:
    return sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])


def _round(machine: Machine, work: Path) -> dict[str, Cost]:
    spark_submit = Path(pyspark.__file__).with_name("bin") / "spark-submit"
    run: list[str | Path] = [
        sys.executable,
        "-m",
        "kafka_audit.cli",
        "run",
        "small",
        "--config",
        work / "clusters.yaml",
        "--quiet",
        "--out",
    ]
    costs = {
        "bare": machine.run(spark_submit, "--master", "local[*]", "--conf", "spark.ui.enabled=false", work / "bare.py")[0],
        "embedded": machine.run(*run, work / "embedded")[0],
        "spark": machine.run(*run, work / "spark", "--engine", "spark")[0],
    }
    store = Store(work / "spark")
    newest = next(iter(store.manifests())).snapshot_id
    compare: list[str | Path] = [sys.executable, "-c", COMPARE, newest, ROOT / "spark_jobs" / "diff_snapshots.py"]
    variables = {"KAFKA_AUDIT_STORE": store.root, "KAFKA_AUDIT_CLUSTERS": str(work / "clusters.yaml")}
    _, printed = machine.run(*compare, **variables)
    (line,) = (line for line in printed.splitlines() if line.startswith("SECONDS "))
    return costs | {"compare": Cost(*map(float, line.split()[1:]))}


def _verdict(taken: dict[str, list[Cost]]) -> int:
    medians = {
        key: Cost(statistics.median(c.wall for c in costs), statistics.median(c.cpu for c in costs))
        for key, costs in taken.items()
    }
    bare, failed = medians["bare"], False
    for key, cost in medians.items():
        most = f", at most {MOST[key]}" if key in MOST else ""
        print(f"median {key}: {cost}, {cost.wall / bare.wall:.2f} of bare{most} (CPU {cost.cpu / bare.cpu:.2f})")
        failed = failed or cost.wall / bare.wall > MOST.get(key, cost.wall / bare.wall)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
