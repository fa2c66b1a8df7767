"""What audits say of healthy clusters at work: `python benchmarks/healthy_work.py`.

Real brokers in the test bed (Linux network namespaces, Java 17; needs root), of Kafka 3.9.1 with ZooKeeper and of 4.3.0, with
topics, groups, transactions and a tier. They are audited at rest, and then, one audit after the other, with all inputs and with
none, while brokers are rolled, killed and recover, a partition is reassigned and a follower catches up under a throttle, clients
write and segments go to the tier; 3.9.1 migrates to KRaft at last. A finding above INFO that is not among those at rest is a
false alarm, but for KA604, and for what is so: a broker that is down is gone, and lacks in the ISR. It is down from the moment at
which its process ends, or its log says that it shuts down, until its log says that it has started. Prints a Markdown table, and
each false alarm; exits with 1 if there is one, or if there were fewer than 100 audits. About 30 minutes.
"""

import argparse
import json
import re
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from scenarios.audits import Audits, failing  # noqa: E402 -- of the tests, found by the path above
from testbed import Bed  # noqa: E402 -- see above
from testbed.brokers import BaseCluster, Broker  # noqa: E402 -- see above
from testbed.faults import rolling_restart  # noqa: E402 -- see above
from testbed.kraft import CONTROLLER_PORT  # noqa: E402 -- see above
from testbed.migration import Migration  # noqa: E402 -- see above
from testbed.population import populate  # noqa: E402 -- see above
from testbed.population.contents import Contents  # noqa: E402 -- see above
from testbed.tiers import tier_properties  # noqa: E402 -- see above
from testbed.topics import await_reassigned, configure_topic, delete, elect_preferred, reassign, throttle  # noqa: E402 -- see above

RELEASES = ("3.9.1", "4.3.0")
NEEDED, LOOK_S = 100, 0.3
TOPICS = 14  # none of the names that the tier makes
MEGABYTES, RATE, FETCH_BYTES = 20, "400000", "65536"
THROTTLED = "follower.replication.throttled.replicas"
TIERED = {"remote.storage.enable": "true", "segment.bytes": "1048576", "local.retention.bytes": "1048576"}
TRUE_WHILE_DOWN = frozenset({"KA001", "KA113", "KA116", "KA209", "KA211", "KA212", "KA603"})
"""That a broker is gone, recovers or does not answer, that no other may fail, and that a controller is down: in KRaft both."""
_LIFE = re.compile(
    r"\[BrokerServer id=\d+\] Transition from \w+ to (?P<kraft>SHUTTING_DOWN|STARTED)"
    r"|\] (?P<zookeeper>shutting down|started) \(kafka\.server"
)


