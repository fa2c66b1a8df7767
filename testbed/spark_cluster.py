"""A standalone Spark cluster on loopback: a master, and workers that are processes of their own, from the installed pyspark."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import re
import signal
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING, Self

from testbed.errors import BedError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import TracebackType

START_SECONDS = 600.0
_MASTER_AT = re.compile(r"Starting Spark master at (spark://\S+)")
_REGISTERED = "Successfully registered with master"
_OF_AIRFLOW_OR_AWS = ("AIRFLOW", "KAFKA_AUDIT_", "AWS_", "SPARK_", "PYSPARK_")


class SparkCluster:
    """Runs as long as the `with` block.

    Its processes have no variable of AWS and none of kafka-audit: what executors know, they know from the driver.

    Attributes:
        master: the URL of the master, once it runs.
    """

    def __init__(self, folder: Path, *, workers: int = 2, cores: int = 1, memory: str = "3g") -> None:
        """Describe it.

        Args:
            folder: for logs, and for what executors write.
            workers: their number.
            cores: of each worker.
            memory: of each worker, for all of its executors.
        """
        self._folder = folder
        self._count = workers
        self._offer = ("--cores", str(cores), "--memory", memory)
        self._processes: list[subprocess.Popen[bytes]] = []
        self.master = ""

    def __enter__(self) -> Self:
        """Start the master, then the workers; raises `BedError` where one does not start."""
        try:
            log = self._start("master", "master.Master", "--host", "127.0.0.1", "--port", "0", "--webui-port", "0")
            self.master = _until(log, _MASTER_AT)[1]
            for number in range(self._count):
                self.start_worker(number)
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None) -> None:
        """End all of its processes."""
        self.close()

    def start_worker(self, number: int) -> None:
        """Start a worker and wait until the master knows it."""
        work = self._folder / f"work-{number}"
        where = ("--host", "127.0.0.1", "--webui-port", "0", "--work-dir", str(work))
        log = self._start(f"worker-{number}", "worker.Worker", *where, *self._offer, self.master)
        _until(log, re.compile(_REGISTERED))

    def kill_worker(self, number: int) -> None:
        """Kill a worker and its executors at once, as a machine that fails does."""
        _kill(self._processes[number + 1])

    def executors(self) -> list[str]:
        """Return the folders of the executors that were started, by worker and application."""
        return sorted(str(path.parent.relative_to(self._folder)) for path in self._folder.glob("work-*/app-*/*/stderr"))

    def said(self) -> str:
        """Return all that master, workers and executors logged."""
        files = [*self._folder.glob("*.log"), *self._folder.glob("work-*/app-*/*/std*")]
        return "\n".join(path.read_text(errors="replace") for path in files)

    def close(self) -> None:
        """End all processes, workers first; may be called again."""
        for process in reversed(self._processes):
            _kill(process)
        self._processes.clear()

    def _start(self, name: str, main: str, *arguments: str) -> Path:
        log = self._folder / f"{name}.log"
        self._folder.mkdir(parents=True, exist_ok=True)
        with log.open("wb") as out:
            process = subprocess.Popen(
                [_spark_class(), f"org.apache.spark.deploy.{main}", *arguments],
                env=_environment(),
                stdout=out,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
                start_new_session=True,
            )
        self._processes.append(process)
        return log


def _spark_class() -> str:
    spec = importlib.util.find_spec("pyspark")
    if spec is None or spec.origin is None:
        message = "pyspark is not installed: pip install -r requirements.txt"
        raise BedError(message)
    return str(Path(spec.origin).parent / "bin" / "spark-class")


def _environment() -> dict[str, str]:
    clean = {name: value for name, value in os.environ.items() if not name.startswith(_OF_AIRFLOW_OR_AWS)}
    return {**clean, "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_DAEMON_MEMORY": "256m"}


def _until(log: Path, pattern: re.Pattern[str]) -> re.Match[str]:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        found = pattern.search(log.read_text(errors="replace"))
        if found:
            return found
        time.sleep(0.1)
    tail: Sequence[str] = log.read_text(errors="replace").splitlines()[-15:]
    message = f"{log.stem} of Spark did not start in {START_SECONDS:.0f} s:\n" + "\n".join(tail)
    raise BedError(message)


def _kill(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
