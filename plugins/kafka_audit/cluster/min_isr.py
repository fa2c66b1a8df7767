"""What is known of min.insync.replicas: the brokers' own setting, and whether what topics set for themselves was read."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from kafka_audit.model.tables import BrokerConfig, SourceRead

KEY = "min.insync.replicas"


@dataclass(frozen=True, kw_only=True)
class MinIsrGap:
    """Why min.insync.replicas is not known of every partition."""

    whole: bool  # what topics set for themselves was not read at all, so that it is known of no partition
    topics_unread: bool  # of some topics
    error: str
    needs: str


def broker_defaults(configs: Iterable[BrokerConfig], brokers: Collection[int]) -> Mapping[int, int | None]:
    """Return min.insync.replicas of topics without a topic setting, by the leading broker.

    It is the broker's own setting, else the one that all others have; None where that is unknown.
    """
    own = _settings(configs)
    values = set(own.values())
    common = values.pop() if len(values) == 1 else None
    return {broker: own.get(broker, common) for broker in brokers}


def min_isr_gap(
    reads: Iterable[SourceRead], configs: Iterable[BrokerConfig], brokers: Collection[int], *, kraft: bool
) -> MinIsrGap | None:
    """Return why min.insync.replicas is not known of every partition; None where it is.

    Args:
        reads: every read as it ended when it was asked last.
        configs: settings of brokers.
        brokers: those that are registered.
        kraft: there is no ZooKeeper.
    """
    asked = [read for read in reads if read.operation.startswith("zookeeper /config/topics") or read.operation == _DESCRIBE]
    answered = any(read.outcome == "answered" and read.operation in {"zookeeper /config/topics", _DESCRIBE} for read in asked)
    failed = [read for read in asked if read.outcome == "failed"]
    if failed or not answered:
        last = max(failed, key=lambda read: (read.error or "", read.needs or ""), default=None)
        error = f"topic configurations were not read: {(last and last.error) or 'no source was read'}"
        needs = (last and last.needs) or ("DescribeConfigs on Topic" if kraft else "a ZooKeeper that answers")
        return MinIsrGap(whole=not answered, topics_unread=True, error=error, needs=needs)
    own = _settings(configs)
    known = [own[broker] for broker in brokers if broker in own]
    if not known or (len(known) < len(brokers) and len(set(known)) > 1):
        error, needs = "not every broker reported min.insync.replicas", "DescribeConfigs on Cluster"
        return MinIsrGap(whole=False, topics_unread=False, error=error, needs=needs)
    return None


_DESCRIBE = "DescribeConfigs TOPIC"


def _settings(configs: Iterable[BrokerConfig]) -> Mapping[int, int]:
    found = {}
    for row in configs:
        if row.key == KEY and row.value is not None and row.value.strip().isdecimal():
            found[row.broker_id] = int(row.value)
    return found
