"""Run benchmarks and write docs/performance.md from what they print: `python benchmarks [NAME ...]`.

Each result has a section there, with date, commit and machine; the page shows the newest of each. A benchmark is run alone:
other work on the machine, another benchmark included, changes its figures.
"""

import argparse
import os
import platform
import re
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

HERE = Path(__file__).resolve().parent
PAGE = HERE.parent / "docs" / "performance.md"
BENCHMARKS = {
    "views": ("Reading and comparing the views of many brokers", 2),
    "joins": ("Comparing views by digest, and by joins of raw rows", 2),
    "large_clusters": ("Judging large clusters by each engine", 10),
    "what_if": ("Each single loss of a large cluster", 2),
    "large_audits": ("Whole audits of large clusters, by each engine", 12),
    "kafka_topics": ("An audit beside kafka-topics at each broker", 6),
    "zookeeper_read": ("Reading partition states from ZooKeeper", 3),
    "audit_overhead": ("An audit beside a bare spark-submit", 4),
    "fifty_clusters": ("Fifty clusters in one run of the DAG", 5),
    "history": ("A year of hourly snapshots", 20),
    "page": ("The page of a large and very broken cluster", 3),
    "lint": ("Linting a thousand files", 1),
    "logs": ("Diagnosing a gigabyte of logs", 10),
    "producers": ("What producers and brokers feel of audits", 12),
    "fault_to_alert": ("From a fault to the mail that names it", 25),
}
LOGGED = re.compile(r"\d{4}-\d\d-\d\dT|Simple auth manager")  # what Airflow logs to stdout is no figure
INTRODUCTION = """# Performance

Written by `make bench` from what the benchmarks print. Each section has one run: its command, date, commit and machine. Seconds
are those of that machine. Ratios hold elsewhere: what is compared ran in the same run. `python benchmarks NAME` repeats one.
"""


def run(name: str) -> int:
    """Run one, show and record what it prints; return its exit code."""
    began, printed = time.monotonic(), []
    command = [sys.executable, str(HERE / f"{name}.py")]
    # An installed Airflow has compiled files, and with this each process compiles anew.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=HERE.parent) as process:
        for line in process.stdout or ():
            sys.stdout.write(line)
            sys.stdout.flush()
            if not LOGGED.match(line):
                printed.append(line.rstrip())
    record(name, "\n".join(printed).strip(), time.monotonic() - began, process.returncode)
    return process.returncode


def record(name: str, printed: str, seconds: float, code: int) -> None:
    """Write a result into its section of the page."""
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, cwd=HERE, check=False)
    machine = f"{os.cpu_count()} cores, {memory_gib():.0f} GiB, Python {platform.python_version()}"
    place = f"commit {commit.stdout.strip()}, {machine}; {seconds / 60:.1f} minutes."
    ended = "" if code == 0 else f" It ended with exit code {code}: a figure is missed."
    section = f"`python benchmarks {name}`, {datetime.now(UTC).date().isoformat()}, {place}{ended}\n\n{shown(printed)}\n"
    PAGE.write_text(page(PAGE.read_text(), {BENCHMARKS[name][0]: section}))


def memory_gib() -> float:
    """Return the memory of this machine."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30


def page(old: str, new: dict[str, str]) -> str:
    """Return docs/performance.md with some sections in place of those of the same titles."""
    sections = dict(re.findall(r"^## (.+)\n\n((?:(?!## ).*\n?)*)", old, re.MULTILINE)) | new
    texts = [
        f"## {title}\n\n{sections.get(title, f'`python benchmarks {name}`: not recorded yet.').strip()}\n"
        for name, (title, _) in BENCHMARKS.items()
    ]
    return "\n".join([INTRODUCTION, *texts])


def shown(printed: str) -> str:
    """Return what a benchmark printed as Markdown: tables as they are, other lines as text of fixed width."""
    blocks: list[tuple[bool, list[str]]] = []
    for line in printed.splitlines():
        table = line.startswith("|")
        if not blocks or blocks[-1][0] != table:
            blocks.append((table, []))
        blocks[-1][1].append(line)
    texts = []
    for table, lines in blocks:
        text = "\n".join(lines).strip("\n")
        if text:
            texts.append(text if table else f"```text\n{text}\n```")
    return "\n\n".join(texts)


def main() -> int:
    """Run the chosen benchmarks; return 1 if one missed its figures."""
    minutes = ", ".join(f"{name} {took}" for name, (_, took) in BENCHMARKS.items())
    parser = argparse.ArgumentParser(prog="python benchmarks", description=__doc__, epilog=f"Minutes that each takes: {minutes}.")
    parser.add_argument("name", nargs="*", metavar="NAME", help=f"{', '.join(BENCHMARKS)}; all by default")
    chosen = parser.parse_args().name or list(BENCHMARKS)
    if unknown := set(chosen) - set(BENCHMARKS):
        parser.error(f"no benchmark {', '.join(sorted(unknown))}; there are {', '.join(BENCHMARKS)}")
    failed = []
    for name in chosen:
        print(f"\n=== {name}: {BENCHMARKS[name][0]}", flush=True)
        if run(name):
            failed.append(name)
    if failed:
        print(f"\nmissed a figure, or failed: {', '.join(failed)}")
    print(f"\nwritten: {PAGE.relative_to(HERE.parent)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
