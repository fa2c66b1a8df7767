"""KRaft: the distinct lists of brokers and topics that brokers hold, and which of them is the newest.

Every KRaft broker follows one log, so of two lists one is older: where they differ in a partition of the same topic id, it is
the one with the lower leader epoch. If no epoch decides, the list of more brokers is newer: the list of a broker that is cut
off no longer changes. Source: `org.apache.kafka.metadata.KRaftMetadataCache`, KIP-631 (one metadata log; fenced brokers are
left out of Metadata).
"""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace

from kafka_audit.cluster.samples import Samples
from kafka_audit.model.tables import BrokerIdentity, BrokerView, ViewBroker


@dataclass(frozen=True, kw_only=True)
class BrokerList:
    """One list and who holds it. `place` 1 is the newest; where several share it, nothing puts them in an order."""

    kafka_cluster_id: str | None
    topics_digest: str
    brokers: Mapping[int, ViewBroker]  # as listed on the first of the addresses
    address: str  # the first in the order of names on which it was given
    names: tuple[str, ...]  # of the brokers that hold it, sorted
    place: int = 1


def broker_lists(samples: Samples, sample: int | None, ages: Mapping[str, int]) -> tuple[BrokerList, ...]:
    """Return the lists of one sample of a KRaft snapshot, the newest first.

    None where one broker alone gave a view and lists others: it may be the one that is cut off, as a broker that no longer hears
    of the controllers lists the others for ever. One that lists itself alone heard that the others went, or there are none.

    Empty lists are left out, and those of another cluster than most brokers are of. `ages`: the sums of leader epochs by digest
    of topics, see `differences.tables.ListAge`.
    """
    views = samples.at(BrokerView, sample) if samples.kraft else ()
    names = _names(samples, sample, views)
    holders: dict[str | None, set[str]] = defaultdict(set)
    for view in views:
        holders[view.kafka_cluster_id].add(names[view.address, view.broker_id])
    several = max(map(len, holders.values()), default=0) > 1
    if not several and (len(holders) != 1 or any(view.brokers_listed > 1 for view in views)):
        return ()
    most = max(holders, key=lambda cluster: (len(holders[cluster]), cluster is not None, cluster or ""))
    listed = _listed(samples)
    same: dict[tuple[str, frozenset[int]], list[BrokerView]] = defaultdict(list)
    for view in views:
        if view.kafka_cluster_id == most and view.brokers_listed > 0 and view.brokers_digest in listed:
            same[view.topics_digest, frozenset(listed[view.brokers_digest])].append(view)
    found = [
        BrokerList(
            kafka_cluster_id=most,
            topics_digest=digest,
            brokers=listed[min(views, key=lambda view: view.address).brokers_digest],
            address=min(view.address for view in views),
            names=tuple(sorted({names[view.address, view.broker_id] for view in views})),
        )
        for (digest, _), views in same.items()
    ]
    return _ranked(found, ages)


def _ranked(lists: list[BrokerList], ages: Mapping[str, int]) -> tuple[BrokerList, ...]:
    def rank(broker_list: BrokerList) -> tuple[int, int]:
        return (-ages.get(broker_list.topics_digest, 0), -len(broker_list.names))

    ranks = [rank(broker_list) for broker_list in lists]
    placed = (
        replace(broker_list, place=1 + sum(other < rank for other in ranks))
        for broker_list, rank in zip(lists, ranks, strict=True)
    )
    return tuple(sorted(placed, key=lambda broker_list: (broker_list.place, broker_list.address)))


def newest_lists(lists: tuple[BrokerList, ...]) -> tuple[BrokerList, ...]:
    """Return the lists that share the first place."""
    return tuple(broker_list for broker_list in lists if broker_list.place == 1)


def _names(samples: Samples, sample: int | None, views: tuple[BrokerView, ...]) -> Mapping[tuple[str, int], str]:
    """Return who holds each view, by address and broker id: the id, or the address of a broker whose id is unknown."""
    answered = answering(samples, sample)
    found = {}
    for view in views:
        broker = answered.get((view.broker_id, view.address), None if view.broker_id == -1 else view.broker_id)
        found[view.address, view.broker_id] = view.address if broker is None else str(broker)
    return found


def answering(samples: Samples, sample: int | None) -> Mapping[tuple[int, str], int]:
    """Return which broker answers where another one, or none, is registered, by the id that was meant and the address."""
    return {
        (row.broker_id, row.address): row.answered_by
        for row in samples.at(BrokerIdentity, sample)
        if row.answered_by not in {None, row.broker_id}
    }


def _listed(samples: Samples) -> Mapping[str, Mapping[int, ViewBroker]]:
    found: dict[str, dict[int, ViewBroker]] = defaultdict(dict)
    for row in samples.of(ViewBroker):
        found[row.brokers_digest][row.broker_id] = row
    return found
