"""Random clusters without brokers, disks, or both: of each partition the difference file says what Kafka's rules say of it.

The rules are written here a second time, from the source: `PartitionLeaderElectionAlgorithms.offlinePartitionLeaderElection` and
`PartitionChangeBuilder.electAnyLeader` elect the first replica that runs and is in the ISR, else in KRaft the first one in
the ELR, else with unclean election the first one that runs; `Partition.appendRecordsToLeader` refuses acks=all below
`effectiveMinIsr`.
"""

import random
from collections.abc import Collection, Mapping
from itertools import pairwise
from typing import Any

import pytest

from kafka_audit.what_if.topics import NONE
from seed import SEED
from what_if.asked import snapshot_of, without

KINDS = ("offline", "unclean", "not_writable", "at_risk", "last_copy", "below_margin")
BROKERS, DISKS = range(6), 3
Partitions = Mapping[tuple[str, int], Mapping[str, Any]]


def cluster(rng: random.Random, *, kraft: bool) -> tuple[dict[str, Any], dict[str, Any], Partitions]:
    """Return a patch of the base, settings by topic, and the partitions."""
    down = {broker for broker in BROKERS[1:] if rng.random() < 0.15}  # 0 reports what topics set in KRaft
    topics, settings, partitions = {}, {}, {}
    for number in range(12):
        topic, factor = f"topic-{number}", rng.randint(1, 4)
        config = {"min.insync.replicas": str(rng.randint(1, 4))} if rng.random() < 0.7 else {}
        if rng.random() < 0.4:
            config["unclean.leader.election.enable"] = rng.choice(["true", "false", "True"])
        settings[topic], states = config, {}
        for partition in range(4):
            replicas = rng.sample(BROKERS, factor)
            isr = sorted(rng.sample(replicas, rng.randint(1, factor)))
            if kraft:  # controllers take what does not run out of each ISR that has another member
                isr = [replica for replica in isr if replica not in down] or isr[:1]
            running = [replica for replica in replicas if replica in isr and replica not in down]
            leader = rng.choice(running) if running else -1
            state = {"replicas": replicas, "leader": leader, "leader_epoch": 4, "isr": isr}
            states[partition] = state | {"controller_epoch": 3, "state_mzxid": 9}
            outside = [replica for replica in replicas if replica not in isr]
            partitions[topic, partition] = state | {
                "eligible": rng.sample(outside, rng.randint(0, len(outside))) if kraft else []
            }
        topics[topic] = {"topic_id": topic, "czxid": number, "mzxid": number, "config": config, "partitions": states}
    brokers = {broker: {"listeners": {"PLAINTEXT": f"PLAINTEXT://b{broker}:9092"}, "czxid": 1, "mzxid": 1} for broker in BROKERS}
    patch = {
        "brokers": {
            broker: "absent" if broker in down and broker < 3 else told
            for broker, told in brokers.items()
            if broker not in down or broker < 3
        },
        "topics": {"orders": "absent", "payments": "absent", **topics},
        "apis": {1: [4, rng.choice([15, 16])]},
    }
    patch["log_dirs"] = {
        broker: {f"/{disk}": {"holds": _on(disk, broker, partitions)} for disk in range(DISKS)} for broker in BROKERS
    }
    if kraft:
        patch |= {"info": {"mode": "kraft"}, "zookeeper": "none"}
        patch["configs"] = {"inter.broker.protocol.version": "3.9-IV0"}
        patch["features"] = {"eligible.leader.replicas.version": [0, 1, 1]}
        patch["eligible"] = {
            f"{topic}-{number}": {"leader": state["leader"], "eligible": sorted(state["eligible"]), "last_known": []}
            for (topic, number), state in partitions.items()
            if state["leader"] >= 0
        }
    return patch, settings, partitions


def _disk_of(broker: int, topic: str, partition: int) -> int:
    return (broker + int(topic.rpartition("-")[2]) + partition) % DISKS


