"""What producers and brokers feel of audits: `python benchmarks/producers.py [--rounds 10]`.

A real cluster of three brokers in the test bed (Linux network namespaces, Java 17). In each round kafka-producer-perf-test sends
200 records a second for a minute with acks=all, once alone and once while `kafka-audit watch` runs and one `kafka-audit run` is
made; which comes first alternates. Audit and watch get the CPU that brokers, controller and producer leave: on other hosts they
would share none. The producer's first ten seconds are not counted: it is a new process each time. Needs root.

Prints for each round the 99th percentile and the mean of the produce latency, as the tool measures them, and the CPU time of all
brokers by their processes' own clocks; then the medians, and the spread of the rounds that ran alone, which is the noise.
"""

import argparse
import os
import re
import shlex
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from cpu_group import IDLE, CpuGroup, cpu_group  # noqa: E402 -- beside this file

from scenarios.audits import Audits  # noqa: E402 -- of the tests
from testbed import Bed  # noqa: E402 -- found by the path above
from testbed.brokers import BaseCluster  # noqa: E402 -- see above
from testbed.corpus.tools import Tools  # noqa: E402 -- see above

RATE, SECONDS, WARM_S, RECORD_BYTES = 200, 60, 10, 200
"""With 1,000 records a second, brokers and producer take one core of two, and latencies show how they wait for each other."""

INTO_S = 12  # an audit begins when the producer has warmed up
SAID = re.compile(r"([\d.]+) ms avg latency, .* (\d+) ms 99th")
TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, kw_only=True)
class Round:
    """What one minute of producing cost: latencies in milliseconds, seconds of CPU of all brokers."""

    p99_ms: float
    mean_ms: float
    cpu_s: float


def broker_cpu_s(cluster: BaseCluster) -> float:
    """Return the CPU time of all brokers since they started, in seconds."""
    total = 0
    for broker in cluster.brokers.values():
        fields = Path(f"/proc/{broker.server.pid}/stat").read_text().rpartition(")")[2].split()
        total += int(fields[11]) + int(fields[12])  # utime, stime: proc(5)
    return total / TICKS


def produced(cluster: BaseCluster, tools: Tools) -> Round:
    """Produce for a minute and return what it cost."""
    before = broker_cpu_s(cluster)
    said = tools.demand(
        f"kafka-producer-perf-test.sh --topic perf --num-records {RATE * SECONDS} --record-size {RECORD_BYTES}"
        f" --warmup-records {RATE * WARM_S} --throughput {RATE}"
        f" --producer-props bootstrap.servers={tools.bootstrap} acks=all linger.ms=0",
        3 * SECONDS,
    )
    last = SAID.findall(said)[-1]  # of the steady state
    return Round(mean_ms=float(last[0]), p99_ms=float(last[1]), cpu_s=broker_cpu_s(cluster) - before)


@contextmanager
def audited(bed: Bed, audits: Audits, folder: Path, group: CpuGroup) -> Iterator[None]:
    """Watch the cluster as long as the block runs, and audit it once."""

    def start(command: str, *more: str) -> subprocess.Popen[str]:
        line = [sys.executable, "-m", "kafka_audit.cli", *shlex.split(command), *more]
        with (folder / "audits.log").open("a") as log:
            process = bed.worker.popen(line, cwd=folder, env=audits.environment(), stdout=log, stderr=log)
        group.add(process.pid)
        return process

    watch = start("watch far --format json", *audits.config("far"))
    started = time.monotonic()
    time.sleep(INTO_S)
    audit = start("run far", *audits.config("far"), "--out", str(folder / "store"))
    try:
        yield
    finally:
        code = audit.wait(SECONDS * 3)
        watch.terminate()
        watch.wait(SECONDS)
        print(f"  audit: exit code {code}; watch and audit {time.monotonic() - started:.0f} s", flush=True)


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=10)
    rounds = parser.parse_args().rounds
    alone: list[Round] = []
    beside: list[Round] = []
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="kafka-audit-", ignore_cleanup_errors=True)))
        group = stack.enter_context(cpu_group("kafka-audit-benchmark", IDLE))
        bed = stack.enter_context(Bed(folder / "bed"))
        cluster = bed.kraft("4.3.0", controllers=1)
        cluster.create_topic("perf", {0: [0, 1, 2], 1: [1, 2, 0], 2: [2, 0, 1]})
        cluster.await_settled()
        tools, audits = Tools(bed, cluster), Audits(bed, cluster, folder / "audits")
        produced(cluster, tools)  # not counted: classes are loaded, files grow for the first time
        print("| round | p99 alone | p99 beside audits | mean alone | mean beside | brokers' CPU alone | beside |")
        print("|---|---|---|---|---|---|---|")
        for number in range(rounds):
            for with_audits in (number % 2 == 0, number % 2 == 1):
                if with_audits:
                    with audited(bed, audits, folder, group):
                        beside.append(produced(cluster, tools))
                else:
                    alone.append(produced(cluster, tools))
            one, other = alone[-1], beside[-1]
            print(
                f"| {number + 1} | {one.p99_ms:.0f} ms | {other.p99_ms:.0f} ms | {one.mean_ms:.2f} ms | {other.mean_ms:.2f} ms"
                f" | {one.cpu_s:.2f} s | {other.cpu_s:.2f} s |",
                flush=True,
            )
    compare("p99", [one.p99_ms for one in alone], [one.p99_ms for one in beside], "ms")
    compare("mean", [one.mean_ms for one in alone], [one.mean_ms for one in beside], "ms")
    compare("brokers' CPU", [one.cpu_s for one in alone], [one.cpu_s for one in beside], "s")
    more = statistics.median(b.cpu_s - a.cpu_s for a, b in zip(alone, beside, strict=True))
    print(f"CPU of each broker for an audit a minute and the watch: {more / len(cluster.brokers) / SECONDS:.2%} of a core")
    return 0


def compare(name: str, alone: list[float], beside: list[float], unit: str) -> None:
    """Print medians, their difference, and how far the rounds alone are apart."""
    median, other = statistics.median(alone), statistics.median(beside)
    print(
        f"{name}: median alone {median:.2f} {unit}, beside audits {other:.2f} {unit} ({other / median - 1:+.1%});"
        f" rounds alone from {min(alone):.2f} to {max(alone):.2f} {unit}"
    )


if __name__ == "__main__":
    sys.exit(main())
