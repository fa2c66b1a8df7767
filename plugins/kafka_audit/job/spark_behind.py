"""Spark behind a run: it starts while the cluster is still being asked, so that a run costs little more than its start.

A separate process: output of Spark and its JVM never reaches stdout, and both end with the run.
"""

import collections
import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Self, cast

import kafka_audit
from kafka_audit.bounds import child_environment
from kafka_audit.bounds.scratch import LOG_PREFIX, Scratch
from kafka_audit.model.errors import EngineError
from kafka_audit.spark import java
from kafka_audit.spark.local_settings import UMASK

_KEPT_LINES = 2000
_PATIENCE_S = 10.0
_WORKER = "kafka_audit.job.spark_worker"


def require_java(environ: Mapping[str, str] = os.environ) -> None:
    """Raise `EngineError` where Spark would find no Java, or one that is too old; checks the locations of Spark's scripts."""
    path = java.binary(environ)
    way_out = f"install Java {java.OLDEST} or newer, e.g. apt-get install openjdk-{java.OLDEST}-jre-headless"
    if path is None:
        home = environ.get("JAVA_HOME")
        bad_home = f"JAVA_HOME is {home}, and bin/java does not exist there"
        where = bad_home if home else "`java` is not on PATH, and JAVA_HOME is not set"
        msg = f"Spark requires Java: {where}; {way_out}"
        raise EngineError(msg)
    major = java.major(path)
    if major is not None and major < java.OLDEST:
        msg = f"Spark requires Java {java.OLDEST}, and {path} is Java {major}; {way_out}, and set JAVA_HOME"
        raise EngineError(msg)


class SparkBehind:
    """A Spark session in the background, for one answer.

    Use it in a `with` block: when that is left, the process and its JVM are gone.
    """

    def __init__(self, command: Sequence[str] = (sys.executable, "-m", _WORKER)) -> None:
        """Start; returns at once. `command` has the protocol of `job.spark_worker`."""
        package = str(Path(kafka_audit.__file__).resolve().parents[1])
        try:
            self._scratch = Scratch()
        except OSError as error:
            msg = f"Spark cannot write to {tempfile.gettempdir()} (TMPDIR): {error.strerror}"
            raise EngineError(msg) from None
        paths = [package, *filter(None, [os.environ.get("PYTHONPATH")])]
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            errors="replace",
            env={
                **child_environment.of_spark(os.environ),
                "PYTHONPATH": os.pathsep.join(paths),
                "TMPDIR": str(self._scratch.path),
            },
            pass_fds=[self._scratch.lock],  # until the worker has ended, too
            umask=UMASK,  # Spark writes into the store
            start_new_session=True,  # Ctrl-C reaches us alone, and one signal reaches worker and JVM
        )
        self._requests, self._results, stderr = (
            cast("IO[str]", pipe) for pipe in (self._process.stdin, self._process.stdout, self._process.stderr)
        )
        self._log: collections.deque[str] = collections.deque(maxlen=_KEPT_LINES)
        self._reader = threading.Thread(target=self._keep_log, args=(stderr,), daemon=True)
        self._reader.start()

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def answer(self, store_root: str, run_id: str) -> None:
        """Let Spark answer a request and wait for it.

        Args:
            store_root: the store's root.
            run_id: the run whose request to answer.

        Raises:
            EngineError: Spark failed; in its own words.
        """
        try:
            self._requests.write(json.dumps({"store": store_root, "run": run_id}) + "\n")
            self._requests.flush()
            line = self._results.readline()
        except BrokenPipeError:
            line = ""
        reported = json.loads(line) if line else {"error": None}
        if "error" in reported:
            raise EngineError(self._why(reported["error"]))

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None) -> None:
        """Let Spark end; at once when the block failed."""
        if kind is None:
            self._reader.join(_PATIENCE_S)
        for end in (signal.SIGTERM, signal.SIGKILL):
            if not self._reader.is_alive():
                break
            os.killpg(self._process.pid, end)
            self._reader.join(_PATIENCE_S)
        with contextlib.suppress(BrokenPipeError):  # an unread request is still in its buffer
            self._requests.close()
        self._results.close()
        self._process.wait()
        self._scratch.close()

    def _keep_log(self, stderr: IO[str]) -> None:
        # The JVM holds stderr open for as long as it lives: the end of this loop is its end.
        with stderr:
            self._log.extend(line.rstrip("\n") for line in stderr)

    def _why(self, reported: str | None) -> str:
        self._reader.join(_PATIENCE_S)
        lines = [line for line in list(self._log) if line.strip()]
        causes = [line for line in lines if re.match(r"(?:Caused by: )?[\w.$]+(?:Error|Exception)\b", line)]
        last = (causes or lines or ["no output"])[-1].strip().removeprefix("Caused by: ")
        why = f"Spark ended without a result: {reported or last}"
        if not lines:
            return why
        with tempfile.NamedTemporaryFile("w", prefix=LOG_PREFIX, suffix=".log", delete=False, encoding="utf-8") as kept:
            kept.write("\n".join(lines))
        return f"{why} (its log: {kept.name})"
