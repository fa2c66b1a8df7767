"""The samples that one judgement rests on, each with its registry and its views: now, before, and in the previous snapshot."""

from collections.abc import Iterable, Mapping

from kafka_audit.cluster.registry import RegistrySample
from kafka_audit.cluster.samples import Samples
from kafka_audit.cluster.views import HeldViews
from kafka_audit.differences.tables import ListAge
from kafka_audit.model.tables import Snapshot

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
