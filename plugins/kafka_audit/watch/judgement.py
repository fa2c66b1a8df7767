"""From readings to suspicions: what looks wrong for long enough, in at least two readings in a row. Pure.

The times are those of a rolling restart that heals by itself. A broker that stops by SIGTERM keeps its registration for at most
1.6 s after its port closes, and brokers disagree for at most 0.3 s: what a broker that is registered, or a view, shows for
`PATIENCE_S` is none of it. A broker that is no longer registered may be in a restart, which takes 10 to 60 s; it is suspected
after `Patience.grace_s`. Killed and stalled brokers lose their registration within 18 s, so the grace decides how soon they are
suspected where no reading falls into these 18 s. A controller that does not answer has no registration, and waits as long.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from kafka_audit.model.tables import RegisteredEndpoint
from kafka_audit.watch.observe import observations
from kafka_audit.watch.reading import Reading
from kafka_audit.watch.seen_cluster import SeenCluster
from kafka_audit.watch.suspicions import Observation, Suspicion

PATIENCE_S = 10.0
"""Seconds for which a fault is seen before it is suspected. Elections, and brokers that lose a race with one, take fewer."""

FORGOTTEN_S = 3600.0
"""Seconds after which a broker that is not registered and does not answer no longer belongs to the cluster."""

GAP_S = 300.0
"""Seconds between two readings after which they are not in a row: the watch was not running."""

MOST_SYMPTOMS = 500
"""Symptoms that are remembered: a party that lists or registers ever other brokers could go on for ever."""

ELECTIONS_S = 600.0
"""Seconds in which elections of the quorum are counted; they end, and so does what is suspected of them."""

_MOST_EPOCHS = 20
_READINGS = 2


@dataclass(frozen=True, kw_only=True)
class Patience:
    """`grace_s` is how many seconds a broker that is not registered may be away before it is suspected."""

    grace_s: float = 30.0


@dataclass(frozen=True, kw_only=True)
class WatchSymptom:
    """An observation that was made in each of the last `readings`, two at most, since `since_ms`."""

    observation: Observation
    since_ms: int
    readings: int
    suspected: bool = False


@dataclass(frozen=True, kw_only=True)
class WatchState:
    """What is remembered between readings.

    Attributes:
        at_ms: of the last reading; 0 before the first one.
        endpoints: where each known broker listens, or did, longest known first; at most `limits.brokers`.
        known_ms: since when each of them has been known as registered; any party may list others.
        away_ms: since when brokers that are not registered have not answered.
        epochs: of the metadata quorum and since when, of the last `ELECTIONS_S`.
        committed: the high watermark of the metadata log in the last reading, which is not saved.
        symptoms: what looks wrong, by key.
    """

    at_ms: int = 0
    endpoints: Mapping[int, tuple[RegisteredEndpoint, ...]] = field(default_factory=lambda: MappingProxyType({}))
    known_ms: Mapping[int, int] = field(default_factory=lambda: MappingProxyType({}))
    away_ms: Mapping[int, int] = field(default_factory=lambda: MappingProxyType({}))
    epochs: tuple[tuple[int, int], ...] = ()
    committed: int | None = None
    symptoms: Mapping[str, WatchSymptom] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def suspicions(self) -> tuple[Suspicion, ...]:
        """What is suspected now, the longest first."""
        found = sorted((symptom.since_ms, key, symptom) for key, symptom in self.symptoms.items() if symptom.suspected)
        return tuple(Suspicion(observation=symptom.observation, since_ms=symptom.since_ms) for _, _, symptom in found)

    @property
    def unsettled(self) -> bool:
        """Whether something looks wrong that is not suspected: readings that decide should come soon."""
        return any(not symptom.suspected for symptom in self.symptoms.values())


def next_state(
    state: WatchState, reading: Reading, patience: Patience | None = None, cluster_id: str | None = None
) -> WatchState:
    """Return what is known after a reading.

    Args:
        state: after the reading before.
        reading: of now.
        patience: how long a fault must last.
        cluster_id: of the cluster file.
    """
    patience = patience or Patience()
    seen = SeenCluster(reading, cluster_id)
    symptoms, in_a_row = {}, reading.at_ms - state.at_ms < GAP_S * 1000
    epochs = _epochs(state, seen)
    for observation in observations(seen, state.committed if in_a_row else None, epochs[-1][1] - epochs[0][1] if epochs else 0):
        earlier = state.symptoms.get(observation.key)
        if earlier is None or not (in_a_row or earlier.suspected) or not observation.continues(earlier.observation):
            earlier = WatchSymptom(observation=observation, since_ms=reading.at_ms, readings=0)
        now = replace(earlier, observation=observation, readings=min(earlier.readings + 1, _READINGS))
        symptoms[observation.key] = replace(now, suspected=earlier.suspected or _lasts(now, reading.at_ms, patience))
    away = _away(state, seen)
    forgotten = {number for number, since in away.items() if reading.at_ms - since >= FORGOTTEN_S * 1000}
    endpoints = {number: places for number, places in reading.endpoints.items() if number not in forgotten}
    symptoms = {key: symptom for key, symptom in symptoms.items() if symptom.observation.broker not in forgotten}
    return WatchState(
        at_ms=reading.at_ms,
        endpoints=endpoints,
        known_ms=_known(state, seen, endpoints),
        away_ms={number: since for number, since in away.items() if number not in forgotten},
        epochs=epochs,
        committed=seen.committed,
        symptoms=_first_symptoms(symptoms, endpoints),
    )


def new_suspicions(before: WatchState, after: WatchState) -> tuple[Suspicion, ...]:
    """Return what is suspected now and was not before."""
    known = {key for key, symptom in before.symptoms.items() if symptom.suspected}
    return tuple(suspicion for suspicion in after.suspicions if suspicion.observation.key not in known)


def _lasts(symptom: WatchSymptom, at_ms: int, patience: Patience) -> bool:
    seconds = patience.grace_s if symptom.observation.may_be_restart else min(PATIENCE_S, patience.grace_s)
    return symptom.readings >= _READINGS and at_ms - symptom.since_ms >= seconds * 1000


def _epochs(state: WatchState, seen: SeenCluster) -> tuple[tuple[int, int], ...]:
    """Return since when each of the last epochs of the quorum was seen, first the one before `ELECTIONS_S`; few are kept."""
    epochs, at_ms = state.epochs, seen.reading.at_ms
    if seen.epoch is not None and (not epochs or epochs[-1][1] != seen.epoch):
        epochs = (*epochs, (at_ms, seen.epoch))
    since = at_ms - ELECTIONS_S * 1000
    while len(epochs) > 1 and epochs[1][0] <= since:
        epochs = epochs[1:]
    return (*epochs[:1], *epochs[1:][-_MOST_EPOCHS:])


def _known(state: WatchState, seen: SeenCluster, endpoints: Collection[int]) -> dict[int, int]:
    """Return since when brokers are known as registered: by ZooKeeper or several views, or by one view where they answer too."""
    registered, at_ms = seen.registered or frozenset(), seen.reading.at_ms
    if seen.zookeeper is None and len(seen.counted) == 1:
        registered &= {number for number, broker in seen.brokers.items() if broker.metadata.answered}
    known = {number: since for number, since in state.known_ms.items() if number in endpoints}
    return known | {number: at_ms for number in endpoints if number in registered and number not in known}


def _first_symptoms(symptoms: Mapping[str, WatchSymptom], endpoints: Iterable[int]) -> dict[str, WatchSymptom]:
    """Return at most `MOST_SYMPTOMS`: those of the cluster first, then those of brokers in the order of `endpoints`."""
    order = {number: place for place, number in enumerate(endpoints, 1)}

    def place(key: str) -> int:
        broker = symptoms[key].observation.broker
        return 0 if broker is None else order.get(broker, len(order) + 1)

    return {key: symptoms[key] for key in sorted(symptoms, key=place)[:MOST_SYMPTOMS]}


def _away(state: WatchState, seen: SeenCluster) -> dict[int, int]:
    if seen.registered is None:
        return dict(state.away_ms)
    silent = {number for number, broker in seen.brokers.items() if broker.api_versions.failed}
    return {number: state.away_ms.get(number, seen.reading.at_ms) for number in sorted(silent - seen.registered)}
