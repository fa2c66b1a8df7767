"""A watch of honest brokers beside a hostile one, for as many readings as a night has: nothing grows, and a death is seen."""

import asyncio
import json
import logging
import os
import subprocess
import sys
import threading
import time
from contextlib import aclosing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from kafka_audit.model.cluster import Cluster, Limits
from kafka_audit.store.watch_files import WatchFiles
from kafka_audit.watch import audit_requests as requests_module
from kafka_audit.watch import loop, reader
from kafka_audit.watch.audit_requests import WatchSettings, audit_requests
from watch.ticking import MOST_WORK, counted_steps

TESTS = Path(__file__).resolve().parents[1]
EVERY_S = 20.0
DIES = 5000


@contextmanager
def parties():
    """Yield the addresses by id, and what ends one of them."""
    paths = os.pathsep.join([str(TESTS), str(TESTS.parent), str(TESTS.parent / "plugins")])
    process = subprocess.Popen(
        [sys.executable, "-m", "watch.long_watch_parties"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": paths},
    )

    def end(number):
        process.stdin.write(f"{number}\n")
        process.stdin.flush()

    try:
        yield {int(number): address for number, address in json.loads(process.stdout.readline()).items()}, end
    finally:
        process.communicate()


@dataclass
class Run:
    """The clock of a watch, which stands still during a reading, and what was measured after each."""

    now_ms: int = 1_800_000_000_000
    threads_before: set = field(default_factory=lambda: {*threading.enumerate()})
    samples: list = field(default_factory=list)
    known: list = field(default_factory=list)
    died_ms: int | None = None
    suspected_ms: int | None = None

    def after(self, state):
        self.now_ms += round(pause_s(state, EVERY_S) * 1000)
        while len({*threading.enumerate()} - self.threads_before) > THREADS:
            time.sleep(0.01)  # those that have handed over what they read are about to end
        statm = Path("/proc/self/statm").read_text().split()
        self.samples.append(
            {
                "rss_mb": int(statm[1]) * os.sysconf("SC_PAGE_SIZE") / 1024**2,
                "threads": len({*threading.enumerate()} - self.threads_before),
                "files": len([*Path("/proc/self/fd").iterdir()]),
            }
        )
        self.known.append(set(state.endpoints))
        if self.suspected_ms is None and any(suspicion.broker == DIES for suspicion in state.suspicions):
            self.suspected_ms = self.now_ms
        return 0.0


pause_s = loop.pause_s


@pytest.fixture(autouse=True)
def errors_alone():
    """Log errors alone: the hostile party causes a line with each reading. Other tests read the log."""
    logger = logging.getLogger("kafka_audit")
    level = logger.level
    logger.setLevel(logging.ERROR)
    yield
    logger.setLevel(level)


def watched(run, folder, readings, monkeypatch):
    """Watch for this many readings, and then until the honest broker with the highest id, which ends, is suspected."""
    monkeypatch.setattr(reader, "now_ms", lambda: run.now_ms)
    monkeypatch.setattr(loop, "pause_s", lambda state, _: run.after(state))
    monkeypatch.setattr(requests_module, "RELOAD_S", 5.0)
    events, sizes = [], []

    class Sized(WatchFiles):
        def write(self, cluster, content):
            sizes.append(len(content))
            super().write(cluster, content)

    async def watch():
        with parties() as (addresses, end):
            cluster = Cluster(name="prod", bootstrap=(addresses[0], addresses[1]), limits=Limits(read_s=60, brokers=20))

            async def described():
                return cluster, {}

            async def collect():
                async with aclosing(audit_requests("prod", described, Sized(folder), WatchSettings())) as requests:
                    async for request in requests:
                        events.append(json.dumps(request))  # noqa: PERF401 -- what came before the end counts

            async with counted_steps() as steps:
                collecting = asyncio.create_task(collect())
                while run.suspected_ms is None and len(run.samples) < readings + 20:
                    await asyncio.sleep(0.01)
                    if run.died_ms is None and len(run.samples) >= readings:
                        end(DIES)
                        run.died_ms = run.now_ms
                    if collecting.done():
                        break
                collecting.cancel()
                await asyncio.wait([collecting])
            return steps

    steps = asyncio.run(watch())
    first, last = run.samples[len(run.samples) // 4], run.samples[-1]
    half = len(run.samples) // 2
    return {
        "readings": len(run.samples),
        "rss_mb": (first["rss_mb"], last["rss_mb"]),
        "threads": tuple(max(sample["threads"] for sample in part) for part in (run.samples[:half], run.samples[half:])),
        "files": tuple(max(sample["files"] for sample in part) for part in (run.samples[:half], run.samples[half:])),
        "state_bytes": (sizes[0], max(sizes)),
        "events": len(events),
        "event_bytes": max(map(len, events), default=0),
        "most_work": steps.most,
        "foreign": sorted(steps.foreign),
        "suspected_after_s": (run.suspected_ms - run.died_ms) / 1000 if run.suspected_ms and run.died_ms else None,
    }


THREADS = 8
"""When a reading is over: those that have handed over what they read may be about to end. What other tests left runs before."""


def demand_flat(measured, run, rss_mb):
    sys.stderr.write(f"\n{json.dumps(measured)}\n")
    assert measured["suspected_after_s"] is not None
    assert measured["suspected_after_s"] <= 60
    assert all(known == {0, 1, 3, DIES} for known in run.known[1:])
    assert measured["rss_mb"][1] - measured["rss_mb"][0] < rss_mb
    assert max(measured["threads"]) <= THREADS
    assert measured["files"][1] <= measured["files"][0]
    assert measured["state_bytes"][1] < 10_000
    assert measured["event_bytes"] < 10_000
    hours = measured["readings"] * EVERY_S / 3600
    assert measured["events"] <= 6 + hours, "one hostile party requests an audit an hour at most"
    assert measured["most_work"] < MOST_WORK
    assert measured["foreign"] == []


@pytest.mark.parametrize("readings", [20, pytest.param(100, marks=pytest.mark.large)])
def test_readings_beside_a_hostile_broker_leave_nothing_behind(tmp_path, monkeypatch, readings):
    run = Run()
    # Beside threads that other tests left, glibc still opens new arenas. Two thousand readings show whether memory grows.
    demand_flat(watched(run, tmp_path, readings, monkeypatch), run, rss_mb=16)


@pytest.mark.scenario
def test_two_thousand_readings_beside_a_hostile_broker_leave_nothing_behind(tmp_path, monkeypatch):
    run = Run()
    demand_flat(watched(run, tmp_path, 2000, monkeypatch), run, rss_mb=4)
