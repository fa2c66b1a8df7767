"""How good the estimates of what is on its way are: `python benchmarks/estimates.py`.

Real brokers in the test bed (Linux network namespaces, Java 17; needs root): one leads a topic for each of ten others. Ten
throttled reassignments, ten with a producer whose load changes each minute, and ten catch-ups after a crash, each kind at once,
each broker with a throttle of its own. An audit follows the other, and counts the first estimate that it prints after a quarter
of the way; that is compared with the time until the copy was done. No estimate by then counts as a miss. Prints a Markdown
table; exits with 1 if fewer than 27 of 30 are within a factor of two. About 25 minutes.
"""

import argparse
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from scenarios.audits import Audits  # noqa: E402 -- of the tests, found by the path above
from testbed import Bed  # noqa: E402 -- see above
from testbed.topics import configure_topic, reassign, throttle  # noqa: E402 -- see above

NAME = "far"
THROTTLED = "follower.replication.throttled.replicas"
FETCH_BYTES = 65_536  # throttles let many fetches through in a second; these are slow, so that fetches have to be small
MEGABYTES, SLOWEST_BPS, STEP_BPS = 20, 80_000, 9_000
QUARTER, LONGEST_S, PHASE_S, APART_S = 0.25, 900, 60, 15
WITHIN, NEEDED, OF = 2.0, 27, 30


@dataclass(kw_only=True)
class Copy:
    """One copy: the first estimate after a quarter of the way, and when it was made and the copy was done (Unix time)."""

    topic: str
    broker: int
    share: float | None = None
    estimate_min: int | None = None
    estimated_at: float = 0.0
    done_at: float | None = None

    @property
    def left_min(self) -> float | None:
        """How long it took after the estimate; None where it did not end."""
        return None if self.done_at is None else (self.done_at - self.estimated_at) / 60

    @property
    def good(self) -> bool:
        """Whether the estimate is within the factor; it is in whole minutes."""
        if self.estimate_min is None or self.left_min is None:
            return False
        return self.left_min / WITHIN <= self.estimate_min <= max(1.0, self.left_min * WITHIN)


