"""Whether one look is enough, and when to look again. Pure: rows of samples in, words and seconds out.

A difference counts only when it is there in two looks and nothing that it rests on changed in between. So a second look is
taken when the first one shows a difference, and further ones while the ground moves.
"""

from collections.abc import Iterable

from kafka_audit.collect import differences
from kafka_audit.collect.differences import Differences, Tables
from kafka_audit.collect.probes import WORKER
from kafka_audit.collect.reads import CONTRADICTS_ZOOKEEPER, clean
from kafka_audit.collect.zookeeper_security import ZOOKEEPER
from kafka_audit.model.tables import BrokerConfig, Probe, RegisteredBroker, RegisteredPartition, Row, SourceRead

MOST_SAMPLES = 4
SESSION_S = 18.0
"""Kafka's default zookeeper.session.timeout.ms since 2.5, for where no broker tells its own."""

TICK_S = 3.0
"""ZooKeeper ends sessions at its ticks, so up to a default tickTime late."""

LEASE_S = 9.0
"""Kafka's default broker.session.timeout.ms: for so long a KRaft controller believes in a broker that it does not hear."""

MOST_SESSION_S = 60.0
"""Longest session that is waited for: ZooKeeper grants 40 s by default, whatever a broker asks for."""

_DIGITS = 9
_SESSION_KEY, _LEASE_KEY = "zookeeper.session.timeout.ms", "broker.session.timeout.ms"
_REASONS = 3


def why_again(rows: Iterable[Row], expect_brokers: int | None = None) -> str | None:
    """Return in words why the first sample needs a second, None if it does not.

    Args:
        rows: everything of one sample, view tables included.
        expect_brokers: how many the cluster file says there are.
    """
    return _told(differences.find(Tables(rows), expect_brokers))


def why_once_more(before: Iterable[Row], now: Iterable[Row], expect_brokers: int | None = None) -> str | None:
    """Return in words why a look after these two is needed, None when there is no difference or it has settled.

    Args:
        before: everything of the sample before the newest, view tables included.
        now: everything of the newest sample.
        expect_brokers: how many the cluster file says there are.
    """
    old, new = Tables(before), Tables(now)
    found = differences.find(new, expect_brokers)
    reason = _told(found)
    if reason is None:
        return None
    return _moved(old, new, found) or (reason if set(found.all()) - set(differences.find(old, expect_brokers).all()) else None)


def session_wait(rows: Iterable[Row]) -> float:
    """Return how many seconds a broker that is registered but refuses connections needs to be gone; 0 where none is like that.

    A killed broker stays registered until its ZooKeeper session ends, and is listed until its KRaft controller fences it: before
    that it cannot be told from one whose port is closed by a firewall. Restarted in KRaft mode, it contradicts ZooKeeper until
    its session ends.
    """
    tables = Tables(rows)
    with_zookeeper = any(one.observer == ZOOKEEPER for one in tables.of(SourceRead)) or tables.registry() is not None
    registered = {one.broker_id for one in (tables.of(RegisteredBroker) if with_zookeeper else tables.of(Probe))}
    key, default_s = (_SESSION_KEY, SESSION_S) if with_zookeeper else (_LEASE_KEY, LEASE_S)
    tried = [one for one in tables.of(Probe) if one.vantage == WORKER and one.layer == "tcp"]
    refusing = {one.broker_id for one in tried if one.error == "connection refused"}
    contradicts = any(one.error == CONTRADICTS_ZOOKEEPER for one in tables.of(SourceRead))
    if not registered & refusing and not contradicts:
        return 0.0
    values = [one.value for one in tables.of(BrokerConfig) if one.key == key and one.value and one.value.isdecimal()]
    told = [int(one) for one in values if len(one) <= _DIGITS]
    return min(max(told) / 1000 if told else default_s, MOST_SESSION_S) + TICK_S


def _told(found: Differences) -> str | None:
    if not found.reasons:
        return None
    more = len(found.reasons) - _REASONS
    return "; ".join(found.reasons[:_REASONS]) + (f"; and {more} more" if more > 0 else "")


def _moved(old: Tables, new: Tables, found: Differences) -> str | None:
    """Return what changed in ZooKeeper under the differences of the newest sample."""
    before, now = old.registry(), new.registry()
    if before is None or now is None:
        return None
    if before.brokers_pzxid != now.brokers_pzxid:
        return "brokers came or went since the sample before"
    if before.controller_mzxid != now.controller_mzxid:
        return "the controller changed since the sample before"
    topics = {key[1] for _, key in found.all() if key[0] == "topic"}
    partitions = {(key[1], key[2]) for _, key in found.all() if key[0] == "partition"}
    if not topics and not partitions:
        return None
    states = {(one.topic, one.partition): one.state_mzxid for one in old.of(RegisteredPartition)}
    for one in new.of(RegisteredPartition):
        place = (one.topic, one.partition)
        if (one.topic in topics or place in partitions) and states.get(place, one.state_mzxid) != one.state_mzxid:
            return f"the state of {clean(one.topic, 60)}-{one.partition} changed since the sample before"
    return None
