"""Whose views count where no ZooKeeper decides: one party can list any number of ids at addresses of its own. Pure."""

from collections import Counter
from collections.abc import Collection

from kafka_audit.compare.addresses import canonical_text
from kafka_audit.watch.reading import BrokerReading, Reading

HALF = 0.5


def electorate(reading: Reading) -> tuple[BrokerReading, ...]:
    """Return the brokers that list any and whose views count where no ZooKeeper decides.

    A party can list any number of ids at addresses of its own, which then list each other. So these are the brokers that are
    vouched for, and those that more than half of them list; all that answer where none of them does. One address has one view.
    """
    views = list({canonical_text(broker.address): broker for broker in reversed(reading.brokers) if broker.lists}.values())[::-1]
    brokers = [broker for broker in views if broker.broker_id is not None]
    vouched = [broker for broker in brokers if broker.vouched] or [broker for broker in views if broker.vouched]
    if not vouched:
        return tuple(brokers or views)
    listed = shares(vouched)
    return tuple(broker for broker in brokers if broker.vouched or listed.get(broker.broker_id or 0, 0) > HALF) or tuple(vouched)


def shares(views: Collection[BrokerReading]) -> dict[int, float]:
    """Return by how many of these views each broker is listed, as a share of 1."""
    listed: Counter[int] = Counter()
    for ids, times in Counter(broker.lists or frozenset() for broker in views).items():  # views of honest brokers are equal
        for broker in ids:
            listed[broker] += times
    return {broker: times / len(views) for broker, times in listed.items()}