class Rounds:
    """The three kinds, one after the other in one cluster."""

    def __init__(self, bed: Bed, brokers: int, folder: Path) -> None:
        """Start the cluster."""
        self.others = range(1, brokers + 1)
        self.cluster = bed.kraft(
            "4.3.0", brokers=brokers + 1, controllers=1, properties={"replica.fetch.max.bytes": str(FETCH_BYTES)}
        )
        self.audits = Audits(bed, self.cluster, folder)

    def _filled(self, kind: str, *, copied: bool) -> list[Copy]:
        copies = [Copy(topic=f"{kind}-{broker}", broker=broker) for broker in self.others]
        for copy in copies:
            self.cluster.create_topic(copy.topic, {0: [0, copy.broker] if copied else [0]})
            configure_topic(self.cluster, copy.topic, {"min.insync.replicas": "1", THROTTLED: "*"})
            throttle(self.cluster, copy.broker, str(SLOWEST_BPS + STEP_BPS * copy.broker))
        self.cluster.await_settled()
        return copies

    def _fill(self, copies: Collection[Copy]) -> None:
        for copy in copies:
            if (refused := self.cluster.produce(copy.topic, 0, MEGABYTES)) is not None:
                raise SystemExit(refused)

    def reassigned(self, *, loaded: bool) -> list[Copy]:
        """Reassign one topic to each broker."""
        copies = self._filled("loaded" if loaded else "moved", copied=False)
        self._fill(copies)
        self.audits.by_command(NAME)
        for copy in copies:
            reassign(self.cluster, copy.topic, 0, [0, copy.broker])
        stopped = threading.Event()
        producer = threading.Thread(target=self._load, args=(copies, stopped))
        if loaded:
            producer.start()
        try:
            self._followed(copies, "reassignment", self._reassigning)
        finally:
            stopped.set()
            if loaded:
                producer.join()
        return copies

    def _load(self, copies: list[Copy], stopped: threading.Event) -> None:
        """Produce for a minute, then nothing for a minute, until it is stopped."""
        began = time.monotonic()
        while not stopped.is_set():
            for copy in copies:
                while not stopped.is_set() and int((time.monotonic() - began) / PHASE_S) % 2:
                    stopped.wait(1)
                if copy.done_at is None and not stopped.is_set():
                    self.cluster.produce(copy.topic, 0, 1)

    def _reassigning(self) -> Collection[str]:
        return {topic for topic, _ in self.cluster.ask_topics("reassigning")}

    def caught_up(self) -> list[Copy]:
        """Kill the brokers, write what they lack, and start them."""
        copies = self._filled("crashed", copied=True)
        for copy in copies:
            self.cluster.brokers[copy.broker].stop(hard=True)
        self._fill(copies)
        self.cluster.start_brokers([copy.broker for copy in copies])
        self._followed(copies, "catch_up", self._behind)
        return copies

    def _behind(self) -> Collection[str]:
        view = next(iter(self.cluster.views().values()))
        return {
            topic
            for topic, partitions in view.topics.items()
            if any(len(at["isr"]) < len(at["replicas"]) for at in partitions.values())
        }

    def _followed(self, copies: list[Copy], kind: str, left: Callable[[], Collection[str]]) -> None:
        """Audit until every copy is done."""
        over, deadline = threading.Event(), time.monotonic() + LONGEST_S

        def watch() -> None:
            while not over.wait(2):
                open_topics = left()
                for copy in copies:
                    if copy.done_at is None and copy.topic not in open_topics:
                        copy.done_at = time.time()
                if all(copy.done_at for copy in copies):
                    over.set()

        watcher = threading.Thread(target=watch)
        watcher.start()
        while not over.wait(APART_S) and time.monotonic() < deadline:
            audit = self.audits.by_command(NAME)
            now = datetime.fromisoformat(audit.report["finished_at"]).timestamp()
            for row in (row for row in audit.report["progress"] if row["kind"] == kind):
                self._note(copies, row, now)
        over.set()
        watcher.join()

    @staticmethod
    def _note(copies: list[Copy], row: dict[str, Any], now: float) -> None:
        for copy in copies:
            named = f"topic/{copy.topic}/partition/0" in row["parties"] or row["parties"][0] == f"broker/{copy.broker}"
            if named and copy.share is None and (row["share"] or 0) >= QUARTER:
                copy.share, copy.estimate_min, copy.estimated_at = row["share"], row["minutes_left"], now


def main() -> int:
    """Run the kinds that are asked for; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--brokers", type=int, default=OF // 3, help="copies of each kind")
    brokers = parser.parse_args().brokers
    good = total = 0
    with tempfile.TemporaryDirectory() as folder, Bed(Path(folder) / "bed") as bed:
        rounds = Rounds(bed, brokers, Path(folder) / "audits")
        kinds: list[tuple[str, Callable[[], list[Copy]]]] = [
            ("reassignment", lambda: rounds.reassigned(loaded=False)),
            ("reassignment under changing load", lambda: rounds.reassigned(loaded=True)),
            ("catch-up after a crash", rounds.caught_up),
        ]
        print("| what | broker | at | estimate, minutes | it took | within a factor of two |\n|---|---|---|---|---|---|")
        for name, run in kinds:
            for copy in run():
                left = "not done" if copy.left_min is None else f"{copy.left_min:.1f}"
                at = "" if copy.share is None else f"{copy.share:.0%}"
                row = (name, copy.broker, at, copy.estimate_min, left, "yes" if copy.good else "no")
                print(f"| {' | '.join(map(str, row))} |", flush=True)
                good, total = good + copy.good, total + 1
    print(f"\n{good} of {total} estimates are within a factor of two.")
    return 0 if good * OF >= NEEDED * total else 1


if __name__ == "__main__":
    sys.exit(main())
