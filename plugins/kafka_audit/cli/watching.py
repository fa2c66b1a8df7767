"""The command `watch`: a live picture on a terminal, else a line for each change."""

import argparse
import asyncio
import contextlib
import json
import os
import sys
import time

from kafka_audit.cli import clusters
from kafka_audit.cli.printing import console
from kafka_audit.model.cluster import Cluster
from kafka_audit.watch.judgement import Patience, WatchState
from kafka_audit.watch.loop import WatchStep, steps
from kafka_audit.watch.picture import WatchPicture, document
from kafka_audit.watch.reader import Reader

SUSPECTED = 3

_CLEAR = "\x1b[H\x1b[2J"


def watch_command(arguments: argparse.Namespace) -> int:
    """Watch a cluster; return 3 if something is suspected at the end, else 0."""
    cluster = clusters.cluster_without_airflow(arguments)
    state = asyncio.run(_watch(cluster, arguments))
    return SUSPECTED if state.suspicions else 0


async def _watch(cluster: Cluster, arguments: argparse.Namespace) -> WatchState:
    output = _WatchOutput(cluster.name, arguments.format, arguments.every)
    end = None if arguments.seconds is None else time.monotonic() + arguments.seconds
    reader, state = Reader(cluster, os.environ), WatchState()
    with contextlib.suppress(TimeoutError):
        async with (
            asyncio.timeout(arguments.seconds),
            contextlib.aclosing(steps(cluster, reader, arguments.every, Patience(grace_s=arguments.grace))) as readings,
        ):
            async for step in readings:
                state = step.state
                if not output.show(step) or (end is not None and time.monotonic() >= end):
                    break
    return state


class _WatchOutput:
    """Shows steps in one form."""

    def __init__(self, cluster: str, form: str, every_s: float) -> None:
        self._cluster = cluster
        self._form = form
        self._picture = WatchPicture(cluster, every_s)
        self._live = form == "text" and sys.stdout.isatty() and os.environ.get("TERM") != "dumb"

    def show(self, step: WatchStep) -> bool:
        """Show a step; return whether somebody still reads."""
        changes = self._picture.changes(step.reading, step.state)
        if self._live:
            screen = self._picture.screen(step.reading, step.state, console.width())
            return console.write_result(f"{_CLEAR}{screen}")
        if not changes:
            return True
        if self._form == "json":
            return console.write_result(json.dumps(document(self._cluster, step.reading, step.state)))
        return console.write_result("\n".join(changes))
