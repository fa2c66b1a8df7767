"""Random losses on real clusters, compared with what `kafka-audit what-if` predicts: ``python -m testbed.losses --seed 7``.

A cluster of four brokers on two racks has topics with random replicas, min.insync.replicas and unclean elections, the topics of
groups and transactions among them, and followers that a throttle keeps out of sync. Then parties go: brokers, pairs, racks,
controllers, ZooKeeper servers, disks, killed, stopped or frozen. Before each loss `what-if` predicts; then partitions without
leader, partitions that refuse acks=all, partitions with one copy, coordinators, and whether anything takes a change are read from
the cluster. Some of those that went come back, others go: what is down or behind already counts in the next prediction.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import yaml

from kafka_audit.cluster.coordinators import id_number
from testbed import records
from testbed.bed import Bed
from testbed.brokers import BaseCluster
from testbed.cluster import Cluster
from testbed.disks import Disk
from testbed.errors import BedError
from testbed.hosts import HERE
from testbed.jars import RELEASES
from testbed.kraft import KraftCluster
from testbed.servers import Server
from testbed.topics import throttle

RECORD = records.RECORDS / "losses.json.xz"
BROKERS, TOPICS, PARTITIONS, SLOW = 4, 12, 4, 3
COORDINATED = {"__consumer_offsets": 0, "__transaction_state": 1}
IDS_EACH = 6  # partitions of each of these
WITH_DISKS = (1, 3)
_PAIR = 2
_AWAY, _HALF, _DISKS = 0.55, 0.5, 0.4  # shares of the losses
RACKS = {0: "a", 1: "a", 2: "b", 3: "b"}
TIMES = ("replica.socket.timeout.ms", "controller.socket.timeout.ms", "request.timeout.ms")
PROPERTIES = {
    "replica.lag.time.max.ms": "2500",
    "replica.high.watermark.checkpoint.interval.ms": "1000",
    "replication.quota.window.num": "3600",  # seconds over which the rate of a throttle counts: what is behind stays behind
    "broker.session.timeout.ms": "4000",
    "broker.heartbeat.interval.ms": "500",
    "zookeeper.session.timeout.ms": "4000",
    "offsets.commit.timeout.ms": "2000",
    "auto.create.topics.enable": "false",
    "auto.leader.rebalance.enable": "false",
    "offsets.topic.num.partitions": str(IDS_EACH),
    "transaction.state.log.num.partitions": str(IDS_EACH),
    **dict.fromkeys(TIMES, "3000"),
}
STABLE_S, PATIENCE_S, QUORUM_S = 1.2, 45.0, 9.0
TRIES = 6
LIMITS = {"settle_s": 0.3, "read_s": 3}
NAMED = ("broker", "rack", "disk", "controller", "zookeeper")
KINDS = ("offline", "not_writable", "at_risk", "moved")
Key = tuple[str, int]


@dataclass
class Outcome:
    """One loss: what was predicted, what was seen, and where they differ (predicted alone, seen alone).

    Attributes:
        how: `frozen`, `killed`, `stopped`, or `read_only` (a disk).
        behind: partitions with a replica out of sync before.
        disturbed: partitions whose ISR changed for another reason meanwhile, such as a broker that stood still on a busy machine:
            then nothing is said of the prediction, and the loss is not recorded.
        eligible: partitions that got a leader from the eligible replicas (ELR), after the last one in sync went.
    """

    version: str
    mode: str
    seed: int
    without: list[str]
    down: list[str]
    how: str
    safe: bool | None
    behind: int = 0
    disturbed: int = 0
    eligible: int = 0
    seen: dict[str, int] = field(default_factory=dict)
    predicted_alone: dict[str, list[str]] = field(default_factory=dict)
    seen_alone: dict[str, list[str]] = field(default_factory=dict)
    quorum: tuple[bool | None, bool | None] = (None, None)

    @property
    def holds(self) -> bool:
        """Whether prediction and cluster agree; a quorum that was not decided is no prediction."""
        agrees = None in self.quorum or self.quorum[0] == self.quorum[1]
        return agrees and not self.predicted_alone and not self.seen_alone


class LossClient:
    """`loss_client.py` on the worker host."""

    def __init__(self, bed: Bed) -> None:
        """Start it."""
        script = [sys.executable, "-P", str(HERE / "script.py"), "7200", str(HERE / "loss_client.py")]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        self._process = bed.worker.popen(script, cwd=bed.folder, env={**os.environ}, **pipes)

    def ask(self, command: str, **arguments: object) -> Any:  # noqa: ANN401 -- JSON
        """Return the answer to one command.

        Raises:
            BedError: it failed.
        """
        if self._process.stdin is None or self._process.stdout is None:
            raise AssertionError
        self._process.stdin.write(f"{json.dumps({'command': command, 'arguments': arguments})}\n")
        self._process.stdin.flush()
        found = json.loads(self._process.stdout.readline() or '{"error": "it ended"}')
        if "error" in found:
            message = f"{command}: {found['error']}"
            raise BedError(message)
        return found["answer"]

    def close(self) -> None:
        """End it."""
        self._process.kill()
        self._process.communicate()


@dataclass(frozen=True, kw_only=True)
class Loss:
    """Parties that go together: names as `what-if` takes them, and their servers, or the disk."""

    names: list[str]
    servers: list[Server]
    brokers: frozenset[int] = frozenset()
    disk: Disk | None = None
    quorum: bool = False


@dataclass(frozen=True, kw_only=True)
class Moment:
    """What was before a loss: partitions, the coordinator of each partition of groups and transactions, what is on the disk."""

    states: Mapping[Key, dict[str, Any]]
    coordinators: Mapping[Key, int]
    on_disk: set[Key]


class Losses:
    """One cluster and its losses."""

    def __init__(self, bed: Bed, cluster: BaseCluster, rng: random.Random, options: argparse.Namespace) -> None:
        """Take a running cluster."""
        self._bed, self._cluster, self._rng, self._options = bed, cluster, rng, options
        self._folder = bed.folder / "losses"
        self._folder.mkdir()
        self._client = LossClient(bed)
        self._away: dict[str, Loss] = {}
        self._frozen: set[Server] = set()
        self._slow = -1
        self._disks: dict[str, Disk] = {}
        self._ensemble: dict[str, Server] = {}
        names = {number: [f"{word}-{number}" for number in range(400)] for number, word in enumerate(("group", "producer"))}
        self._ids = {
            (topic, partition): [kind, next(name for name in names[kind] if id_number(name) % IDS_EACH == partition)]
            for topic, kind in COORDINATED.items()
            for partition in range(IDS_EACH)
        }

    def populate(self) -> None:
        """Create disks, an ensemble and topics, and hold followers on one broker back by a throttle."""
        self._add_disks()
        if isinstance(self._cluster, Cluster):
            self._grow(self._cluster)
        slow = self._rng.choice(sorted(self._cluster.brokers))
        assignments = self._assignments(slow)
        settings: dict[str, dict[str, str]] = {}
        for topic in assignments:
            least = self._rng.choice([1, 1, 2] if topic in COORDINATED else [1, 1, 2, 2, 3])
            keys = settings[topic] = {"min.insync.replicas": str(least)}
            if self._rng.random() < _DISKS:
                keys["unclean.leader.election.enable"] = "true"
            if topic in {f"t{number}" for number in range(SLOW)}:
                keys["follower.replication.throttled.replicas"] = "*"
        addresses = {str(broker): address for broker, address in self._alive().items()}
        self._client.ask("create", addresses=addresses, assignments=assignments, settings=settings)
        self._cluster.await_settled()
        throttle(self._cluster, slow)
        self._slow = slow
        self._hold_back()

    def _hold_back(self) -> None:
        """Write so much that followers on the slow broker get out of sync: the second is more than the throttle lets through."""
        addresses = {str(broker): address for broker, address in self._alive().items()}
        much = [[f"t{number}", partition] for number in range(SLOW) for partition in range(PARTITIONS)]
        for _ in range(2):
            self._client.ask("write", addresses=addresses, partitions=much, size=200_000)

    def _assignments(self, slow: int) -> dict[str, dict[int, list[int]]]:
        """Return replicas by topic and partition; `slow` follows in the first topics, and does not lead."""
        brokers = sorted(self._cluster.brokers)
        found: dict[str, dict[int, list[int]]] = {}
        for number in range(TOPICS):
            factor = self._rng.choice([1, 2, 2, 3, 3, 3])  # of all partitions: KRaft takes no other assignment
            found[f"t{number}"] = {at: self._rng.sample(brokers, factor) for at in range(PARTITIONS)}
        for number in range(SLOW):
            others, factor = sorted({*brokers} - {slow}), self._rng.choice([1, 2])
            found[f"t{number}"] = {at: [*self._rng.sample(others, factor), slow] for at in range(PARTITIONS)}
        for topic in COORDINATED:
            factor = self._rng.choice([1, 2, 3, 3])
            found[topic] = {at: self._rng.sample(brokers, factor) for at in range(IDS_EACH)}
        return found | {"whole": {0: brokers}}  # of groups' offsets, and of changes of its settings: never without replica

    def _add_disks(self) -> None:
        for broker in WITH_DISKS:
            owner = self._cluster.brokers[broker]
            disk = Disk(cluster=self._cluster, broker=owner, path=owner.server.folder / "disk-1", megabytes=60)
            self._disks[f"disk:{broker}:{disk.path}"] = disk
            owner.server.signal_stop()
        self._configure_controllers()
        for broker, disk in zip(WITH_DISKS, self._disks.values(), strict=True):
            self._cluster.brokers[broker].server.await_end()
            disk.mount()
        dirs = {broker: self._cluster.brokers[broker].server.properties["log.dirs"] for broker in WITH_DISKS}
        named = zip(WITH_DISKS, self._disks.values(), strict=True)
        self._cluster.restart_brokers({broker: {"log.dirs": f"{dirs[broker]},{disk.path}"} for broker, disk in named})
        self._cluster.await_settled(seconds=90)

    def _configure_controllers(self) -> None:
        """Give controllers the properties that are theirs in KRaft: they fence brokers, and elect preferred leaders."""
        for server in self._controllers.values():
            server.signal_stop()
        for server in self._controllers.values():
            server.await_end()
            server.properties |= PROPERTIES
            server.launch()

    def _grow(self, cluster: Cluster) -> None:
        self._ensemble = {server.host.address: server for server in cluster.grow_ensemble().values()}
        cluster.use_ensemble(self._ensemble.values())
        cluster.await_settled(seconds=90)

    # --- what goes, and comes back ---

    def step(self) -> Outcome:
        """Let some that are away come back, and one loss happen."""
        loss = self._next()
        while loss is None:
            self._return(list(self._away))
            loss = self._next()
        found = self._one(loss)
        keep_away = loss.disk is None and found.quorum[1] is not False and self._rng.random() < _AWAY
        if not keep_away:
            self._return([" ".join(loss.names)])
        if len(self._away) > 1 or (self._away and self._rng.random() < _HALF):
            self._return([self._rng.choice(sorted(self._away))])
        return found

    def _next(self) -> Loss | None:
        """Return what goes next: never the last broker; one of a quorum may be the last that it can spare."""
        gone = frozenset(broker for loss in self._away.values() for broker in loss.brokers)
        brokers = [broker for broker in sorted(self._cluster.brokers) if broker not in gone]
        choices: list[Loss] = [self._of_brokers([f"broker:{one}"], [one]) for one in brokers]
        if len(brokers) > _PAIR:  # one is left
            pairs = [sorted(self._rng.sample(brokers, 2)) for _ in range(2)]
            choices += [self._of_brokers([f"broker:{one}" for one in pair], pair) for pair in pairs]
        for rack in "ab":
            held = [broker for broker, name in RACKS.items() if name == rack]
            if {*held} <= {*brokers} and len(brokers) > len(held):
                choices.append(self._of_brokers([f"rack:{rack}"], held))
        choices = [loss for loss in choices if len(loss.brokers) < len(brokers)]
        choices += [
            Loss(names=[name], servers=[], disk=disk)
            for name, disk in self._disks.items()
            if disk.broker.id in brokers and (self._options.kinds != NAMED or self._rng.random() < _DISKS)  # each costs a restart
        ]
        choices += self._of_quorum()
        choices = [loss for loss in choices if loss.names[0].partition(":")[0] in self._options.kinds]
        return self._rng.choice(choices) if choices else None

    def _of_brokers(self, names: list[str], brokers: Sequence[int]) -> Loss:
        return Loss(names=names, servers=[self._cluster.brokers[broker].server for broker in brokers], brokers=frozenset(brokers))

    def _of_quorum(self) -> list[Loss]:
        """Return losses of controllers or ZooKeeper servers: one, or so many at once that the rest has no majority."""
        kind = "controller" if self._controllers else "zookeeper"
        servers = self._controllers or self._ensemble
        held = {name: server for name, server in servers.items() if f"{kind}:{name}" not in self._away}
        if len(held) < len(servers):
            return []  # two of three are lost by a pair
        alone = [[name] for name in self._rng.sample(sorted(held), min(2, len(held)))]
        pairs = [sorted(self._rng.sample(sorted(held), 2))] if len(held) > _PAIR and self._rng.random() < _HALF else []
        return [
            Loss(names=[f"{kind}:{name}" for name in names], servers=[held[name] for name in names], quorum=True)
            for names in (*alone, *pairs)
        ]

    @property
    def _controllers(self) -> dict[str, Server]:
        nodes = self._cluster.controllers if isinstance(self._cluster, KraftCluster) else {}
        return {str(node): server for node, server in nodes.items()}

    def _stop(self, loss: Loss) -> str:
        """Let it happen; return how."""
        if loss.disk is not None:
            loss.disk.make_read_only()
            return "read_only"
        how = self._rng.choice(["frozen", "frozen", "frozen", "killed", "stopped"])
        for server in loss.servers:
            if how == "frozen":
                server.suspend()
                self._frozen.add(server)
            else:
                server.signal_stop(hard=how == "killed")
        for server in loss.servers:
            if how != "frozen":
                server.await_end(20.0)
        return how

    def _return(self, names: Iterable[str]) -> None:
        """Let parties come back, and wait until the brokers list them."""
        returned = [self._away.pop(name) for name in names]
        for loss in returned:
            if loss.disk is not None:
                loss.disk.broker.server.signal_stop(hard=True)
                loss.disk.broker.server.await_end()
                loss.disk.unmount()
                loss.disk.mount()
                loss.disk.broker.start()
            for server in loss.servers:
                if server in self._frozen:
                    server.resume()
                    self._frozen.discard(server)
                elif not loss.brokers:
                    server.launch()
            self._cluster.start_brokers(sorted(loss.brokers))
        self._await_listed()
        if self._slow in {broker for loss in returned for broker in loss.brokers}:
            self._hold_back()  # it caught up by what it asked for first

    # --- what is predicted, and what is seen ---

    def _alive(self, without: Iterable[int] = ()) -> dict[int, str]:
        gone = {*without, *(broker for loss in self._away.values() for broker in loss.brokers)}
        return {number: broker.address for number, broker in self._cluster.brokers.items() if number not in gone}

    def _one(self, loss: Loss) -> Outcome:
        config = self._folder / "clusters.yaml"
        entry = yaml.safe_load(self._cluster.clusters_yaml("bed"))["clusters"]["bed"] | {"limits": LIMITS}
        for costly in (
            ("logs",) if loss.quorum else ("logs", "vantages")
        ):  # whether voters reach each other is measured by vantages
            del entry[costly]
        config.write_text(json.dumps({"clusters": {"bed": entry}}))
        for _ in range(TRIES):
            before, coordinators = self._settled()
            predicted = self._client.ask("predict", config=str(config), names=loss.names)
            if self._states() == before:  # else it is a prediction of what is no longer so
                break
        else:
            message = f"the cluster changes by itself: {before}"
            raise BedError(message)
        on_disk = {*loss.disk.partitions} if loss.disk is not None else set()
        outcome = Outcome(
            version=self._cluster.plan.version,
            mode="kraft" if self._options.kraft else "zookeeper",
            seed=self._options.seed,
            without=[self._recorded(name) for name in loss.names],
            down=[self._recorded(name) for name in sorted(self._away)],
            how=self._stop(loss),
            safe=predicted["safe"],
            behind=sum(len(state["isr"]) < len(state["replicas"]) for state in before.values()),
        )
        self._away[" ".join(loss.names)] = loss
        if loss.quorum:
            address, quorum = next(iter(self._alive().values())), predicted["quorum"]
            patience = QUORUM_S if quorum["elects"] is False else PATIENCE_S
            outcome.quorum = (quorum["elects"], self._client.ask("change", address=address, topic="whole", seconds=patience))
        if outcome.quorum[1] is not False:  # without a quorum no leader is elected
            self._compare(outcome, loss, predicted, Moment(states=before, coordinators=coordinators, on_disk=on_disk))
        verdict = "holds" if outcome.holds else "disturbed" if outcome.disturbed else "FAILS"
        self._bed.say(
            f"{' '.join(loss.names)} {outcome.how} with {', '.join(outcome.down) or 'nothing'} down: "
            f"{verdict} {outcome.quorum if loss.quorum and outcome.holds else outcome.seen if outcome.holds else asdict(outcome)}"
        )
        return outcome

    def _recorded(self, name: str) -> str:
        """Return a name without the folder of this run."""
        kind, broker, path = (*name.split(":", 2), "", "")[:3]
        return f"{kind}:{broker}:/{Path(path).name}" if name in self._disks else name

    def _compare(self, outcome: Outcome, loss: Loss, predicted: dict[str, Any], moment: Moment) -> None:
        before, on_disk = moment.states, moment.on_disk
        if loss.disk is not None:
            loss.disk.await_offline(PATIENCE_S)
        states = self._stable(loss.brokers, {(loss.disk.broker.id, key) for key in on_disk} if loss.disk else set())
        seen, wanted = self._seen(states), wanted_of(predicted)
        outcome.disturbed = self._disturbed(loss, moment, states) + self._disturbed(loss, moment, self._states())
        hit = {key for key, state in before.items() if loss.brokers & {*state["isr"]}}
        if loss.disk is not None:
            hit = {key for key in on_disk & {*before} if loss.disk.broker.id in before[key]["isr"]}
        seen["at_risk"] &= hit
        nodes = seen.pop("_coordinators")
        seen["moved"] = {key for key, node in nodes.items() if node >= 0 <= moment.coordinators.get(key, -1) != node}
        ended = {key for key in hit if {*before[key]["isr"]} <= loss.brokers and states[key]["leader"] >= 0}
        outcome.eligible = len(ended - keys_of(predicted["topics"]["unclean"]))
        for kind in KINDS:
            ours, theirs = wanted[kind], seen[kind]
            outcome.seen[kind] = len(theirs)
            if alone := ours - theirs:
                outcome.predicted_alone[kind] = _named(alone)
            if alone := theirs - ours:
                outcome.seen_alone[kind] = _named(alone)

    def _disturbed(self, loss: Loss, moment: Moment, states: Mapping[Key, dict[str, Any]]) -> int:
        """Return how many partitions changed beside what was lost: by a replica that stays, or one that came back.

        A replica that stays left the ISR or leads no longer, or one joined the ISR; where the last one in sync went, another one
        joined the new leader.
        """
        gone = {key: {loss.disk.broker.id} for key in moment.on_disk} if loss.disk else {}
        left = {key: {*state["isr"]} - loss.brokers - gone.get(key, set()) for key, state in moment.states.items()}
        found = 0
        for key, isr in left.items():
            leader, now = moment.states[key]["leader"], states[key]
            if isr and leader >= 0:
                found += isr != {*now["isr"]} or (leader in isr and leader != now["leader"])
            elif leader >= 0:
                found += len(now["isr"]) > 1
        return found

    def _settled(self) -> tuple[dict[Key, dict[str, Any]], dict[Key, int]]:
        """Return partitions and coordinators once what a throttle holds back is out of sync: it leaves with the next record."""
        self._written(self._stable((), set()))
        for _ in range(TRIES):
            states = self._stable((), set())
            coordinators = self._seen(states)["_coordinators"]
            if self._states() == states:
                return states, coordinators
        message = f"the cluster changes by itself: {states}"
        raise BedError(message)

    def _seen(self, states: Mapping[Key, dict[str, Any]]) -> dict[str, Any]:
        alive = {str(broker): address for broker, address in self._alive().items()}
        written = self._written(states)
        at = {tuple(one): key for key, one in self._ids.items()}
        ids = [[*one, *key] for key, one in self._ids.items()]
        answers = self._client.ask("coordinate", addresses=alive, ids=ids, topic="whole")
        coordinated = {at[kind, name]: (what, node) for kind, name, what, node in answers}
        became = written | {key: what for key, (what, _) in coordinated.items()}
        if odd := {key: what for key, what in became.items() if what not in {"taken", "refused", "absent"}}:
            message = f"neither taken nor refused: {odd}"
            raise BedError(message)
        return {
            "offline": {key for key, state in states.items() if state["leader"] < 0}
            | {key for key, what in became.items() if what == "absent"},
            "not_writable": {key for key, what in became.items() if what == "refused"},
            "at_risk": {key for key, state in states.items() if state["leader"] >= 0 and len(state["isr"]) == 1},
            "_coordinators": {key: node if what == "taken" else -1 for key, (what, node) in coordinated.items()},
        }

    def _written(self, states: Mapping[Key, dict[str, Any]]) -> dict[Key, str]:
        """Write to each partition that has a leader; return what became of each record."""
        led = [key for key, state in states.items() if state["leader"] >= 0 and key not in self._ids]
        alive = {str(broker): address for broker, address in self._alive().items()}
        return {(topic, at): what for topic, at, what in self._client.ask("write", addresses=alive, partitions=led)}

    def _stable(self, lost: Iterable[int], on_disk: set[tuple[int, Key]]) -> dict[Key, dict[str, Any]]:
        """Return the partitions once nothing of them changes, and what went is neither leader nor in sync."""
        deadline, last, since, gone = time.monotonic() + PATIENCE_S, None, time.monotonic(), {*lost}
        while True:
            states = self._states()
            if states != last:
                last, since = states, time.monotonic()
            led = {key: {state["leader"], *state["isr"]} for key, state in states.items() if state["leader"] >= 0}
            still = any(gone & nodes for nodes in led.values()) or any(broker in led.get(key, ()) for broker, key in on_disk)
            if time.monotonic() - since > STABLE_S and not still:
                return states
            if time.monotonic() > deadline:
                message = f"the brokers still list {gone or on_disk} after {PATIENCE_S:.0f} s: {states}"
                raise BedError(message)
            time.sleep(0.4)

    def _states(self) -> dict[Key, dict[str, Any]]:
        told = self._client.ask("states", address=next(iter(self._alive().values())))
        if told["error"]:
            raise BedError(told["error"])
        return {
            (topic, int(at)): {"leader": state["leader"], "isr": sorted(state["isr"]), "replicas": state["replicas"]}
            for topic, partitions in told["topics"].items()
            if topic != "whole"
            for at, state in partitions.items()
        }

    def _await_listed(self) -> None:
        """Wait until every broker that runs lists exactly those that run."""
        alive, deadline = self._alive(), time.monotonic() + 2 * PATIENCE_S
        while True:
            told = [self._client.ask("states", address=address) for address in alive.values()]
            if all({*map(int, view["brokers"])} == {*alive} for view in told):
                return
            if time.monotonic() > deadline:
                message = f"{[view['brokers'] or view['error'] for view in told]}: wanted {sorted(alive)}"
                raise BedError(message)
            time.sleep(0.2)

    def close(self) -> None:
        """End its client."""
        self._client.close()


def wanted_of(predicted: Mapping[str, Any]) -> dict[str, set[Key]]:
    """Return what is predicted to be so afterwards: what becomes so, and what is so already and does not get worse."""
    new = {kind: keys_of(predicted["topics"][kind]) for kind in ("offline", "not_writable", "at_risk", "unclean")}
    now = {kind: keys_of(predicted["already"][kind]) for kind in ("offline", "not_writable")}
    offline = new["offline"] | now["offline"]
    stays = {key for key in now["not_writable"] if key not in new["unclean"]}
    moved = {
        (topic, row["partition"])
        for topic, rows in zip(COORDINATED, (predicted["groups"], predicted["transactions"]), strict=True)
        for row in rows
        if row["state"] in {"moves", "loses"}
    }
    refused = (new["not_writable"] | stays) - offline
    return {"offline": offline, "not_writable": refused, "at_risk": new["at_risk"], "moved": moved - refused - offline}


def keys_of(rows: Sequence[Mapping[str, Any]]) -> set[Key]:
    """Return topics and partitions of rows as JSON has them."""
    return {(row["topic"], number) for row in rows for number in row["partitions"] if row["topic"] != "whole"}


def _named(keys: Iterable[Key]) -> list[str]:
    return sorted(f"{topic}-{at}" for topic, at in keys)


def say(step: str) -> None:
    """Print a step to standard error."""
    sys.stderr.write(f"{time.strftime('%H:%M:%S')} losses: {step}\n")
    sys.stderr.flush()


def run(options: argparse.Namespace, folder: Path) -> list[Outcome]:
    """Start a cluster, and let parties go until the time is over, or something of the bed fails; what was seen is kept."""
    rng, began = random.Random(options.seed), time.monotonic()  # noqa: S311 -- no secret
    found: list[Outcome] = []
    disturbed = 0
    with Bed(folder, say=say) as bed:
        racks = {broker: {"broker.rack": rack} for broker, rack in RACKS.items()}
        given: dict[str, Any] = {"brokers": BROKERS, "properties": PROPERTIES, "per_broker": racks}
        cluster: BaseCluster = bed.kraft(options.version, **given) if options.kraft else bed.cluster(options.version, **given)
        losses = Losses(bed, cluster, rng, options)
        try:
            losses.populate()
            while len(found) < options.losses and time.monotonic() - began < options.minutes * 60:
                outcome = losses.step()
                found += [] if outcome.disturbed else [outcome]
                disturbed += bool(outcome.disturbed)
                keep(found, options.record)
        except BedError as error:
            say(f"ends: {str(error)[:2000]}")
            bed.save_logs()
        finally:
            losses.close()
    say(f"{disturbed} losses are not recorded: something else changed meanwhile")
    return found


def keep(found: Iterable[Outcome], record: Path) -> None:
    """Add outcomes to the record, instead of those of the same cluster and seed."""
    merge([{**asdict(result), "holds": result.holds} for result in found], record)


def merge(rows: Sequence[Mapping[str, Any]], record: Path) -> None:
    """Write rows into a record, instead of those of the same cluster and seed."""
    ours = {_run_of(row) for row in rows}
    every = [row for row in records.read(record) if _run_of(row) not in ours] + [*rows]
    records.write(sorted(every, key=_run_of), record)


def _run_of(row: Mapping[str, Any]) -> tuple[str, str, int]:
    return row["version"], row["mode"], row["seed"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run, record, and return 1 where a prediction does not hold."""
    parser = argparse.ArgumentParser(
        prog="python -m testbed.losses", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--version", default="3.9.1", choices=sorted(RELEASES), help="Kafka version (default 3.9.1)")
    parser.add_argument("--kraft", action="store_true", help="without ZooKeeper")
    parser.add_argument("--seed", type=int, default=7, help="of topics and losses (default 7)")
    parser.add_argument("--kinds", nargs="+", default=NAMED, choices=NAMED, help="what is lost (default: all of these)")
    parser.add_argument("--losses", type=int, default=500, help="how many losses at most (default 500)")
    parser.add_argument("--minutes", type=float, default=60, help="begin no loss after that time (default 60)")
    parser.add_argument("--record", type=Path, default=RECORD, help="file to add the outcomes to (default that of the bed)")
    parser.add_argument("--merge", type=Path, nargs="+", metavar="FILE", help="run nothing: add these records to it")
    options = parser.parse_args(arguments)
    if options.merge:
        for file in options.merge:
            merge(records.read(file), options.record)
        return 0
    with tempfile.TemporaryDirectory(prefix="kafka-audit-losses-", ignore_cleanup_errors=True) as folder:
        found = run(options, Path(folder))
    wrong = [result for result in found if not result.holds]
    seen = {kind: sum(result.seen.get(kind, 0) for result in found) for kind in KINDS}
    sys.stdout.write(f"{len(found)} losses, {len(wrong)} predictions do not hold; seen: {seen}\n")
    return 1 if wrong or not found else 0


if __name__ == "__main__":
    sys.exit(main())
