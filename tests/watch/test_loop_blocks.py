"""Nothing that a party sends holds up a loop: neither that of the triggerer, nor that of the watch itself."""

import asyncio
import json
import struct
from contextlib import aclosing
from functools import cache

import pytest
from kafka.protocol.admin import DescribeQuorumResponse

from hostile_parties.broker import honest_brokers
from hostile_parties.party import announce, drip, hang_up, raw
from kafka_audit.airflow import environment
from kafka_audit.airflow.schedule.suspect_trigger import ClusterSuspectTrigger
from kafka_audit.model.cluster import Cluster, Limits
from kafka_audit.watch.reader import Reader
from watch.ticking import MOST_WORK, counted_steps

PASSWORD = "open-sesame-73"  # noqa: S105 -- of a fake
METADATA, VERSIONS, QUORUM = 3, 18, 55


def brokers_listed(count):
    """A body of Metadata version 4 that lists this many brokers, other ones each time."""
    numbers = iter(range(10, 2**30))

    def body(_exchange):
        listed = b"".join(struct.pack("!ih", next(numbers), 9) + b"127.0.0.1" + struct.pack("!ih", 1, -1) for _ in range(count))
        return struct.pack("!ii", 0, count) + listed + struct.pack("!hii", -1, 0, 0)

    return body


def topics_listed(count):
    topics = (struct.pack("!hh", 0, 8) + b"%08d" % number + b"\0" + struct.pack("!i", 0) for number in range(count))
    return struct.pack("!iihii", 0, 0, -1, 0, count) + b"".join(topics)


@cache
def quorum_of(count):
    """The body of DescribeQuorum that lists this many voters; kafka-python takes a second for a large one."""
    kind = DescribeQuorumResponse.TopicData
    replica = kind.PartitionData.ReplicaState
    voters = [replica(replica_id=number, log_end_offset=1) for number in range(count)]
    partition = kind.PartitionData(
        partition_index=0, error_code=0, leader_id=5, leader_epoch=9, high_watermark=1, current_voters=voters, observers=[]
    )
    answer = DescribeQuorumResponse(
        version=0, error_code=0, topics=[kind(topic_name="__cluster_metadata", partitions=[partition])]
    )
    return bytes(answer.encode())


HOSTILE = {
    "18 MB of Metadata": (METADATA, announce(18 << 20, 18 << 20)),
    "19,000 brokers, others each time": (METADATA, brokers_listed(19_000)),
    "50,000 topics": (METADATA, topics_listed(50_000)),
    "170,000 APIs": (VERSIONS, struct.pack("!hi", 0, 170_000) + b"\0\1\0\0\0\4" * 170_000),
    "10,000 APIs": (VERSIONS, struct.pack("!hi", 0, 10_000) + b"\0\1\0\0\0\4" * 10_000),
    "80,000 voters": (QUORUM, 80_000),
    "20,000 voters": (QUORUM, 20_000),
    "dripping": (METADATA, drip(200)),
    "a flood without frames": (VERSIONS, raw(b"\0\0\1" * 1_000_000)),
}


@pytest.fixture
def brokers():
    with honest_brokers(6) as made:
        for broker in made:
            broker.apis[METADATA] = (0, 4)
        yield made


def make_hostile(brokers, name):
    key, behaviour = HOSTILE[name]
    behaviour = quorum_of(behaviour) if key == QUORUM else behaviour
    for broker in brokers[4:]:
        broker.script[key] = behaviour
        if key == QUORUM:
            broker.apis[QUORUM] = (0, 0)


async def readings(cluster, times):
    reader, found = Reader(cluster, {}), []
    async with counted_steps() as steps:
        for _ in range(times):
            found.append(await reader.read(found[-1].endpoints if found else {}))
    return found, steps


@pytest.mark.parametrize("name", HOSTILE)
def test_the_loop_of_a_watch_is_not_held_up(brokers, name):
    make_hostile(brokers, name)
    cluster = Cluster(name="c", bootstrap=tuple(broker.address for broker in brokers), limits=Limits(read_s=60))
    found, steps = asyncio.run(readings(cluster, 2))
    for reading in found:
        assert {0, 1, 2, 3} <= {broker.broker_id for broker in reading.brokers if broker.metadata.answered}
    demand_short(steps)


def demand_short(steps):
    assert steps.most < MOST_WORK
    assert steps.foreign == set()


def scram_of_many_iterations(brokers):
    for broker in brokers:
        broker.mechanisms, broker.users, broker.iterations = ("SCRAM-SHA-512",), {"auditor": PASSWORD}, 131_072
    return {"protocol": "SASL_PLAINTEXT", "mechanism": "SCRAM-SHA-512", "username": "auditor", "password_env": "AUDITOR"}


@pytest.mark.parametrize("name", ["19,000 brokers, others each time", "20,000 voters", "131,072 iterations"])
def test_the_loop_of_the_triggerer_is_not_held_up(brokers, name, tmp_path, monkeypatch):
    security = {}
    if name in HOSTILE:
        make_hostile(brokers, name)
    else:
        security = {"security": scram_of_many_iterations(brokers)}
    brokers[1].script[METADATA] = hang_up  # what is suspected, and ends the test
    monkeypatch.setenv("AUDITOR", PASSWORD)
    monkeypatch.setattr(environment, "watch_every", lambda: 2.0)
    monkeypatch.setenv("KAFKA_AUDIT_WATCH_GRACE_SECONDS", "2")
    monkeypatch.setenv("KAFKA_AUDIT_CLUSTERS", str(tmp_path / "clusters.yaml"))
    monkeypatch.setenv("KAFKA_AUDIT_STORE", str(tmp_path / "store"))
    cluster = {"bootstrap": [broker.address for broker in brokers], "limits": {"read_s": 60}} | security
    (tmp_path / "clusters.yaml").write_text(json.dumps({"clusters": {"prod": cluster}}))

    async def watch():
        async with counted_steps() as steps, aclosing(ClusterSuspectTrigger(cluster="prod").run()) as events:
            first = await anext(events)
        return first.payload, steps

    payload, steps = asyncio.run(watch())
    demand_short(steps)
    assert payload["suspected"] >= len(payload["suspicions"]) > 0
