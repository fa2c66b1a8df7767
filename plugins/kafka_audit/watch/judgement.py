"""From readings to suspicions: what looks wrong in one reading, and for long enough, in at least two readings in a row. Pure.

The times are those of a rolling restart that heals by itself. A broker that stops by SIGTERM keeps its registration for at most
1.6 s after its port closes, and brokers disagree for at most 0.3 s: what a broker that is registered, or a view, shows for
`PATIENCE_S` is none of it. A broker that is no longer registered may be in a restart, which takes 10 to 60 s; it is suspected
after `Patience.grace_s`. Killed and stalled brokers lose their registration within 18 s, so the grace decides how soon they are
suspected where no reading falls into these 18 s. A controller that does not answer has no registration, and waits as long.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from kafka_audit.cluster.disagreements import Claim
from kafka_audit.model.cluster import Expect
from kafka_audit.model.quorum import most_elections, unapplied
from kafka_audit.model.tables import QuorumView, RegisteredEndpoint
from kafka_audit.watch.reading import BrokerReading, ControllerReading, Reading
from kafka_audit.watch.seen_cluster import SeenCluster
from kafka_audit.watch.suspicions import MOST_NAMED, Observation, Suspicion, WatchFault


def observations(
    seen: SeenCluster,
    committed: int | None = None,
    elected: int = 0,
    returned: Iterable[int] = (),
    expected: int | None = None,
) -> tuple[Observation, ...]:
    """Return everything that looks wrong.

    Args:
        seen: what the reading shows; it includes brokers that were known earlier, with the answer that they gave now.
        committed: the high watermark of the metadata log in the reading before; None if it is unknown.
        elected: by how much the epoch of the quorum rose lately.
        returned: brokers that came back again and again lately.
        expected: how many brokers the cluster file expects.
    """
    known = (seen.brokers[number] for number in returned if number in seen.brokers)
    return (
        *_unreachable(seen),
        *_down(seen),
        *_never_known(seen, expected or 0),
        *(_of(WatchFault.COMES_AND_GOES, broker) for broker in known),
        *_views(seen),
        *_controller(seen),
        *(_quorum(seen, committed, elected) if seen.kraft else ()),
    )


def _unreachable(seen: SeenCluster) -> Iterator[Observation]:
    """Yield that ZooKeeper does not answer; that no broker is known, and no bootstrap address answers."""
    reading = seen.reading
    asked = [broker.api_versions for broker in reading.brokers]
    if asked and not seen.brokers and all(answer.failed for answer in asked):
        yield Observation(fault=WatchFault.CLUSTER_UNREACHABLE, error=asked[0].error)
    if reading.zookeeper is not None and reading.zookeeper.answer.failed:
        yield Observation(fault=WatchFault.ZOOKEEPER_UNREACHABLE, error=reading.zookeeper.answer.error)


def _down(seen: SeenCluster) -> Iterator[Observation]:
    for number, broker in sorted(seen.brokers.items()):
        failed = next((answer for answer in (broker.api_versions, broker.metadata) if answer.failed), None)
        if broker.process is not None:
            yield _of(WatchFault.PROCESS_DOWN, broker, error=broker.process)
        elif failed is not None:
            fault = WatchFault.NO_ANSWER if number in (seen.registered or ()) else WatchFault.GONE
            yield Observation(fault=fault, broker=number, address=broker.address, error=failed.error)


def _never_known(seen: SeenCluster, expected: int) -> Iterator[Observation]:
    """Yield the addresses of the cluster file at which none answers, and how many brokers are missing beside these."""
    if not seen.brokers:
        return  # the cluster is unreachable
    silent = [party for party in seen.reading.brokers if party.broker_id is None and party.api_versions.failed]
    for party in silent:
        yield Observation(fault=WatchFault.ADDRESS_SILENT, address=party.address, error=party.api_versions.error)
    found = seen.brokers.keys() | (seen.registered or ())
    if seen.registered is not None and len(found) + len(silent) < expected:
        yield Observation(fault=WatchFault.BROKERS_MISSING, reported=len(found), expected=expected)


def _views(seen: SeenCluster) -> Iterator[Observation]:
    """Yield how views differ in what checks judge: KA105, KA106, KA110, KA113 and KA202."""
    for number, broker in sorted(seen.brokers.items()):
        found: dict[str, list[Claim]] = {}
        for claim in seen.claims.get(number, ()):
            found.setdefault(claim.kind, []).append(claim)
        if "empty_view" in found:  # it names no controller either: that is one symptom, not two
            yield _of(WatchFault.VIEW_EMPTY, broker)
        elif "unlisted" in found or (seen.zookeeper is not None and broker.lists and number not in seen.zookeeper.brokers):
            yield _of(WatchFault.NOT_LISTED, broker)
        else:
            missing, elsewhere = (_subjects(found.get(kind, ())) for kind in ("broker_missing", "endpoint"))
            if missing or elsewhere:
                yield _of(WatchFault.VIEW_DIFFERS, broker, missing=missing, elsewhere=elsewhere)
            expected = None if seen.registry.state is None else seen.registry.state.controller_id
            for claim in found.get("controller", ()):
                yield _of(WatchFault.CONTROLLER_DIFFERS, broker, reported=claim.subject, expected=expected)
        for claim in found.get("cluster_id", ()):
            yield _of(WatchFault.CLUSTER_ID_DIFFERS, broker, ids=(claim.view, claim.reference))


def _of(fault: WatchFault, broker: BrokerReading, **details: object) -> Observation:
    return Observation(fault=fault, broker=broker.broker_id, address=broker.address, **details)  # type: ignore[arg-type]


def _subjects(claims: Iterable[Claim]) -> tuple[int, ...]:
    return tuple(sorted({claim.subject for claim in claims if claim.subject is not None})[:MOST_NAMED])


def _controller(seen: SeenCluster) -> Iterator[Observation]:
    zookeeper = seen.zookeeper
    state = seen.registry.state
    if zookeeper is not None and not zookeeper.claimed and state is not None and state.controller_id is None:
        yield Observation(fault=WatchFault.NO_CONTROLLER)


def _quorum(seen: SeenCluster, committed: int | None, elected: int) -> Iterator[Observation]:
    quorum, newest = seen.quorum.now, seen.quorum.now.newest
    for controller in seen.reading.controllers:
        if controller.answer.failed:
            yield Observation(fault=WatchFault.NO_ANSWER, address=controller.address, error=controller.answer.error)
    if newest is None:
        if quorum.leaderless or seen.quorum.unanswered:
            yield Observation(fault=WatchFault.NO_QUORUM_LEADER)
        return
    if elected > most_elections(len(quorum.voters)):
        yield Observation(fault=WatchFault.QUORUM_ELECTS)
    yield from _leaders(seen, newest)
    yield from _followers(seen, newest.leader_id, committed)


def _followers(seen: SeenCluster, leader: int, committed: int | None) -> Iterator[Observation]:
    """Yield who does not follow the leader, and who does not apply what it commits."""
    quorum = seen.quorum.now
    down = tuple(voter for voter in quorum.voters if voter in quorum.late)[:MOST_NAMED]
    if down:
        yield Observation(fault=WatchFault.VOTERS_LAG, missing=down, expected=leader)
    applied = {number: broker.applied for number, broker in seen.brokers.items() if broker.applied is not None}
    stale = unapplied(applied, quorum.replicas, committed, seen.committed)
    for number, broker in sorted(seen.brokers.items()):
        if broker.quorum.failed:
            yield _of(WatchFault.CUT_FROM_QUORUM, broker, error=broker.quorum.error)
        if broker.metadata.answered and number in quorum.late:
            yield _of(WatchFault.BROKER_LAGS, broker, expected=leader)
        elif broker.metadata.answered and number in stale:
            # It stands still if it is the same offset in the next reading; one that starts applies what it missed.
            yield _of(WatchFault.NOT_APPLIED, broker, reported=broker.applied)


def _leaders(seen: SeenCluster, newest: QuorumView) -> Iterator[Observation]:
    """Yield who reports another leader than the newest answer, where at least half agree with that.

    One party can claim any epoch: it names no leader alone, and shows only that the answers differ.
    """
    agree = Counter(view.leader_id == newest.leader_id for view in seen.quorum.now.views)
    if agree[True] < agree[False]:
        yield Observation(fault=WatchFault.QUORUM_LEADERS_DIFFER)
        return
    parties: list[BrokerReading | ControllerReading] = [*seen.brokers.values(), *seen.reading.controllers]
    for party in parties:
        if party.led is not None and party.led.leader_id != newest.leader_id:
            yield Observation(
                fault=WatchFault.QUORUM_LEADER_DIFFERS,
                broker=party.broker_id if isinstance(party, BrokerReading) else None,
                address=party.address,
                reported=party.led.leader_id,
                expected=newest.leader_id,
            )


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

RETURNS, RETURNS_S = 3, 900.0
"""How often a broker comes back within how many seconds before it is suspected, as KA116 counts starts in logs."""

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
        returns_ms: when brokers came back lately, the last `RETURNS` times of each.
        sessions: in which registered brokers came, by ZooKeeper; each registration has another zxid.
        committed: the high watermark of the metadata log in the last reading, which is not saved.
        symptoms: what looks wrong, by key.
    """

    at_ms: int = 0
    endpoints: Mapping[int, tuple[RegisteredEndpoint, ...]] = field(default_factory=lambda: MappingProxyType({}))
    known_ms: Mapping[int, int] = field(default_factory=lambda: MappingProxyType({}))
    away_ms: Mapping[int, int] = field(default_factory=lambda: MappingProxyType({}))
    epochs: tuple[tuple[int, int], ...] = ()
    returns_ms: Mapping[int, tuple[int, ...]] = field(default_factory=lambda: MappingProxyType({}))
    sessions: Mapping[int, int] = field(default_factory=lambda: MappingProxyType({}))
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


