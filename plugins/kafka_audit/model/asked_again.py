"""Samples that ask only some parties again: whose row is each, and what such a sample holds.

What a sample did not ask again holds as the sample before had it, once: it was seen in one sample, and counts as seen in one.
"""

from collections.abc import Collection, Iterable

from kafka_audit.model.cluster import WORKER
from kafka_audit.model.tables import (
    AddressProbe,
    BrokerIdentity,
    Certificate,
    ControllerProbe,
    ControllerProbeFromBroker,
    LogLine,
    Probe,
    ProcessLine,
    Row,
    VoterProbe,
    ZookeeperProbe,
)

ZOOKEEPER = "zookeeper"
"""The observer of what ZooKeeper holds: a party that every sample asks, of its topics only those in doubt."""

VANTAGE = "vantage:"
"""How the names of observers begin that are vantages besides this worker."""

_ZOOKEEPER_LISTENER = "ZOOKEEPER"
_NEVER = ""  # a party that only a whole sample asks


def party(row: Row) -> str:
    """Return the party that gave a row of one sample, by the name of its observer."""
    if isinstance(row, Probe | AddressProbe | Certificate):
        if row.vantage != WORKER:
            return f"{VANTAGE}{row.vantage}"
        return ZOOKEEPER if getattr(row, "listener", "") == _ZOOKEEPER_LISTENER else f"broker:{row.broker_id}"
    if isinstance(row, BrokerIdentity):
        return f"broker:{row.broker_id}" if row.broker_id >= 0 else f"broker@{row.address}"
    if isinstance(row, ControllerProbe | ControllerProbeFromBroker | VoterProbe | ZookeeperProbe | LogLine | ProcessLine):
        return _NEVER
    observer: str = getattr(row, "observer", ZOOKEEPER)
    return observer


def with_others(rows: Iterable[Row], before: Iterable[Row], again: Collection[str]) -> list[Row]:
    """Return the rows of a sample, and of the sample before those of parties that it did not ask again.

    Args:
        rows: of the sample.
        before: of the sample before.
        again: the parties that it asked.
    """
    return [*rows, *(row for row in before if party(row) not in again)]


def of_both(before: Iterable[Row], again: Collection[str]) -> list[Row]:
    """Return those rows of a sample that the next one, which asked only these parties, may confirm."""
    return [row for row in before if party(row) in again]
