"""What brokers do about replication: whether topics may ask for more than they have, and which partitions are reassigned."""

from collections import defaultdict
from collections.abc import Iterable

from kafka_audit.cluster.samples import Samples
from kafka_audit.differences.tables import Reassigned
from kafka_audit.model.tables import BrokerApi, Reassignment

_FETCH, _CAPPED_FROM = 1, 16


def capped(apis: Iterable[BrokerApi]) -> frozenset[int]:
    """Return brokers of Kafka 3.7 or later (Fetch version 16), where no topic needs more in sync than it has replicas."""
    return frozenset(row.broker_id for row in apis if row.api_key == _FETCH and row.max_version >= _CAPPED_FROM)


def reassigned(samples: Samples, sample: int | None, moment: str) -> tuple[Reassigned, ...]:
    """Return partitions under reassignment in a sample, from all observers, with all added and removed replicas."""
    found: dict[tuple[str, int], tuple[set[int], set[int]]] = defaultdict(lambda: (set(), set()))
    for row in samples.at(Reassignment, sample):
        adding, removing = found[row.topic, row.partition]
        adding.update(row.adding)
        removing.update(row.removing)
    return tuple(
        Reassigned(
            moment=moment, topic=topic, partition=partition, adding=tuple(sorted(adding)), removing=tuple(sorted(removing))
        )
        for (topic, partition), (adding, removing) in sorted(found.items())
    )
