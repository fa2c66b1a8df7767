"""Whether the voters that are left elect a leader, and what less knowledge changes."""

from itertools import product

import pytest

from kafka_audit.faults.vote_edges import Voters, election_without

THREE = Voters(all=frozenset({1, 2, 3}), following=frozenset({1, 2, 3}))
FIVE = Voters(all=frozenset(range(1, 6)), following=frozenset(range(1, 6)))


def passes(broken=(), unknown=()):
    return lambda source, target: False if (source, target) in broken else None if (source, target) in unknown else True


def into(target, voters):
    return {(source, target) for source in voters.all if source != target}


@pytest.mark.parametrize(
    ("voters", "broken", "unknown", "state"),
    [
        (THREE, (), (), "elects"),
        (THREE, into(3, THREE), (), "fails"),
        (THREE, {(2, 3)}, (), "fails"),  # 2 gets no vote of 3, and does not fetch from it
        (THREE, {(1, 3), (3, 1), (2, 1)}, (), "elects"),  # edges of the one that went
        (THREE, (), {(2, 3)}, "unknown"),
        (THREE, {(2, 3)}, {(3, 2)}, "fails"),
        (FIVE, into(5, FIVE), (), "elects"),
        (FIVE, into(5, FIVE) | into(4, FIVE), (), "fails"),
        (FIVE, into(5, FIVE), into(4, FIVE), "unknown"),
        (FIVE, {(2, 3), (3, 2)}, (), "elects"),
        (Voters(all=THREE.all, following=frozenset({1, 2})), (), (), "short"),
        (Voters(all=THREE.all, following=frozenset({1, 2}), uncertain=frozenset({3})), (), (), "unknown"),
        (Voters(all=THREE.all, following=frozenset({1, 2}), uncertain=frozenset({3})), into(3, THREE), (), "fails"),
        (Voters(all=frozenset({1, 2}), following=frozenset({1, 2})), (), (), "short"),
    ],
)
def test_what_becomes_of_the_election_without_voter_1(voters, broken, unknown, state):
    assert election_without({1}, voters, passes(broken, unknown)) == state


@pytest.mark.parametrize(
    ("voters", "lost", "broken", "state"),
    [
        (FIVE, {1, 2}, (), "elects"),
        (FIVE, {1, 2}, into(5, FIVE), "fails"),
        (FIVE, {1, 2, 3}, (), "short"),
        (THREE, {1, 2}, (), "short"),
        (FIVE, {1, 2}, {(3, 4), (4, 3)}, "elects"),  # both reach 5, and 5 reaches both
        (FIVE, (), (), "elects"),
    ],
)
def test_what_becomes_of_the_election_without_several_voters(voters, lost, broken, state):
    assert election_without(lost, voters, passes(broken)) == state


def test_less_knowledge_never_changes_one_certainty_into_another():
    edges = [(source, target) for source, target in product((2, 3), (2, 3)) if source != target]
    weaker = 0
    for states in product((True, False, None), repeat=len(edges)):
        known = dict(zip(edges, states, strict=True))
        state = election_without({1}, THREE, lambda source, target, known=known: known.get((source, target), True))
        for edge in edges:
            less = election_without(
                {1}, THREE, lambda source, target, known=known | {edge: None}: known.get((source, target), True)
            )
            assert less in {state, "unknown"}
            weaker += less != state
    assert weaker
