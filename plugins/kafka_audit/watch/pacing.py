"""When a suspicion requests an audit: soon for the first one, ever more rarely while a cluster flaps. Pure."""

from dataclasses import dataclass, replace

MOST_DISTANCE_S = 3600.0
"""Seconds between two requests, at most: an audit an hour is requested while suspicions come and go."""


@dataclass(frozen=True, kw_only=True)
class Pacing:
    """What is known of earlier requests.

    Attributes:
        requested_ms: when the last one was made; 0 for never.
        distance_s: seconds that must lie between it and the next.
        waiting: something was suspected since, for which no audit was requested yet.
    """

    requested_ms: int = 0
    distance_s: float = 0.0
    waiting: bool = False


def next_pacing(pacing: Pacing, at_ms: int, least_s: float, *, new: bool, any_left: bool) -> tuple[Pacing, bool]:
    """Return what is known after a reading, and whether to request an audit now.

    The distance doubles with each request that follows soon after the one before, and is the least again after a quiet time of
    twice the distance.

    Args:
        pacing: after the reading before.
        at_ms: time of this reading.
        least_s: seconds between two requests, at least.
        new: something is suspected since this reading.
        any_left: something is suspected at all; what has healed meanwhile needs no audit.
    """
    waiting = (pacing.waiting or new) and any_left
    passed_s = (at_ms - pacing.requested_ms) / 1000
    if not waiting or 0 <= passed_s < pacing.distance_s:
        return replace(pacing, waiting=waiting), False
    soon = pacing.requested_ms > 0 and 0 <= passed_s < 2 * pacing.distance_s
    distance_s = min(2 * pacing.distance_s, MOST_DISTANCE_S) if soon else least_s
    return Pacing(requested_ms=at_ms, distance_s=max(distance_s, least_s)), True
