"""What stops without each broker of a large cluster: `python benchmarks/what_if.py [--sizes 100x20000 100x200000]`.

The views of `views.py` are stored as an audit of a KRaft cluster stores them, with the settings of its brokers. Then the
command `kafka-audit what-if SNAPSHOT --each broker` answers, in a process of its own, three times; the median counts. Twice for
each size:

- 2: min.insync.replicas is 2 of three replicas, so that each loss is safe
- 3: it is 3, so that each loss refuses acks=all for all partitions of the broker: the longest lists that there can be

Prints the wall time, of which the start of the command is a part, the CPU time, and how many lines of text and bytes of JSON it
prints. At 100x200000 it must answer within 3 seconds where each loss is safe. On a machine with other work
the wall time says little: then the seconds of the CPU must be within them, which are those of all threads together.
"""

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from large_stores import ROOT, write
from views import answers

from kafka_audit.store import Store

ID = "20260914T180000Z-prod-0001"
MOST_S, AT = 3.0, "100x200000"
TIMES, SAFE = 3, 2


def asked(root: str, form: str) -> tuple[float, float, int, bytes]:
    """Ask once; return seconds, seconds of the CPU, the exit code and what was printed."""
    command = [sys.executable, "-m", "kafka_audit.cli", "what-if", ID, "--each", "broker", "--out", root, "--format", form]
    environ = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    began, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, env=environ | {"PYTHONPATH": str(ROOT / "plugins")}, capture_output=True, check=False)
    if done.returncode not in {0, 3, 4}:
        sys.exit(done.stderr.decode())
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return time.monotonic() - began, cpu, done.returncode, done.stdout


def main() -> int:
    """Measure and print; return 1 where it takes too long."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", nargs="+", default=["100x20000", AT], metavar="BROKERSxPARTITIONS")
    print("| brokers | partitions | min ISR | exit code | text | CPU | lines | JSON | CPU | bytes |")
    print(f"|{'---|' * 10}")
    late, verdict = False, ""
    sizes = parser.parse_args().sizes
    for size in sizes:
        brokers, partitions = map(int, size.split("x"))
        for min_isr in (SAFE, 3):
            with tempfile.TemporaryDirectory(prefix="kafka-audit-benchmark-") as folder:
                store = Store(Path(folder) / "store")
                write(store, ID, answers(brokers, partitions), min_isr=min_isr)
                text, plain = ([asked(store.root, form) for _ in range(TIMES)] for form in ("text", "json"))
            figures = [[statistics.median(one[at] for one in runs) for at in (0, 1)] for runs in (text, plain)]
            costs = [f"{wall:.1f} s | {cpu:.1f} s" for wall, cpu in figures]
            head = f"{brokers} | {partitions:,} | {min_isr} | {text[0][2]}"
            lines = len(text[0][3].splitlines())
            row = f"{head} | {costs[0]} | {lines} | {costs[1]} | {len(plain[0][3]):,}"
            print(f"| {row} |", flush=True)
            if size == AT and min_isr == SAFE:
                wall, cpu = figures[0]
                late = min(wall, cpu) > MOST_S
                verdict = f"{wall:.1f} s, {cpu:.1f} s of the CPU, with a load of {os.getloadavg()[0]:.1f}"
    if AT in sizes:
        print(f"\n{AT}, each loss safe: {'more than' if late else 'within'} {MOST_S:g} seconds ({verdict})")
    return int(late)


if __name__ == "__main__":
    sys.exit(main())