def _on(disk: int, broker: int, partitions: Partitions) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for (topic, partition), state in partitions.items():
        if broker in state["replicas"] and _disk_of(broker, topic, partition) == disk:
            found.setdefault(topic, []).append(partition)
    return found


def after(
    state: Mapping[str, Any], config: Mapping[str, str], running: Collection[int], lost: Collection[int], asked: tuple[bool, int]
) -> set[str]:
    """Return what becomes of one partition; `asked`: whether no more is needed than there are replicas, and the margin."""
    capped, margin = asked
    before = [replica for replica in state["replicas"] if replica in state["isr"] and replica in running]
    if not {*before} & {*lost}:
        return set()
    left = [replica for replica in state["replicas"] if replica in running and replica not in lost]
    isr, found = [replica for replica in before if replica not in lost], set()
    if not isr:
        isr = [replica for replica in left if replica in state["eligible"]][:1]
    if not isr and config.get("unclean.leader.election.enable", "").lower() == "true" and left:
        isr, found = left[:1], {"unclean"}
    if not isr:
        return {"offline"}
    needed = int(config.get("min.insync.replicas", "2"))
    needed = min(needed, len(state["replicas"])) if capped else needed
    found |= {"not_writable"} if len(isr) < needed else set()
    found |= {"at_risk"} if len(isr) == 1 else set()
    found |= {"last_copy"} if len(isr) == 1 and 2 < len(state["replicas"]) > len(before) else set()
    return found | ({"below_margin"} if margin and len(isr) < max(needed, 1) + margin else set())


@pytest.mark.parametrize("number", range(16))
def test_each_partition_of_random_clusters(number):
    rng = random.Random(f"{SEED} {number}")  # noqa: S311 -- no secret
    patch, settings, partitions = cluster(rng, kraft=bool(number % 2))
    running = {broker for broker, told in patch["brokers"].items() if told != "absent"}
    lost = [] if number % 4 == 3 else rng.sample(sorted(running), rng.randint(1, min(3, len(running) - 1)))  # then disks alone
    margin = rng.choice([0, 0, 1, 2])
    disks = {broker: rng.randrange(DISKS) for broker in running if broker not in lost and rng.random() < number % 4 / 4}
    names = [*(f"broker:{broker}" for broker in lost), *(f"disk:{broker}:/{disk}" for broker, disk in disks.items())]
    _, (found,) = without(snapshot_of({"now": patch}), *names, margin=margin)
    expected = {}
    for (topic, partition), state in partitions.items():
        gone = {*lost, *(broker for broker, disk in disks.items() if disk == _disk_of(broker, topic, partition))}
        expected[topic, partition] = after(state, settings[topic], running, gone, (patch["apis"][1][1] == 16, margin))
    for kind in KINDS:
        wanted = {key for key, kinds in expected.items() if kind in kinds}
        assert {(row.topic, number) for row in found.effects.get(kind, NONE).rows for number in row.partitions} == wanted, kind
    if any(kinds - {"at_risk", "last_copy"} for kinds in expected.values()):
        assert found.safe is False


def test_a_larger_loss_is_never_better():
    rng = random.Random(SEED)  # noqa: S311 -- no secret
    patch, _, _ = cluster(rng, kraft=False)
    running = sorted(broker for broker, told in patch["brokers"].items() if told != "absent")
    snapshot, order = snapshot_of({"now": patch}), rng.sample(running, len(running))
    stopped: list[set[tuple[str, int]]] = []
    for size in range(1, len(order) + 1):
        _, (found,) = without(snapshot, *(f"broker:{broker}" for broker in order[:size]))
        stopped.append({(row.topic, number) for row in found.effects.get("offline", NONE).rows for number in row.partitions})
    assert all(one <= other for one, other in pairwise(stopped))
    assert stopped[0] < stopped[-1]