class Downs:
    """When each broker was down, by its process and its log."""

    def __init__(self, cluster: BaseCluster) -> None:
        """Take the cluster."""
        self._brokers = list(cluster.brokers.values())
        self._offsets = {broker.id: 0 for broker in self._brokers}
        self._started = {broker.id: True for broker in self._brokers}
        self._times: list[tuple[int, float]] = []
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Watch while the block runs."""
        self._thread.start()
        try:
            yield
        finally:
            self._over.set()
            self._thread.join()

    def between(self, began: float, ended: float) -> set[int]:
        """Return the brokers that were down at some time."""
        return {broker for broker, at in list(self._times) if began - LOOK_S <= at <= ended + LOOK_S}

    def _watch(self) -> None:
        while not self._over.wait(LOOK_S):
            for broker in self._brokers:
                if not self._has_started(broker) or not broker.server.is_running:
                    self._times.append((broker.id, time.monotonic()))

    def _has_started(self, broker: Broker) -> bool:
        log = broker.log_dir / "server.log"
        if not broker.server.is_running:
            self._started[broker.id] = False
        if log.is_file():
            if log.stat().st_size < self._offsets[broker.id]:
                self._offsets[broker.id] = 0
            with log.open(errors="replace") as lines:
                lines.seek(self._offsets[broker.id])
                for found in _LIFE.finditer(lines.read()):
                    self._started[broker.id] = (found["kraft"] or found["zookeeper"]).lower() == "started"
                self._offsets[broker.id] = lines.tell()
        return self._started[broker.id]


@dataclass(kw_only=True)
class Phase:
    """What was done, how many audits there were meanwhile, and what they said too much."""

    name: str
    audits: int = 0
    true: int = 0
    surplus: list[str] = field(default_factory=list)


class Work:
    """One cluster, what is done to it, and its audits."""

    def __init__(self, bed: Bed, release: str, folder: Path) -> None:
        """Start the cluster, and fill it."""
        self.with_zookeeper = release < "4"
        properties = {**tier_properties(release, bed.folder), "replica.fetch.max.bytes": FETCH_BYTES}
        self.bed, self.folder, self.cluster = bed, folder, self._started(bed, release, properties)
        for name, replicas in (("load", [0, 1, 2]), ("moving", [2, 1]), ("lagging", [2, 1, 0]), ("archive", [0, 1, 2])):
            self.cluster.create_topic(name, {0: replicas})
        for name in ("moving", "lagging"):
            configure_topic(self.cluster, name, {"min.insync.replicas": "1", THROTTLED: "*"})
        configure_topic(self.cluster, "archive", TIERED)
        self._produce("moving", MEGABYTES)
        populate(bed, self.cluster, Contents(topics=TOPICS))
        self.migration = None
        self.audits = Audits(bed, self.cluster, folder / "audits")
        whole = yaml.safe_load(self.cluster.clusters_yaml("whole"))["clusters"]["whole"]
        self.audits.describe("whole", **whole)
        self.downs = Downs(self.cluster)
        self._kept = 0

    def _started(self, bed: Bed, release: str, properties: dict[str, str]) -> BaseCluster:
        if self.with_zookeeper:
            return bed.cluster(release, properties=properties)
        return bed.kraft(release, controllers=0, properties=properties)  # controllers have to know that topics may have a tier

    def _produce(self, topic: str, megabytes: int) -> None:
        if (refused := self.cluster.produce(topic, 0, megabytes)) is not None:
            print(f"{topic}: {refused}", file=sys.stderr)

    def load(self) -> None:
        """Write, also what goes to the tier."""
        for _ in range(6):
            self._produce("archive", 4)
            self._produce("load", 10)

    def roll(self) -> None:
        """Restart one broker after the other, and give each partition its preferred leader."""
        for _ in rolling_restart(self.cluster):
            pass
        elect_preferred(self.cluster)

    def recover(self) -> None:
        """Kill one broker after the other, each with logs to recover."""
        for _ in rolling_restart(self.cluster, hard=True):
            self._produce("load", 2)
        elect_preferred(self.cluster)

    def move(self) -> None:
        """Move a partition under a throttle, and a topic comes and goes."""
        for broker in (0, 1):
            throttle(self.cluster, broker, RATE)
        replicas = next(iter(self.cluster.views().values())).topics["moving"][0]["replicas"]
        reassign(self.cluster, "moving", 0, [2, 1] if 0 in replicas else [2, 0])
        self.cluster.create_topic("short", {0: [0, 1, 2]})
        time.sleep(10)
        delete(self.cluster, "short")
        await_reassigned(self.cluster)
        for broker in (0, 1):
            throttle(self.cluster, broker, None)

    def catch_up(self) -> None:
        """Let a broker catch up under a throttle with what was written while it was down."""
        throttle(self.cluster, 1, RATE)
        self.cluster.brokers[1].stop()
        self._produce("lagging", MEGABYTES)
        self.cluster.brokers[1].start()
        while len(next(iter(self.cluster.views().values())).topics["lagging"][0]["isr"]) < len(self.cluster.brokers):
            time.sleep(2)
        throttle(self.cluster, 1, None)
        elect_preferred(self.cluster)

    def migrate(self) -> None:
        """Migrate to KRaft."""
        moving = self.migration
        moving.prepare_brokers()
        moving.restart_controllers()
        moving.convert_brokers()
        moving.finish()

    def done(self, needed: int) -> Iterator[Phase]:
        """Yield what was done, phase by phase, again and again until there were so many audits."""
        self.cluster.await_settled()
        time.sleep(30)
        at_rest = {name: set[tuple[str, str]]() for name in ("far", "whole")}
        for name in (*at_rest, *at_rest):
            at_rest[name] = failing(self.audits.by_command(name).report, at_least="LOW")
        print(f"at rest: {sorted({code for found in at_rest.values() for code, _ in found})}", file=sys.stderr)
        works: list[Callable[[], None]] = [self.load, self.roll, self.recover, self.move, self.catch_up]
        with self.downs.watched():
            audits = 0
            while audits < needed:
                for work in works:
                    phase = self._audited(work, at_rest)
                    audits += phase.audits
                    yield phase
                    self.cluster.await_settled()
            if self.with_zookeeper:
                self.migration = Migration(self.bed, self.cluster)
                self.migration.start_controllers()
                controllers = yaml.safe_load(self.cluster.clusters_yaml("whole"))["clusters"]["whole"]["controllers"]
                for name in at_rest:
                    self._add(name, controllers=controllers)
                    at_rest[name] |= failing(self.audits.by_command(name).report, at_least="LOW")  # of the controller
                yield self._audited(self.migrate, at_rest)

    def _add(self, name: str, **more: object) -> None:
        path = self.folder / "audits" / name / "clusters.yaml"
        entry = json.loads(path.read_text())["clusters"][name] | more
        path.write_text(json.dumps({"clusters": {name: entry}}))

    def _audited(self, work: Callable[[], None], at_rest: Mapping[str, set[tuple[str, str]]]) -> Phase:
        phase, failed = Phase(name=work.__name__), list[BaseException]()

        def run() -> None:
            try:
                work()
            except BaseException as error:  # noqa: BLE001 -- raised below
                failed.append(error)

        worker = threading.Thread(target=run)
        worker.start()
        while worker.is_alive():
            for name, found in at_rest.items():
                self._audit(phase, name, found)
        if failed:
            raise failed[0]
        return phase

    def _names(self, resource: str) -> set[int]:
        """Return the brokers that a resource means; a cluster and a partition mean all."""
        ids = {f"{broker.host.address}:{CONTROLLER_PORT}": broker.id for broker in self.cluster.brokers.values()}
        found = re.match(r"broker/(\d+)|controller/(\S+)", resource)
        if found is None:
            return {*ids.values()}
        return {int(found[1])} if found[1] else {ids.get(found[2], -1)}

    def _audit(self, phase: Phase, name: str, at_rest: set[tuple[str, str]]) -> None:
        began = time.monotonic()
        audit = self.audits.by_command(name)
        down = self.downs.between(began, time.monotonic())
        phase.audits += 1
        same = {code for code, resource in at_rest if resource == "cluster"}  # of one broker, where the others do not answer
        found = failing(audit.report, at_least="LOW") - at_rest
        again = {one for one in found if one[0] in same and one[1].startswith("broker/")}
        more = {one for one in found - again if one[0] != "KA604"}
        true = {one for one in more if one[0] in TRUE_WHILE_DOWN and self._names(one[1]) & down}
        phase.true += bool(true)
        surplus = [_line(audit.report, one, name, down) for one in sorted(more - true)]
        if audit.code not in {0, 3, 4}:  # 4: not every read was answered
            surplus.append(f"{name}: exit {audit.code}: {audit.said[-500:]}")
        if surplus:
            self._kept += 1
            kept = self.folder / f"surplus-{self._kept}-{phase.name}-{name}.json"
            kept.write_text(json.dumps(audit.report, indent=1))
            phase.surplus += [f"{line} ({kept.name})" for line in surplus]
            print(f"{phase.name}, audit {phase.audits}: " + "\n  ".join(surplus), file=sys.stderr, flush=True)


def _line(report: Mapping[str, Any], one: tuple[str, str], name: str, down: set[int]) -> str:
    finding = next(found for found in report["findings"] if (found["code"], found["resource"]["name"]) == one)
    return f"{name}: {finding['severity']} {one[0]} {one[1]}: {finding['message']} (down: {sorted(down) or 'none'})"


def main() -> int:
    """Run the releases that are asked for; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--release", choices=RELEASES, action="append", help="default: both")
    parser.add_argument("--audits", type=int, default=NEEDED, help="of all releases together, at least")
    parser.add_argument("--keep", type=Path, help="folder for reports with a false alarm, and logs")
    options = parser.parse_args()
    audits, surplus = 0, list[str]()
    print("| Kafka | while | audits | of them name a broker that is down | false alarms |\n|---|---|---|---|---|", flush=True)
    releases = options.release or RELEASES
    for release in releases:
        with tempfile.TemporaryDirectory() as folder:
            kept = (options.keep or Path(folder)) / release
            kept.mkdir(parents=True, exist_ok=True)
            with Bed(Path(folder) / "bed", keep_logs=kept / "logs") as bed:
                for phase in Work(bed, release, kept).done(options.audits // len(releases)):
                    print(f"| {release} | {phase.name} | {phase.audits} | {phase.true} | {len(phase.surplus)} |", flush=True)
                    audits, surplus = audits + phase.audits, surplus + phase.surplus
                if surplus:
                    bed.save_logs()
    print(f"\n{audits} audits, {len(surplus)} false alarms.", *surplus, sep="\n- ")
    return 0 if not surplus and audits >= options.audits else 1


if __name__ == "__main__":
    sys.exit(main())
