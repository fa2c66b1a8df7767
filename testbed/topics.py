"""What operators do with the topics of a running cluster, by Kafka's own API: with ZooKeeper from 2.4 on, and in KRaft."""

import time
from collections.abc import Mapping, Sequence
from typing import Any

from testbed.brokers import STEP_SECONDS, BaseCluster
from testbed.cluster import Cluster
from testbed.errors import BedError

LOOK_SECONDS = 0.5
SLOWEST = "1"  # bytes a second


def _ask(cluster: BaseCluster, command: str, **arguments: object) -> Any:  # noqa: ANN401 - JSON
    """Ask the controller, whom alone brokers with ZooKeeper let do this; in KRaft any broker passes it on."""
    controller = cluster.controller_id() if isinstance(cluster, Cluster) else None
    return cluster.ask_topics(command, at=controller, **arguments)


def _demand(refused: str | None, what: str) -> None:
    if refused is not None:
        message = f"{what} was refused: {refused}"
        raise BedError(message)


def reassign(cluster: BaseCluster, topic: str, partition: int, replicas: Sequence[int]) -> None:
    """Begin to move a partition; returns at once."""
    _demand(_ask(cluster, "reassign", moves=[[topic, partition, list(replicas)]]), f"the reassignment of {topic}-{partition}")


def cancel_reassignment(cluster: BaseCluster, topic: str, partition: int) -> None:
    """Take a reassignment that is under way back."""
    _demand(_ask(cluster, "reassign", moves=[[topic, partition, None]]), f"the end of the reassignment of {topic}-{partition}")


def await_reassigned(cluster: BaseCluster, seconds: float = STEP_SECONDS) -> None:
    """Wait until nothing is being reassigned any more.

    Raises:
        BedError: something still is.
    """
    deadline = time.monotonic() + seconds
    while left := _ask(cluster, "reassigning"):
        if time.monotonic() > deadline:
            message = f"still being reassigned after {seconds:.0f} s: {left}; logs in {cluster.folder}"
            raise BedError(message)
        time.sleep(LOOK_SECONDS)


def configure_topic(cluster: BaseCluster, topic: str, keys: Mapping[str, str | None]) -> None:
    """Set what a topic sets for itself; None takes a key away."""
    _demand(_ask(cluster, "configure", topic=topic, broker=-1, keys=dict(keys)), f"the configuration of {topic}")


def throttle(cluster: BaseCluster, broker: int, rate: str | None = SLOWEST) -> None:
    """Let a broker follow throttled replicas at that many bytes a second; None ends it."""
    keys = {"follower.replication.throttled.rate": rate}
    _demand(cluster.ask_topics("configure", at=broker, topic=None, broker=broker, keys=keys), f"the throttle of broker {broker}")


def delete(cluster: BaseCluster, topic: str) -> None:
    """Ask for the deletion of a topic; with ZooKeeper it waits for all brokers that have replicas of it."""
    _demand(_ask(cluster, "delete", topic=topic), f"the deletion of {topic}")


def hang_transaction(cluster: BaseCluster, topic: str, partition: int, age_s: int = 3600) -> None:
    """Begin a transaction in a partition that no client ends; brokers that verify transactions refuse it (Kafka 3.6 on)."""
    place = {"topic": topic, "partition": partition}
    refused = cluster.ask_topics("hang", at=_leader(cluster, topic, partition), age_s=age_s, **place)
    _demand(refused, f"a transaction in {topic}-{partition}")


def prepare_transaction(cluster: BaseCluster, topic: str, partition: int, age_s: int = 3600) -> None:
    """Commit a transaction that stays prepared: min.insync.replicas is 2 when its markers come, and one replica is in sync."""
    place = {"topic": topic, "partition": partition}
    refused = cluster.ask_topics("prepare", at=_leader(cluster, topic, partition), age_s=age_s, **place)
    _demand(refused, f"a prepared transaction in {topic}-{partition}")


def spoil_offsets(cluster: BaseCluster, partition: int) -> None:
    """Write a record that no coordinator can read into __consumer_offsets: it is read at the next start of the leader."""
    topic = "__consumer_offsets"
    refused = cluster.ask_topics("spoil", at=_leader(cluster, topic, partition), topic=topic, partition=partition)
    _demand(refused, f"a record in {topic}-{partition}")


def _leader(cluster: BaseCluster, topic: str, partition: int) -> int:
    return next(int(view.topics[topic][partition]["leader"]) for view in cluster.views().values())


def finalize_feature(cluster: BaseCluster, feature: str, level: int, *, upgrade: bool) -> None:
    """Finalize a level of a feature of a KRaft cluster; voters that just started have not reported their levels yet."""
    deadline = time.monotonic() + STEP_SECONDS
    while refused := _ask(cluster, "finalize", feature=feature, level=level, upgrade=upgrade):
        if "not all of the voters support it" not in refused or time.monotonic() > deadline:
            break
        time.sleep(LOOK_SECONDS)
    _demand(refused, f"level {level} of {feature}")


def elect_preferred(cluster: BaseCluster) -> None:
    """Give every partition its preferred leader."""
    _demand(_ask(cluster, "elect"), "the preferred election")
