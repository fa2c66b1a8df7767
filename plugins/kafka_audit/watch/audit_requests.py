"""The loop behind a trigger: watch a cluster for ever, and say when it should be audited.

It is remembered as JSON: a restart continues where it was, and suspects nothing a second time.
"""

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import msgspec

from kafka_audit.clients.parallel import in_thread
from kafka_audit.clients.read_error import ReadError, any_answer
from kafka_audit.model.cluster import Cluster
from kafka_audit.model.errors import StoreError, UsageError
from kafka_audit.store.watch_files import WatchFiles
from kafka_audit.watch.judgement import Patience, WatchState
from kafka_audit.watch.loop import EVERY_S, WatchStep, steps
from kafka_audit.watch.pacing import Pacing, next_pacing, parties
from kafka_audit.watch.picture import suspicions_json, utc_time
from kafka_audit.watch.reader import Reader


@dataclass(frozen=True, kw_only=True)
class SavedWatch:
    """The state of a watch and its pacing."""

    version: Literal[1] = 1
    state: WatchState
    pacing: Pacing = field(default_factory=Pacing)


def encode_watch(saved: SavedWatch) -> bytes:
    """Return it as JSON; the order of brokers counts."""
    kept = replace(saved, state=replace(saved.state, committed=None))
    return msgspec.json.encode(kept, enc_hook=dict) + b"\n"


def decode_watch(content: bytes) -> SavedWatch:
    """Return what `encode_watch` wrote; raises ValueError for anything else."""
    try:
        return msgspec.json.decode(content, type=SavedWatch)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        msg = f"not the state of a watch: {error}"
        raise ValueError(msg) from error


log = logging.getLogger(__name__)

RELOAD_S = 300.0
"""Seconds after which the cluster file is read again."""

RETRY_S = 60.0
"""Seconds after which a cluster file, or a store, that could not be used is tried again."""

MOST_SUSPICIONS = 50
"""Suspicions that one event names, those that last longest, beside their number; and lines of the log for one reading."""

_STORE_S = 10.0

Described = Callable[[], Awaitable[tuple[Cluster, Mapping[str, str]]]]
"""Returns the cluster as its file describes it now, and where passwords are looked up; raises UsageError."""


@dataclass(frozen=True, kw_only=True)
class WatchSettings:
    """Seconds between readings, how long faults must last, and the least distance of two requests in seconds."""

    every_s: float = EVERY_S
    patience: Patience = field(default_factory=Patience)
    distance_s: float = 300.0


async def audit_requests(
    name: str, described: Described, files: WatchFiles, settings: WatchSettings
) -> AsyncGenerator[dict[str, Any]]:
    """Yield what is suspected, as JSON values, whenever the cluster should be audited; never ends, whatever the cluster sends.

    Args:
        name: of the cluster.
        described: the cluster file, read again now and then.
        files: where the state survives a restart.
        settings: how often, how patient.
    """
    memory = _Memory(name, files)
    saved = await memory.read()
    while True:
        try:
            cluster, secrets = await described()
            reader, until = Reader(cluster, secrets), time.monotonic() + RELOAD_S
            async with aclosing(_steps(cluster, reader, settings, saved.state)) as readings:
                async for step in readings:
                    pacing, due = next_pacing(
                        saved.pacing,
                        step.reading.at_ms,
                        settings.distance_s,
                        new=parties(step.new, step.state),
                        suspected=parties(step.state.suspicions, step.state),
                    )
                    for suspicion in step.new[:MOST_SUSPICIONS]:
                        log.warning("%s: suspected: %s", name, suspicion.sentence())
                    saved = SavedWatch(state=step.state, pacing=pacing)
                    if due:
                        yield {
                            "cluster": name,
                            "at": utc_time(step.reading.at_ms),
                            "suspicions": suspicions_json(step.state.suspicions[:MOST_SUSPICIONS]),
                            "suspected": len(step.state.suspicions),
                        }
                    await memory.write(saved)
                    if time.monotonic() >= until:
                        break
        except (UsageError, ReadError) as error:
            log.warning("%s is not watched: %s", name, error)
            await asyncio.sleep(RETRY_S)


async def _steps(cluster: Cluster, reader: Reader, settings: WatchSettings, state: WatchState) -> AsyncGenerator[WatchStep]:
    """Yield the steps of a watch; raises ReadError for an odd answer that nothing expected."""
    async with aclosing(steps(cluster, reader, settings.every_s, settings.patience, state)) as readings:
        with any_answer():
            async for step in readings:
                yield step


class _Memory:
    """The file in the store; a store that is unavailable costs the memory of a restart and nothing else."""

    def __init__(self, name: str, files: WatchFiles) -> None:
        self._name = name
        self._files = files
        self._written: SavedWatch | None = None
        self._not_before = 0.0

    async def read(self) -> SavedWatch:
        try:
            return await in_thread(self._read, _STORE_S)
        except (StoreError, ReadError, ValueError) as error:
            log.warning("%s: the watch begins anew: %s: %s", self._name, self._files.place(self._name), error)
            return SavedWatch(state=WatchState())

    async def write(self, saved: SavedWatch) -> None:
        """Write what is remembered if it changed, but for what each reading changes."""
        compared = replace(saved, state=replace(saved.state, at_ms=0, committed=None))
        if compared == self._written or time.monotonic() < self._not_before:
            return
        try:
            await in_thread(lambda: self._files.write(self._name, encode_watch(saved)), _STORE_S)
            self._written = compared
        except (StoreError, ReadError) as error:
            log.warning("%s: the state of the watch is not written: %s", self._name, error)
            self._not_before = time.monotonic() + RETRY_S

    def _read(self) -> SavedWatch:
        content = self._files.read(self._name)
        return SavedWatch(state=WatchState()) if content is None else decode_watch(content)
