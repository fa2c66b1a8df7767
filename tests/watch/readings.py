"""Readings in a few words: a healthy cluster of three brokers, and what differs from it."""

from kafka_audit.watch.judgement import Patience, WatchState, next_state
from kafka_audit.watch.reading import (
    ANSWERED,
    NOT_ASKED,
    BrokerReading,
    ControllerReading,
    Reading,
    WatchAnswer,
    WatchOutcome,
    ZookeeperReading,
)

EVERY = frozenset({0, 1, 2})
REFUSED = WatchAnswer(outcome=WatchOutcome.FAILED, error="connection refused")
DENIED = WatchAnswer(outcome=WatchOutcome.UNKNOWN, error="CLUSTER_AUTHORIZATION_FAILED")


def broker(number, **said):
    return BrokerReading(
        **{
            "broker_id": number,
            "address": f"b{number}:9092",
            "api_versions": ANSWERED,
            "metadata": ANSWERED,
            "kraft": False,
            "lists": EVERY,
            "cluster_id": "abc",
            "controller_id": 0,
            **said,
        }
    )


def down(number, error="connection refused"):
    failed = WatchAnswer(outcome=WatchOutcome.FAILED, error=error)
    return BrokerReading(broker_id=number, address=f"b{number}:9092", api_versions=failed)


def in_kraft(number, **said):
    return broker(number, **{"kraft": True, "controller_id": number, "quorum": ANSWERED, "leader": 0, "leader_epoch": 7, **said})


def zookeeper(**said):
    return ZookeeperReading(
        **{"answer": ANSWERED, "brokers": EVERY, "controller": 0, "controller_epoch": 1, "cluster_id": "abc", **said}
    )


def reading(seconds, *brokers, zk="healthy", controllers=()):
    """Return a reading; brokers that are left out are healthy ones."""
    told = {one.broker_id: one for one in brokers}
    rest = (told.get(number, broker(number)) for number in (0, 1, 2))
    others = (one for number, one in told.items() if number not in {0, 1, 2})
    return Reading(
        at_ms=1_000_000 + seconds * 1000,
        brokers=(*rest, *others),
        zookeeper=zookeeper() if zk == "healthy" else zk,
        controllers=controllers,
    )


def kraft(seconds, *brokers, controllers=()):
    """Return a reading of a cluster in KRaft mode."""
    told = {one.broker_id: one for one in brokers}
    return Reading(
        at_ms=1_000_000 + seconds * 1000,
        brokers=tuple(told.get(number, in_kraft(number)) for number in (0, 1, 2)),
        controllers=controllers,
    )


def after(*readings, **patience):
    """Return the state after readings."""
    state = WatchState()
    for one in readings:
        state = next_state(state, one, Patience(**patience))
    return state


def sentences(*readings, **patience):
    """Return what is suspected after readings."""
    return [one.sentence() for one in after(*readings, **patience).suspicions]


__all__ = [
    "DENIED", "EVERY", "NOT_ASKED", "REFUSED", "ControllerReading", "after", "broker", "down", "in_kraft", "kraft", "reading",
    "sentences", "zookeeper",
]  # fmt: skip
