"""Whether the voters that are left elect a leader that works, if some of them go. Pure.

A candidate needs the votes of a majority of all voters, so that it must reach them; and once it leads, a majority must fetch from
it, so that they must reach it: a leader that no majority fetches from resigns, and the election begins anew.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass

from kafka_audit.model.quorum import majority

Passes = Callable[[int, int], bool | None]
"""Whether one voter reaches another one; None where that is not known."""


@dataclass(frozen=True, kw_only=True)
class Voters:
    """The voters of a quorum: all of them, those that follow, and those of which that is not certain."""

    all: frozenset[int]
    following: frozenset[int]
    uncertain: frozenset[int] = frozenset()

    @property
    def majority(self) -> int:
        """How many are a majority, of those as well that are down."""
        return majority(len(self.all))


def election_without(lost: Collection[int], voters: Voters, passes: Passes) -> str:
    """Return what becomes of the election after the loss of some voters.

    Returns:
        `elects`, `fails`, `unknown` (what was not measured decides), or `short`: without a majority that follows, none is held.
    """
    gone = frozenset(lost)
    left, hoped = voters.following - gone, (voters.following | voters.uncertain) - gone
    if len(hoped) < voters.majority:
        return "short"
    if _elects(left, voters.majority, lambda source, target: passes(source, target) is True):
        return "elects"
    return "unknown" if _elects(hoped, voters.majority, lambda source, target: passes(source, target) is not False) else "fails"


def _elects(left: Collection[int], majority: int, passes: Callable[[int, int], bool]) -> bool:
    return any(
        1 + sum(passes(leader, other) for other in left if other != leader) >= majority
        and 1 + sum(passes(other, leader) for other in left if other != leader) >= majority
        for leader in left
    )
