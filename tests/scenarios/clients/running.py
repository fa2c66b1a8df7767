"""Start those producers, and read what became of their records lately."""

import os
import shutil
import subprocess
import sys
import time
from collections import defaultdict
from pathlib import Path

import pytest

HERE = Path(__file__).parent
KAFKA_PYTHON, OLD_SARAMA, NEW_SARAMA = "kafka-python", "sarama-1.27.0", "sarama-1.43.3"
BUILD_SECONDS = 600


def command(name: str, folder: Path) -> list[str]:
    """Return how to start a producer, built first where it is one of Go's; a test fails where there is no Go."""
    if name == KAFKA_PYTHON:
        return [sys.executable, str(HERE / "kafka_python.py")]
    # Where Go's own archive is unpacked, which few put on PATH.
    go = shutil.which("go") or shutil.which("go", path="/usr/local/go/bin")
    if go is None:
        pytest.fail(f"{name} cannot be built: there is no go on PATH; install Go 1.21 or later (Debian: golang-go)")
    built = folder / name
    build = [go, "build", "-mod=readonly", "-o", str(built), "."]
    completed = subprocess.run(build, cwd=HERE / name, capture_output=True, text=True, timeout=BUILD_SECONDS, check=False)
    if completed.returncode:
        pytest.fail(f"{name} cannot be built: {completed.stderr.strip()}")
    return [str(built)]


class Producer:
    """A producer that runs on the worker host; a context manager."""

    def __init__(self, bed, name: str, brokers: list[str], topic: str, partitions: int):
        self._lines = bed.folder / f"{name}-{time.monotonic_ns()}.txt"
        arguments = [",".join(brokers), topic, str(partitions)]
        with self._lines.open("w") as lines:
            self._process = bed.worker.popen(
                [*command(name, bed.folder), *arguments],
                cwd=bed.folder,
                stdin=subprocess.PIPE,
                stdout=lines,
                stderr=subprocess.STDOUT,
                env=dict(os.environ),
            )

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._process.kill()
        self._process.communicate()

    def within(self, seconds: float) -> dict[int, set[str]]:
        """Return what became of records from now on for so long, by partition."""
        already = self._lines.stat().st_size
        time.sleep(seconds)
        assert self._process.poll() is None, self._lines.read_text()
        results = defaultdict(set)
        with self._lines.open() as lines:
            lines.seek(already)
            for line in lines:
                partition, _, result = line.strip().partition(" ")
                if partition.isdigit():
                    results[int(partition)].add(result)
        return dict(results)

    def await_all(self, partitions: int, seconds: float = 30) -> None:
        """Wait until every partition takes records."""
        deadline = time.monotonic() + seconds
        while (results := self.within(1)) != {partition: {"ok"} for partition in range(partitions)}:
            assert time.monotonic() < deadline, results
