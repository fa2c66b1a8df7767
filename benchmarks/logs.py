"""`kafka-audit logs` of 1 GB: 5 % at WARN and above, and all at ERROR. Aims: 60 s and 300 MB, 240 s and 300 MB.

`python benchmarks/logs.py [MB]` takes other sizes; the seconds are of the processor.
"""

import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from kafka_audit.says.catalogue import templates

MEGABYTE = 2**20
KINDS = 300  # templates of one log; with names in them they are thousands of different lines
NAMES = ("orders-3", "__consumer_offsets-17", "broker-2.example.com:9093", "1732873612345", "/data/kafka-logs", "payments")
INFO = (
    "[ProducerStateManager partition={}] Wrote producer snapshot at offset {} in 1 ms. (kafka.log.ProducerStateManager)",
    "[GroupCoordinator 2]: Stabilized group {} generation {} with 3 members (kafka.coordinator.group.GroupCoordinator)",
    "[UnifiedLog partition={}, dir=/data] Rolled new log segment at offset {} in 2 ms. (kafka.log.UnifiedLog)",
)


def write(path: Path, megabytes: int, bad: float, dice: random.Random) -> int:
    """Write a log with such a share of lines at WARN and above, of `KINDS` kinds; return how many lines it has."""
    known = [template for template in templates() if template.level in "FEW" and not template.since.startswith(("z", "j"))]
    warned = dice.sample(known, KINDS)
    lines = size = 0
    with path.open("w") as log:
        while size < megabytes * MEGABYTE:
            seconds = lines // 10
            clock = f"{seconds // 3600 % 24:02}:{seconds // 60 % 60:02}:{seconds % 60:02},{lines % 1000:03}"
            at = f"[2026-03-{1 + seconds // 86_400:02} {clock}]"
            if dice.random() < bad:
                template = dice.choice(warned)
                first, *others = template.text.split("…")
                text = first + "".join(dice.choice(NAMES) + str(dice.randrange(10_000)) + piece for piece in others)
                level = "WARN" if bad < 1 and template.level == "W" else "ERROR"
                line = f"{at} {level} [ReplicaManager broker=2] {text} (kafka.server.{template.loggers[0]})\n"
            else:
                line = f"{at} INFO {dice.choice(INFO).format(dice.choice(NAMES), dice.randrange(10**9))}\n"
            size += log.write(line)
            lines += 1
    return lines


def measure(path: Path) -> tuple[float, float, float, int]:
    """Return the seconds of processor and clock, the peak in MB, and the exit code."""
    began = time.monotonic()
    code = (
        "import resource, sys; from kafka_audit.cli import main; code = main(sys.argv[1:]); "
        "used = resource.getrusage(resource.RUSAGE_SELF); "
        "print(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, file=sys.stderr); sys.exit(code)"
    )
    command = [sys.executable, "-c", code, "logs", str(path), "--format", "json"]
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
    seconds, peak = map(float, done.stderr.split()[-2:])
    return seconds, time.monotonic() - began, peak, done.returncode


def main() -> None:
    """Print a table."""
    megabytes = int(sys.argv[1]) if len(sys.argv) > 1 else 1024
    sys.stdout.write("| log | lines | processor s | s | peak MB | exit |\n|---|---|---|---|---|---|\n")
    with tempfile.TemporaryDirectory() as folder:
        for name, bad in (("5 % at WARN and above", 0.05), ("all ERROR", 1.0)):
            path = Path(folder) / "server.log"
            lines = write(path, megabytes, bad, random.Random(7))  # noqa: S311 -- no secret
            seconds, wall, peak, code = measure(path)
            sys.stdout.write(f"| {megabytes} MB, {name} | {lines:,} | {seconds:.0f} | {wall:.0f} | {peak:.0f} | {code} |\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
