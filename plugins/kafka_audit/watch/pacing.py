"""When a suspicion requests an audit: soon for a broker not suspected lately, ever more rarely for one that flaps. Pure."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from kafka_audit.watch.judgement import WatchState
from kafka_audit.watch.suspicions import Suspicion

MOST_DISTANCE_S = 3600.0
"""Seconds between two requests, at most: an audit an hour is requested while the same parties are suspected again and again."""

MOST_AUDITED = 1000
"""Parties that are remembered. A broker that lists others that do not exist, new ones each time, could go on for ever."""


NEW_BROKERS = "new brokers"
"""The one party that all brokers are which are known for less than `MOST_DISTANCE_S`, but for those that the watch began with.

A party that has a new id each minute is suspected under each id, and still is one flapping party.
"""


@dataclass(frozen=True, kw_only=True)
class Pacing:
    """What is known of earlier requests.

    Attributes:
        requested_ms: when the last one was made; 0 for never.
        distance_s: seconds that must lie between it and the next for the same parties.
        waiting: parties that were suspected since, for which no audit was requested yet.
        audited: parties that were suspected when an audit was requested, with the time of the last such request in milliseconds.
    """

    requested_ms: int = 0
    distance_s: float = 0.0
    waiting: tuple[str, ...] = ()
    audited: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))


def parties(suspicions: Iterable[Suspicion], state: WatchState) -> list[str]:
    """Return the parties of suspicions, among which each long known broker is one."""
    first = min(state.known_ms.values(), default=0)

    def is_new(broker: int | None) -> bool:
        since = state.known_ms.get(broker, state.at_ms) if broker is not None else first
        return since > first and state.at_ms - since < MOST_DISTANCE_S * 1000

    return [NEW_BROKERS if is_new(suspicion.broker) else suspicion.observation.party for suspicion in suspicions]


def next_pacing(
    pacing: Pacing, at_ms: int, least_s: float, *, new: Collection[str], suspected: Collection[str]
) -> tuple[Pacing, bool]:
    """Return what is known after a reading, and whether to request an audit now.

    The distance doubles with each request that follows soon after the one before, and is the least again after a quiet time of
    twice the distance. A party that no audit was requested for in that time is another fault: it waits for the least distance.

    Args:
        pacing: after the reading before.
        at_ms: time of this reading.
        least_s: seconds between two requests, at least.
        new: parties of what is suspected since this reading.
        suspected: parties of all that is suspected; what has healed meanwhile needs no audit.
    """
    waiting = tuple(sorted({*pacing.waiting, *new} & {*suspected}))
    passed_s = (at_ms - pacing.requested_ms) / 1000
    quiet_s = 2 * pacing.distance_s
    soon = pacing.requested_ms > 0 and 0 <= passed_s < quiet_s
    audited = {party: at for party, at in pacing.audited.items() if soon and at_ms - at < quiet_s * 1000}
    other = not audited.keys() >= {*waiting} and len(audited) < MOST_AUDITED
    needed_s = min(pacing.distance_s, least_s) if other else pacing.distance_s
    if not waiting or 0 <= passed_s < needed_s:
        return replace(pacing, waiting=waiting), False
    distance_s = pacing.distance_s if other else 2 * pacing.distance_s
    audited |= dict.fromkeys(sorted({*suspected})[:MOST_AUDITED], at_ms)
    return (
        Pacing(
            requested_ms=at_ms,
            distance_s=max(min(distance_s, MOST_DISTANCE_S), least_s) if soon else least_s,
            audited=audited,
        ),
        True,
    )
