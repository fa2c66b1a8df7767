"""What producers and brokers feel of audits: `python benchmarks/producers.py [--rounds 4]`.

A real cluster of three brokers in the test bed (Linux network namespaces, Java 17). In each round kafka-producer-perf-test sends
200 records a second for a minute with acks=all, once alone and once while `kafka-audit watch` runs and one `kafka-audit run` is
made; which comes first alternates. Audit and watch get the CPU that brokers, controller and producer leave: on other hosts they
would share none. The producer's first ten seconds are not counted: it is a new process each time. The audit begins after them.
Then the same without a producer, where nothing hides what audits cost the brokers. Needs root.

Prints for each round the 99th percentile and the mean of the produce latency, as the tool measures them, and the CPU time of all
brokers by their processes' own clocks; then medians, and how far the rounds that ran alone are apart: their standard deviation
is the noise. Exits with 1 if the 99th percentile beside audits is more by 1 % and by more than the noise, if audits cost a
broker 1 % of a core, or if one failed.
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
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from threading import Timer
from typing import TypeVar

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from cpu_group import IDLE, CpuGroup, cpu_group  # noqa: E402 -- beside this file

from scenarios.audits import Audits  # noqa: E402 -- of the tests
from testbed import Bed  # noqa: E402 -- found by the path above
from testbed.brokers import BaseCluster  # noqa: E402 -- see above
from testbed.corpus.tools import Tools  # noqa: E402 -- see above

RATE, SECONDS, WARM_S, RECORD_BYTES = 200, 60, 10, 200
"""With 1,000 records a second, brokers and producer take one core of two, and latencies show how they wait for each other."""

INTO_S = 15  # an audit begins when the producer has started and warmed up
IDLE_ROUNDS = 3
MOST = 0.01
SAID = re.compile(r"([\d.]+) ms avg latency, .* (\d+) ms 99th")
TICKS = os.sysconf("SC_CLK_TCK")
T = TypeVar("T")


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


class Auditor:
    """Watches and audits the cluster with the CPU that others leave."""

    def __init__(self, bed: Bed, audits: Audits, folder: Path, group: CpuGroup) -> None:
        """Take what is audited, and where the output goes."""
        self._bed = bed
        self._audits = audits
        self._folder = folder
        self._group = group
        self.codes: list[int] = []
        self.late = 0  # audits that went on when the minute was over

    @contextmanager
    def audited(self) -> Iterator[None]:
        """Watch the cluster as long as the block runs, and audit it once, from `INTO_S` on."""
        running: list[subprocess.Popen[str]] = []
        audit = Timer(INTO_S, lambda: running.append(self._start("run far", "--out", str(self._folder / "store"))))
        watch = self._start("watch far --format json")
        audit.start()
        try:
            yield
        finally:
            audit.join()
            self.late += running[0].poll() is None
            self.codes.append(running[0].wait(SECONDS * 3))
            self.codes += [] if watch.poll() is None else [watch.returncode or 1]  # it ended by itself
            watch.terminate()
            watch.wait(SECONDS)

    def _start(self, command: str, *more: str) -> subprocess.Popen[str]:
        line = [sys.executable, "-m", "kafka_audit.cli", *shlex.split(command), *self._audits.config("far"), *more]
        with (self._folder / "audits.log").open("a") as log:
            process = self._bed.worker.popen(line, cwd=self._folder, env=self._audits.environment(), stdout=log, stderr=log)
        self._group.add(process.pid)
        return process


def in_turn(rounds: int, measure: Callable[[], T], auditor: Auditor) -> Iterator[tuple[T, T]]:
    """Yield what was measured alone and beside audits, for each round; which comes first alternates."""
    for number in range(rounds):
        found: dict[bool, T] = {}
        for with_audits in (number % 2 == 0, number % 2 == 1):
            with auditor.audited() if with_audits else nullcontext():
                found[with_audits] = measure()
        yield found[False], found[True]


def idle_cpu_s(cluster: BaseCluster) -> float:
    """Return the CPU time that all brokers take in a minute without clients, in seconds."""
    before = broker_cpu_s(cluster)
    time.sleep(SECONDS)
    return broker_cpu_s(cluster) - before


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=4)
    rounds = parser.parse_args().rounds
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="kafka-audit-", ignore_cleanup_errors=True)))
        group = stack.enter_context(cpu_group("kafka-audit-benchmark", IDLE))
        bed = stack.enter_context(Bed(folder / "bed"))
        cluster = bed.kraft("4.3.0", controllers=1)
        cluster.create_topic("perf", {0: [0, 1, 2], 1: [1, 2, 0], 2: [2, 0, 1]})
        cluster.await_settled()
        tools, auditor = Tools(bed, cluster), Auditor(bed, Audits(bed, cluster, folder / "audits"), folder, group)
        with auditor.audited():  # not counted: classes are loaded, files grow for the first time
            produced(cluster, tools)
        print("| round | p99 alone | p99 beside audits | mean alone | mean beside | brokers' CPU alone | beside |")
        print("|---|---|---|---|---|---|---|")
        pairs: list[tuple[Round, Round]] = []
        for alone, beside in in_turn(rounds, lambda: produced(cluster, tools), auditor):
            pairs.append((alone, beside))
            print(
                f"| {len(pairs)} | {alone.p99_ms:.0f} ms | {beside.p99_ms:.0f} ms | {alone.mean_ms:.2f} ms"
                f" | {beside.mean_ms:.2f} ms | {alone.cpu_s:.2f} s | {beside.cpu_s:.2f} s |",
                flush=True,
            )
        quiet = compare("p99", [(alone.p99_ms, beside.p99_ms) for alone, beside in pairs], "ms")
        compare("mean", [(alone.mean_ms, beside.mean_ms) for alone, beside in pairs], "ms")
        compare("brokers' CPU", [(alone.cpu_s, beside.cpu_s) for alone, beside in pairs], "s")
        idle = [*in_turn(IDLE_ROUNDS, lambda: idle_cpu_s(cluster), auditor)]
        compare("brokers' CPU without a producer", idle, "s")
        more = statistics.median(beside - alone for alone, beside in idle) / len(cluster.brokers) / SECONDS
        print(f"CPU of each broker for an audit a minute and the watch, without a producer: {more:.2%} of a core")
        codes = ", ".join(map(str, sorted({*auditor.codes})))
        print(f"exit codes of {len(auditor.codes)} audits: {codes}; {auditor.late} went on after their minute")
    return 0 if quiet and more < MOST and not any(auditor.codes) else 1


def compare(name: str, pairs: Sequence[tuple[float, float]], unit: str) -> bool:
    """Print medians and their difference, and how far the rounds alone are apart; return whether no more than that differs."""
    alone, beside = ([pair[place] for pair in pairs] for place in (0, 1))
    median, other, noise = statistics.median(alone), statistics.median(beside), statistics.stdev(alone)
    print(
        f"{name}: median alone {median:.2f} {unit}, beside audits {other:.2f} {unit} ({other / median - 1:+.1%});"
        f" rounds alone from {min(alone):.2f} to {max(alone):.2f} {unit}, standard deviation {noise:.2f}",
        flush=True,
    )
    return other - median <= max(MOST * median, noise)


if __name__ == "__main__":
    sys.exit(main())