def next_state(state: WatchState, reading: Reading, patience: Patience | None = None, expect: Expect | None = None) -> WatchState:
    """Return what is known after a reading.

    Args:
        state: after the reading before.
        reading: of now.
        patience: how long a fault must last.
        expect: of the cluster file.
    """
    patience, expect = patience or Patience(), expect or Expect()
    seen = SeenCluster(reading, expect.cluster_id)
    symptoms, in_a_row = {}, reading.at_ms - state.at_ms < GAP_S * 1000
    epochs, returns = _epochs(state, seen), _returns(state, seen)
    often = [number for number, times in returns.items() if len(times) >= RETURNS]
    elected = epochs[-1][1] - epochs[0][1] if epochs else 0
    for observation in observations(seen, state.committed if in_a_row else None, elected, often, expect.brokers):
        earlier = state.symptoms.get(observation.key)
        if earlier is None or not (in_a_row or earlier.suspected) or not observation.continues(earlier.observation):
            earlier = WatchSymptom(observation=observation, since_ms=reading.at_ms, readings=0)
        now = replace(earlier, observation=observation, readings=min(earlier.readings + 1, _READINGS))
        symptoms[observation.key] = replace(now, suspected=earlier.suspected or _lasts(now, reading.at_ms, patience))
    away = _away(state, seen)
    forgotten = {number for number, since in away.items() if reading.at_ms - since >= FORGOTTEN_S * 1000}
    endpoints = {number: places for number, places in reading.endpoints.items() if number not in forgotten}
    symptoms = {key: symptom for key, symptom in symptoms.items() if symptom.observation.broker not in forgotten}
    kept = {*endpoints, *seen.brokers} - forgotten
    return WatchState(
        at_ms=reading.at_ms,
        endpoints=endpoints,
        known_ms=_known(state, seen, endpoints),
        away_ms={number: since for number, since in away.items() if number not in forgotten},
        epochs=epochs,
        returns_ms={number: times for number, times in returns.items() if number in kept},
        sessions={number: zxid for number, zxid in {**state.sessions, **seen.sessions}.items() if number in kept},
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


def _returns(state: WatchState, seen: SeenCluster) -> dict[int, tuple[int, ...]]:
    """Return when brokers came back: by a new registration, or without ZooKeeper by an answer after none.

    Where half of the brokers did not answer, the watch was cut off from them.
    """
    at_ms, since = seen.reading.at_ms, seen.reading.at_ms - RETURNS_S * 1000
    down = {number for number in seen.brokers if f"down:{number}" in state.symptoms}
    if seen.zookeeper is not None:
        back = {number for number, zxid in seen.sessions.items() if state.sessions.get(number, zxid) != zxid}
    else:
        back = {number for number in down if seen.brokers[number].api_versions.answered and 2 * len(down) < len(seen.brokers)}
    times = {number: state.returns_ms.get(number, ()) for number in {*state.returns_ms, *back}}
    times = {number: (*own, at_ms) if number in back else own for number, own in times.items()}
    recent = {number: tuple(time for time in own if time > since)[-RETURNS:] for number, own in sorted(times.items())}
    return {number: own for number, own in recent.items() if own}


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
