"""The command `class-archive`."""

import argparse
import contextlib
import os
import signal
import subprocess
import sys
from pathlib import Path

import kafka_audit
from kafka_audit.bounds import child_environment
from kafka_audit.bounds.scratch import Scratch
from kafka_audit.cli.printing import console
from kafka_audit.model.errors import EngineError
from kafka_audit.spark import class_archive as archives

_WORKER = "kafka_audit.cli.archiving.spark_classes"
_LONGEST_S = 1800.0  # usually half a minute
# They append to the classpath; the JVM writes no archive with a folder on it, but accepts one whose classpath is a prefix.
_LEFT_OUT = {"HADOOP_CONF_DIR", "YARN_CONF_DIR", "SPARK_DIST_CLASSPATH", "PYSPARK_SUBMIT_ARGS"}


def class_archive_command(arguments: argparse.Namespace) -> int:
    """Create the archive and print its path."""
    path = archives.make(build_archive, environ=spark_environment(), again=arguments.again)
    console.write_result(str(path))
    return 0


def build_archive(path: Path) -> None:
    """Run `_WORKER` to write an archive to `path`; raise EngineError if it fails or exceeds the time limit."""
    with Scratch() as scratch, (scratch.path / "log").open("w+", encoding="utf-8", errors="replace") as printed:
        process = subprocess.Popen(
            [sys.executable, "-m", _WORKER, str(path)],
            cwd=scratch.path,
            env={**spark_environment(), "TMPDIR": str(scratch.path)},
            stdin=subprocess.PIPE,  # its end ends the worker
            stdout=printed,
            stderr=subprocess.STDOUT,
            pass_fds=[scratch.lock],
            start_new_session=True,
            umask=0o077,
        )
        with process:
            try:
                code = process.wait(_LONGEST_S)
                why = f"exit code {code}"
            except subprocess.TimeoutExpired:
                code, why = -1, f"no exit within {_LONGEST_S:g} s"
            finally:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
        printed.seek(0)
        lines = [line.strip() for line in printed if line.strip()]
    if code:
        msg = f"Spark wrote no class archive: {lines[-1] if lines else why}"
        raise EngineError(msg)


def spark_environment() -> dict[str, str]:
    """Return the environment of our processes that start Spark; they import this package from any working directory."""
    package = str(Path(kafka_audit.__file__).resolve().parents[1])
    paths = os.pathsep.join([package, *filter(None, [os.environ.get("PYTHONPATH")])])
    kept = child_environment.of_spark(os.environ)
    return {**{name: value for name, value in kept.items() if name not in _LEFT_OUT}, "PYTHONPATH": paths}
