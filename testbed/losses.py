"""Random losses on a real cluster, compared with what `kafka-audit what-if` predicts: ``python -m testbed.losses --seed 7``.

A cluster of four brokers on two racks has topics with random replicas, min.insync.replicas and unclean elections, and followers
that a throttle keeps out of sync. Then parties go, one after the other until few are left: brokers, pairs, racks, controllers.
Before each loss `what-if` predicts; afterwards partitions without leader, partitions that refuse acks=all, partitions with one
copy, and whether the quorum takes a change are read from the cluster. Those that are down already count in the next prediction.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import tempfile
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from testbed.bed import Bed
from testbed.errors import BedError
from testbed.jars import RELEASES
from testbed.kraft import KraftCluster
from testbed.topics import configure_topic, throttle

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from testbed.brokers import BaseCluster

RECORD = Path(__file__).resolve().parents[1] / "docs" / "losses.json"
BROKERS, TOPICS, PARTITIONS, SLOW = 4, 8, 4, 3
RACKS = {0: "a", 1: "a", 2: "b", 3: "b"}
PROPERTIES = {
    "replica.lag.time.max.ms": "3000",
    "broker.session.timeout.ms": "4000",
    "auto.create.topics.enable": "false",
    "auto.leader.rebalance.enable": "false",
}
REFUSED = {"NotEnoughReplicasError", "NotEnoughReplicasAfterAppendError"}
STABLE_S, PATIENCE_S = 2.0, 40.0
KINDS = ("offline", "not_writable", "at_risk")
Key = tuple[str, int]


@dataclass
class Outcome:
    """One loss: what was predicted, what was seen, and where they differ (predicted alone, seen alone)."""

    version: str
    mode: str
    seed: int
    without: list[str]
    down: list[str]
    safe: bool | None
    seen: dict[str, int] = field(default_factory=dict)
    predicted_alone: dict[str, list[str]] = field(default_factory=dict)
    seen_alone: dict[str, list[str]] = field(default_factory=dict)
    quorum: tuple[bool | None, bool | None] = (None, None)

    @property
    def holds(self) -> bool:
        """Whether prediction and cluster agree; a quorum that was not decided is no prediction."""
        agrees = None in self.quorum or self.quorum[0] == self.quorum[1]
        return agrees and not self.predicted_alone and not self.seen_alone


class Losses:
    """One cluster and its losses."""

    def __init__(self, bed: Bed, cluster: BaseCluster, rng: random.Random, seed: int) -> None:
        """Take a running cluster."""
        self._bed, self._cluster, self._rng, self._seed = bed, cluster, rng, seed
        self._kraft = isinstance(cluster, KraftCluster)
        self._folder = bed.folder / "losses"
        self._folder.mkdir()
        self._whole: dict[Key, set[int]] = {}
        self._probes = 0

    def populate(self) -> None:
        """Create topics, and hold followers on one broker back by a throttle."""
        slow = self._rng.choice(sorted(self._cluster.brokers))
        for number in range(TOPICS):
            topic = f"t{number}"
            factor = self._rng.choice([1, 2, 2, 3, 3])  # of all partitions: KRaft takes no other assignment
            assignment = {at: self._rng.sample(sorted(self._cluster.brokers), factor) for at in range(PARTITIONS)}
            if number < SLOW:  # the throttled one follows, and does not lead
                others = sorted(set(self._cluster.brokers) - {slow})
                factor = self._rng.choice([1, 2])
                assignment = {at: [*self._rng.sample(others, factor), slow] for at in range(PARTITIONS)}
            self._cluster.create_topic(topic, assignment)
            keys = {"min.insync.replicas": str(self._rng.choice([1, 1, 2, 2, 3]))}
            if self._rng.random() < 0.4:  # noqa: PLR2004 -- a share
                keys["unclean.leader.election.enable"] = "true"
            if number < SLOW:
                keys["follower.replication.throttled.replicas"] = "*"
            configure_topic(self._cluster, topic, keys)
        self._cluster.await_settled()
        throttle(self._cluster, slow)
        for number in range(SLOW):
            for partition in range(PARTITIONS):
                self._cluster.produce(f"t{number}", partition, 1)
        time.sleep(2 * STABLE_S + 3)
        self._whole = {key: set(state["isr"]) for key, state in self._partitions().items()}

    def round(self) -> list[Outcome]:
        """Let parties go one after the other until two brokers are left, then bring all back."""
        found: list[Outcome] = []
        down: list[str] = []
        while (loss := self._next(down)) is not None:
            found.append(self._one(loss, down))
            down += loss
        self._restore()
        return found

    def _next(self, down: Sequence[str]) -> list[str] | None:
        """Return what goes next: never the last broker, and nothing after the quorum is lost."""
        brokers = [broker for broker in sorted(self._cluster.brokers) if self._cluster.brokers[broker].server.is_running]
        controllers = [node for node, server in self._controllers().items() if server.is_running]
        lost_quorum = self._controllers() and 2 * len(controllers) <= len(self._controllers())
        if lost_quorum or (down and len(brokers) <= 1):
            return None
        choices: list[list[str]] = [[f"broker:{one}"] for one in brokers if len(brokers) > 1]
        if len(brokers) > 2:  # noqa: PLR2004 -- one is left after a pair
            choices.append([f"broker:{one}" for one in sorted(self._rng.sample(brokers, 2))])
        whole = [rack for rack in "ab" if {one for one, name in RACKS.items() if name == rack} <= {*brokers}]
        choices += [[f"rack:{rack}"] for rack in whole if len(brokers) > 2]  # noqa: PLR2004 -- as above
        choices += [[f"controller:{node}"] for node in self._rng.sample(controllers, min(1, len(controllers)))]
        return self._rng.choice(choices) if choices else None

    def _controllers(self) -> dict[int, Any]:
        return self._cluster.controllers if isinstance(self._cluster, KraftCluster) else {}

    def _one(self, loss: list[str], down: Sequence[str]) -> Outcome:
        predicted = self._predicted(loss)
        brokers, nodes = self._meant(loss)
        outcome = Outcome(
            version=self._cluster.plan.version,
            mode="kraft" if self._kraft else "zookeeper",
            seed=self._seed,
            without=loss,
            down=[*down],
            safe=predicted["safe"],
        )
        hard = self._rng.random() < 0.5  # noqa: PLR2004 -- a share
        for server in [self._cluster.brokers[one].server for one in brokers] + [self._controllers()[one] for one in nodes]:
            server.signal_stop(hard=hard)
        for server in [self._cluster.brokers[one].server for one in brokers] + [self._controllers()[one] for one in nodes]:
            server.await_end(20.0)
        quorum = predicted["quorum"]
        if quorum["lost"]:
            outcome.quorum = (quorum["elects"], self._takes_changes())
        if outcome.quorum[1] is not False:  # without a quorum no leader is elected
            seen, wanted = self._seen(brokers), self._wanted(predicted)
            for kind in KINDS:
                ours = wanted[kind] & seen["touched"] if kind == "at_risk" else wanted[kind]
                theirs = seen[kind] & seen["touched"] if kind == "at_risk" else seen[kind]
                outcome.seen[kind] = len(theirs)
                if alone := ours - theirs:
                    outcome.predicted_alone[kind] = sorted(f"{topic}-{at}" for topic, at in alone)
                if alone := theirs - ours:
                    outcome.seen_alone[kind] = sorted(f"{topic}-{at}" for topic, at in alone)
        self._bed.say(
            f"{' '.join(loss)} with {' '.join(down) or 'nothing'} down: {'holds' if outcome.holds else asdict(outcome)}"
        )
        return outcome

    def _meant(self, loss: Sequence[str]) -> tuple[list[int], list[int]]:
        brokers, nodes = [], []
        for name in loss:
            kind, _, who = name.partition(":")
            if kind == "controller":
                nodes.append(int(who))
            else:
                brokers += [int(who)] if kind == "broker" else [one for one, rack in RACKS.items() if rack == who]
        return brokers, nodes

    def _predicted(self, loss: Sequence[str]) -> dict[str, Any]:
        config = self._folder / "clusters.yaml"
        config.write_text(self._cluster.clusters_yaml("bed"))
        # A follower that a throttle holds back leaves the ISR with the next record, and the writes afterwards are such records.
        self._cluster.write_each([key for key, state in self._stable(()).items() if state["leader"] >= 0])
        time.sleep(STABLE_S)
        self._touched_before = self._stable(())
        losses = [word for name in loss for word in ("--without", name)]
        places = ["--config", str(config), "--out", str(self._folder / "store"), "--quiet", "--format", "json"]
        command = [sys.executable, "-m", "kafka_audit.cli", "what-if", "bed", *losses, *places]
        done = self._bed.worker.run(command, cwd=self._folder, env={**os.environ})
        if done.returncode not in {0, 3, 4}:
            message = f"what-if {' '.join(loss)}: {done.stderr}"
            raise BedError(message)
        found: dict[str, Any] = json.loads(done.stdout)
        return found

    def _wanted(self, predicted: dict[str, Any]) -> dict[str, set[Key]]:
        """Return what is predicted to be so afterwards: what becomes so, and what is so already and does not get worse."""
        new = {kind: _keys(predicted["topics"][kind]) for kind in (*KINDS, "unclean")}
        now = {kind: _keys(predicted["already"][kind]) for kind in ("offline", "not_writable")}
        offline = new["offline"] | now["offline"]
        writable = {key for key in now["not_writable"] if key not in new["unclean"]}
        return {"offline": offline, "not_writable": (new["not_writable"] | writable) - offline, "at_risk": new["at_risk"]}

    def _seen(self, lost: Collection[int]) -> dict[str, set[Key]]:
        states = self._stable(lost)
        led = [key for key, state in states.items() if state["leader"] >= 0]
        answers = self._cluster.write_each(led)
        gone = set(lost)
        return {
            "offline": {key for key, state in states.items() if state["leader"] < 0},
            "not_writable": {key for key, error in answers.items() if error in REFUSED},
            "at_risk": {key for key in led if len(states[key]["isr"]) == 1},
            "touched": {key for key, state in self._touched_before.items() if gone & {*state["isr"]}},
        }

    def _stable(self, lost: Collection[int]) -> dict[Key, dict[str, Any]]:
        """Return the partitions once nothing of them changes, and no leader is among those that went."""
        deadline, last, since = time.monotonic() + PATIENCE_S, None, time.monotonic()
        while True:
            states = self._partitions()
            if states != last:
                last, since = states, time.monotonic()
            led = {state["leader"] for state in states.values()}
            in_sync = {one for state in states.values() if state["leader"] >= 0 for one in state["isr"]}
            if time.monotonic() - since > STABLE_S and not {*lost} & (led | in_sync):
                return states
            if time.monotonic() > deadline:
                message = f"the brokers still list {[*lost]} after {PATIENCE_S:.0f} s: {states}"
                raise BedError(message)
            time.sleep(0.3)

    def _partitions(self) -> dict[Key, dict[str, Any]]:
        view = next(iter(self._cluster.views().values()))
        return {
            (topic, at): {"leader": state["leader"], "isr": sorted(state["isr"]), "replicas": state["replicas"]}
            for topic, partitions in view.topics.items()
            if topic.startswith("t")
            for at, state in partitions.items()
        }

    def _takes_changes(self) -> bool:
        """Return whether the quorum takes a change: a topic is created."""
        self._probes += 1
        brokers = [one for one in sorted(self._cluster.brokers) if self._cluster.brokers[one].server.is_running]
        deadline = time.monotonic() + 20
        while True:
            try:
                self._cluster.create_topic(f"probe{self._probes}", {0: [brokers[0]]})
            except BedError as error:
                if "already exists" in str(error):
                    return True
                if time.monotonic() > deadline:
                    return False
                time.sleep(1)
            else:
                return True

    def _restore(self) -> None:
        for server in self._controllers().values():
            if not server.is_running:
                server.launch()
        self._cluster.start_brokers(sorted(self._cluster.brokers))
        self._cluster.await_settled(seconds=90)
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline:
            missing = [key for key, state in self._partitions().items() if not self._whole[key] <= {*state["isr"]}]
            if not missing:
                return
            time.sleep(0.5)


def _keys(rows: Sequence[dict[str, Any]]) -> set[Key]:
    return {(row["topic"], number) for row in rows for number in row["partitions"] if row["topic"].startswith("t")}


def say(step: str) -> None:
    """Print a step to standard error."""
    sys.stderr.write(f"losses: {step}\n")
    sys.stderr.flush()


def run(options: argparse.Namespace, folder: Path) -> list[Outcome]:
    """Start a cluster, and let parties go until the time is over."""
    rng, began = random.Random(options.seed), time.monotonic()  # noqa: S311 -- no secret
    found: list[Outcome] = []
    with Bed(folder, say=say) as bed:
        racks = {broker: {"broker.rack": rack} for broker, rack in RACKS.items()}
        given: dict[str, Any] = {"brokers": BROKERS, "properties": PROPERTIES, "per_broker": racks}
        cluster: BaseCluster = bed.kraft(options.version, **given) if options.kraft else bed.cluster(options.version, **given)
        losses = Losses(bed, cluster, rng, options.seed)
        losses.populate()
        while len(found) < options.losses and time.monotonic() - began < options.minutes * 60:
            found += losses.round()
            keep(found, options.record)  # what was seen is kept, whatever becomes of the next round
    return found


def keep(found: Sequence[Outcome], record: Path) -> None:
    """Add outcomes to the record, instead of those of the same cluster and seed."""
    held = json.loads(record.read_text()) if record.is_file() else []
    ours = {(one.version, one.mode, one.seed) for one in found}
    held = [one for one in held if (one["version"], one["mode"], one["seed"]) not in ours]
    held += [{**asdict(one), "holds": one.holds} for one in found]
    order = sorted(held, key=lambda one: (one["version"], one["mode"], one["seed"]))
    record.write_text("[\n" + ",\n".join(json.dumps(one) for one in order) + "\n]\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run, record, and return 1 where a prediction does not hold."""
    parser = argparse.ArgumentParser(
        prog="python -m testbed.losses", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--version", default="3.9.1", choices=sorted(RELEASES), help="Kafka version (default 3.9.1)")
    parser.add_argument("--kraft", action="store_true", help="without ZooKeeper")
    parser.add_argument("--seed", type=int, default=7, help="of topics and losses (default 7)")
    parser.add_argument("--losses", type=int, default=500, help="how many losses at most (default 500)")
    parser.add_argument("--minutes", type=float, default=60, help="begin no round after that time (default 60)")
    parser.add_argument("--record", type=Path, default=RECORD, help="file to add the outcomes to (default docs/losses.json)")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="kafka-audit-losses-", ignore_cleanup_errors=True) as folder:
        found = run(options, Path(folder))
    wrong = [one for one in found if not one.holds]
    seen = {kind: sum(one.seen.get(kind, 0) for one in found) for kind in KINDS}
    sys.stdout.write(f"{len(found)} losses, {len(wrong)} predictions do not hold; seen: {seen}\n")
    return 1 if wrong or not found else 0


if __name__ == "__main__":
    sys.exit(main())
