"""The logs of the corpus, and the faults of which no line shows the cause."""

import pytest

from samples import sampled
from testbed.corpus import kept_logs
from testbed.corpus.catalogue import faults, without_sign


def test_at_most_a_third_of_the_faults_have_no_sign():
    assert set(without_sign()) <= set(faults())
    assert len(without_sign()) <= len(faults()) / 3


@pytest.mark.parametrize("faults_in_turn", sampled(range(10)))
def test_no_run_is_named_by_something_false(faults_in_turn):
    names = set(sorted(faults())[faults_in_turn::10])
    assert [row for row in kept_logs.table(names=names) if row[2] == "wrong"] == []


@pytest.mark.parametrize(
    ("fault", "worth"),
    [
        ("controller_flaps", "cause"),
        ("registration_deleted", "cause"),
        ("throttle_left", "cause"),
        ("unclean_cluster", "cause"),
        ("brokers_cut_from_one", "undecided"),
        ("voter_stalls", "undecided"),
    ],
)
def test_a_run_is_named(fault, worth):
    assert {row[2] for row in kept_logs.table(names={fault})} == {worth}
