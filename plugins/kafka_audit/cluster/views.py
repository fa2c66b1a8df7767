"""Views of brokers with who held them, in one sample, and the samples that one judgement rests on."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from kafka_audit.cluster.broker_lists import answering
from kafka_audit.cluster.registry import RegistrySample
from kafka_audit.cluster.samples import Samples
from kafka_audit.differences.tables import ListAge
from kafka_audit.model.tables import BrokerView, Snapshot


@dataclass(frozen=True, kw_only=True)
class HeldView:
    """A view with who held it.

    `name` is the broker's id, or the address of a broker whose id is unknown. An address that no broker registered, or at which
    another one than that answers, counts as the broker that the socket says it is.
    """

    row: BrokerView
    name: str
    broker_id: int  # -1: unknown
    registered: bool
    foreign: bool  # it is of another cluster, so its topics are not compared
    at_another: bool  # it was given at the address of another broker
    known_listener: bool  # a broker has registered the listener


class HeldViews:
    """The views of one sample."""

    def __init__(self, registry: RegistrySample, samples: Samples | None = None) -> None:
        """Keep the registry of the same sample; `samples` has more views than those that it was made of."""
        self._registry = registry
        self._samples = samples or registry.samples

    @cached_property
    def all(self) -> tuple[HeldView, ...]:
        """Every view, those of other clusters included; one of each broker and listener, as it gave it at its own address."""
        registry = self._registry
        right = None if registry.state is None else registry.state.kafka_cluster_id
        found = [self._held(row, right) for row in self._samples.at(BrokerView, registry.sample)]
        own = {(view.name, view.row.listener) for view in found if not view.at_another}
        return tuple(view for view in found if not view.at_another or (view.name, view.row.listener) not in own)

    @cached_property
    def answered_by(self) -> Mapping[tuple[int, str], int]:
        """Which broker answers where another one, or none, is registered, by the id that was meant and the address."""
        return answering(self._registry.samples, self._registry.sample)

    @cached_property
    def by_name(self) -> Mapping[str, tuple[HeldView, ...]]:
        """Views by who held them."""
        found: dict[str, list[HeldView]] = {}
        for view in self.all:
            found.setdefault(view.name, []).append(view)
        return {name: tuple(views) for name, views in found.items()}

    def _held(self, row: BrokerView, right: str | None) -> HeldView:
        foreign = row.kafka_cluster_id is not None and right is not None and row.kafka_cluster_id != right
        answered = None if foreign else self.answered_by.get((row.broker_id, row.address))
        broker = row.broker_id if answered is None else answered
        registered = broker in self._registry.brokers and row.kafka_cluster_id == right
        known = None if broker == -1 or (row.broker_id == -1 and not registered) else broker
        return HeldView(
            row=row,
            name=row.observer[len("broker:") :] if known is None else str(known),
            broker_id=-1 if known is None else known,
            registered=registered,
            foreign=foreign,
            at_another=answered is not None and row.broker_id >= 0,
            known_listener=row.listener in self._registry.listeners,
        )


NOW, BEFORE, PREVIOUS = "now", "before", "previous"


class Moments:
    """A judged snapshot's newest sample, the sample before it, and the newest sample of the previous snapshot."""

    def __init__(self, snapshot: Snapshot, previous: Snapshot | None, ages: Iterable[ListAge]) -> None:
        """Keep the small tables of both snapshots; `ages` as KRaft brokers' lists were compared."""
        self.samples = Samples(snapshot)
        self.samples_earlier = Samples(previous)
        by_moment: dict[str, dict[str, int]] = {NOW: {}, BEFORE: {}, PREVIOUS: {}}
        for row in ages:
            by_moment[row.moment][row.topics_digest] = row.age
        newest, before = self.samples.numbers
        self.now = RegistrySample(self.samples, newest, by_moment[NOW])
        self.before = RegistrySample(self.samples, before, by_moment[BEFORE])
        self.previous = RegistrySample(self.samples_earlier, self.samples_earlier.numbers[0], by_moment[PREVIOUS])
        self.views, self.views_before = HeldViews(self.now), HeldViews(self.before)

    @property
    def by_name(self) -> Mapping[str, RegistrySample]:
        """The registry of each moment that there is."""
        named = {NOW: self.now, BEFORE: self.before, PREVIOUS: self.previous}
        return {name: registry for name, registry in named.items() if registry.sample is not None}

    @property
    def steady(self) -> bool:
        """Whether there are two samples, and the controller and the list of brokers were not written between them."""
        now, before = self.now.state, self.before.state
        if before is None or self.before.sample is None:
            return False
        if now is None:
            return before.controller_version is None and before.brokers_version is None
        return (now.controller_version, now.brokers_version) == (before.controller_version, before.brokers_version)
