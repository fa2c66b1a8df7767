"""Brokers that the audit reads, and the reason if a view cannot be compared."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from kafka_audit.cluster.registry import RegistrySample
from kafka_audit.cluster.views import HeldView, HeldViews
from kafka_audit.differences.found import Differences
from kafka_audit.differences.tables import ListCount, PartitionCount
from kafka_audit.model.tables import SourceRead

_BROKER = re.compile(r"broker[:@]")
_VIEW = re.compile(r"Metadata|ApiVersions")


class PartitionCounts:
    """How many partitions the reference has, and how many of them lists of topics lack."""

    def __init__(self, differences: Differences) -> None:
        """Keep the tables; nothing is read yet."""
        self._differences = differences

    @cached_property
    def partitions(self) -> int:
        """Partitions of the reference."""
        return next((row.partitions for row in self._differences.of(PartitionCount)), 0)

    @cached_property
    def missing(self) -> Mapping[str, int]:
        """How many of them a list of topics lacks, by its digest."""
        return {row.topics_digest: row.missing for row in self._differences.of(ListCount)}


@dataclass(frozen=True, kw_only=True)
class Observer:
    """A broker that the audit reads: registered now, or answering at an address of the cluster file."""

    name: str  # id, or address of a broker whose id is unknown
    registered: bool
    answered: bool  # there is a view of this cluster in the newest sample
    foreign: bool  # its view is of another cluster
    answered_by: int | None  # the broker that answers where this one is registered, and gave the only view there
    kafka_cluster_id: str | None
    listeners: tuple[str, ...]
    brokers_listed: int | None
    error: str | None  # why there is no view of this cluster; with `needs`
    needs: str | None
    brokers_gap: tuple[str | None, str | None]  # the same of its brokers, where these cannot be compared
    digests: tuple[str, ...]  # of the lists of topics in its views
    kraft: bool
    counts: PartitionCounts = field(repr=False, compare=False)

    @property
    def resource(self) -> str:
        """`broker/2`."""
        return f"broker/{self.name}"

    @property
    def partitions(self) -> int:
        """Partitions of the reference."""
        return self.counts.partitions

    @cached_property
    def listed(self) -> int:
        """How many of those are of topics in its view; 0 where it gave none."""
        missing = (self.counts.missing.get(digest, 0) for digest in self.digests)
        return self.partitions - max(missing, default=0 if self.foreign else self.partitions)

    @cached_property
    def topics_gap(self) -> tuple[str | None, str | None]:
        """Why its topics cannot be compared, and what would let them be."""
        if self.error is not None:
            return self.error, self.needs
        if self.kraft and not self.partitions:
            return "no view lists a topic", "Describe on Topic, if topics exist"
        if self.partitions and not self.listed:
            return f"its view lists none of {self.partitions} partitions", "a view with topics in it, see KA107"
        return None, None


def observers(registry: RegistrySample, views: HeldViews, differences: Differences) -> tuple[Observer, ...]:
    """Return every broker that the newest sample reads, in the order of names."""
    refused, counts = _refused(registry.samples.last_reads), PartitionCounts(differences)
    kraft = registry.state is not None and registry.state.holders is not None
    others = {str(meant): broker for (meant, _), broker in views.answered_by.items()}
    names = {str(broker) for broker in registry.brokers} | set(views.by_name)
    return tuple(
        _observer(
            name,
            registered=name.isdecimal() and int(name) in registry.brokers,
            views=views.by_name.get(name, ()),
            refused=refused.get(name),
            answered_by=others.get(name),
            kraft=kraft,
            counts=counts,
        )
        for name in sorted(names, key=_in_order)
    )


def _in_order(name: str) -> tuple[int, str]:
    """Sort ids as numbers, before addresses."""
    return (int(name), "") if name.isdecimal() else (2**63, name)


def _refused(reads: Iterable[SourceRead]) -> Mapping[str, SourceRead]:
    """Return the first read in the order of operations that a broker's view failed for, by name."""
    failed = (
        read for read in reads if read.outcome != "answered" and _BROKER.match(read.observer) and _VIEW.match(read.operation)
    )
    found: dict[str, SourceRead] = {}
    for read in sorted(failed, key=lambda read: read.operation):
        found.setdefault(read.observer[len("broker:") :], read)
    return found


def _observer(  # noqa: PLR0913 -- what is known of it
    name: str,
    *,
    registered: bool,
    views: tuple[HeldView, ...],
    refused: SourceRead | None,
    answered_by: int | None,
    kraft: bool,
    counts: PartitionCounts,
) -> Observer:
    foreign = bool(views) and all(view.foreign for view in views)
    reported = min((view.row.kafka_cluster_id for view in views if view.row.kafka_cluster_id is not None), default=None)
    error = needs = None
    if foreign:
        error, needs = f"its view belongs to cluster {reported}", "a broker of this cluster at that address"
    elif not views and answered_by is not None:
        error, needs = f"broker {answered_by} answers at its address", f"an address at which broker {name} answers"
    elif not views:
        error = (refused and refused.error) or "it was not read"
        needs = (refused and refused.needs) or f"an answer from broker {name} to Metadata"
    brokers_listed = min((view.row.brokers_listed for view in views), default=None)
    brokers: tuple[str | None, str | None] = (error, needs)
    if error is None and brokers_listed == 0:
        brokers = "its view lists no broker", "a view with brokers in it, see KA105"
    elif error is None and not any(view.known_listener for view in views):
        brokers = "it was read on a listener that is not registered", "an answer on a registered listener"
    return Observer(
        name=name,
        registered=registered,
        answered=bool(views) and not foreign,
        foreign=foreign,
        answered_by=None if views else answered_by,
        kafka_cluster_id=reported,
        listeners=tuple(sorted({view.row.listener for view in views})),
        brokers_listed=brokers_listed,
        error=error,
        needs=needs,
        brokers_gap=brokers,
        digests=tuple(view.row.topics_digest for view in views if not view.foreign),
        kraft=kraft,
        counts=counts,
    )
