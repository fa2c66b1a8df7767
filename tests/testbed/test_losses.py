"""How predictions of `what-if` are compared with what a cluster shows; `python -m testbed.losses` does it on real ones."""

import json

import pytest

from testbed.losses import Losses, Outcome, keep

OUTCOME = {"version": "3.9.1", "mode": "kraft", "seed": 7, "without": ["broker:2"], "down": [], "safe": False}
PREDICTED = {
    "topics": {
        "offline": [{"topic": "t1", "partitions": [0]}],
        "unclean": [{"topic": "t2", "partitions": [1]}],
        "not_writable": [{"topic": "t3", "partitions": [0, 1]}],
        "at_risk": [{"topic": "t3", "partitions": [1]}],
    },
    "already": {
        "offline": [{"topic": "t4", "partitions": [0]}],
        "not_writable": [{"topic": "t1", "partitions": [0, 1]}, {"topic": "t2", "partitions": [1]}],
    },
}


def test_what_is_so_already_and_does_not_get_worse_is_predicted_too():
    found = Losses._wanted(None, PREDICTED)
    assert found["offline"] == {("t1", 0), ("t4", 0)}
    assert found["not_writable"] == {("t3", 0), ("t3", 1), ("t1", 1)}, "neither without leader, nor led by another one"
    assert found["at_risk"] == {("t3", 1)}


@pytest.mark.parametrize(
    ("differs", "holds"),
    [
        ({}, True),
        ({"predicted_alone": {"offline": ["t1-0"]}}, False),
        ({"seen_alone": {"not_writable": ["t1-0"]}}, False),
        ({"quorum": (True, True)}, True),
        ({"quorum": (True, False)}, False),
        ({"quorum": (None, False)}, True),  # not decided is no prediction
    ],
)
def test_a_prediction_holds_if_both_sets_are_equal(differs, holds):
    assert Outcome(**OUTCOME, **differs).holds is holds


def test_the_record_has_each_cluster_and_seed_once(tmp_path):
    record = tmp_path / "losses.json"
    keep([Outcome(**OUTCOME), Outcome(**OUTCOME | {"without": ["broker:1"]})], record)
    keep([Outcome(**OUTCOME | {"seed": 8})], record)
    keep([Outcome(**OUTCOME | {"safe": True})], record)
    held = json.loads(record.read_text())
    assert [(one["seed"], one["safe"], one["holds"]) for one in held] == [(7, True, True), (8, False, True)]
