"""Kafka's own classes, asked once for many cases: a line of JSON in, a line of JSON out, for each."""

import json
import os
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from testbed.errors import BedError
from testbed.jars import java, kafka_jars

SOURCES = Path(__file__).parent / "oracles"
SECONDS = 600
_TOLD = 2000  # characters of standard error


def ask(name: str, version: str, cases: Iterable[object], *arguments: str) -> list[Any]:
    """Return what a class of `oracles/`, run beside the jars of a Kafka version, answers to each case.

    Raises:
        BedError: Java or the jars are missing, or it failed or did not answer in time.
    """
    # Short runs: the second compiler costs more than it saves.
    source, path = SOURCES / f"{name}.java", os.fspath(kafka_jars(version) / "*")
    command = [java(), "-XX:TieredStopAtLevel=1", "-Xshare:auto", "-cp", path, os.fspath(source), *arguments]
    asked = "".join(f"{json.dumps(case)}\n" for case in cases)
    try:
        completed = subprocess.run(command, input=asked, capture_output=True, encoding="utf-8", timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        message = f"{name} of Kafka {version} did not answer within {SECONDS} s"
        raise BedError(message) from None
    if completed.returncode:
        message = f"{name} of Kafka {version} failed: {completed.stderr[-_TOLD:]}"
        raise BedError(message)
    return [json.loads(line) for line in completed.stdout.split("\n") if line]  # answers may hold other ends of lines
