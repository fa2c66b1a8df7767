"""How predictions of `what-if` are compared with what a cluster shows; `python -m testbed.losses` does it on real ones."""

from collections import Counter

import pytest

from airflow_environment import ROOT
from testbed import losses, records
from testbed.losses import Loss, Losses, Moment, Outcome, keep, merge, wanted_of

OUTCOME = {
    "version": "3.9.1",
    "mode": "kraft",
    "seed": 7,
    "without": ["broker:2"],
    "down": [],
    "how": "killed",
    "safe": False,
}
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
    "groups": [{"partition": 0, "state": "moves"}, {"partition": 1, "state": "gone"}],
    "transactions": [{"partition": 2, "state": "refuses"}, {"partition": 3, "state": "loses"}],
}


def test_what_is_so_already_and_does_not_get_worse_is_predicted_too():
    found = wanted_of(PREDICTED)
    assert found["offline"] == {("t1", 0), ("t4", 0)}
    assert found["not_writable"] == {("t3", 0), ("t3", 1), ("t1", 1)}, "neither without leader, nor led by another one"
    assert found["at_risk"] == {("t3", 1)}
    assert found["moved"] == {("__consumer_offsets", 0), ("__transaction_state", 3)}, "those that answer, at another broker"


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
    held = records.read(record)
    assert [(one["seed"], one["safe"], one["holds"]) for one in held] == [(7, True, True), (8, False, True)]


@pytest.mark.parametrize(
    ("afterwards", "disturbed"),
    [
        ({"leader": 1, "isr": [1, 3]}, 0),  # what went left the ISR, nothing else did
        ({"leader": 1, "isr": [1]}, 1),  # 3 stood still meanwhile
        ({"leader": 1, "isr": [0, 1, 3]}, 1),  # 0 caught up meanwhile
        ({"leader": 3, "isr": [1, 3]}, 1),  # 1 led, and stays
    ],
)
def test_a_loss_is_disturbed_if_a_replica_that_stays_left_or_joined_the_isr(afterwards, disturbed):
    states = {("t1", 0): {"leader": 1, "isr": [1, 2, 3]}, ("t1", 1): {"leader": 2, "isr": [2]}}
    moment = Moment(states=states, coordinators={}, on_disk=set())
    loss = Loss(names=["broker:2"], servers=[], brokers=frozenset({2}))
    # Of the partition that 2 alone held any leader may be left: it is what the prediction is about.
    seen = {("t1", 0): afterwards, ("t1", 1): {"leader": 0, "isr": [0]}}
    assert Losses._disturbed(None, loss, moment, seen) == disturbed


def test_records_of_lanes_are_one_record(tmp_path):
    one, other, both = (tmp_path / name for name in ("one.json", "other.json", "both.json"))
    keep([Outcome(**OUTCOME)], one)
    keep([Outcome(**OUTCOME | {"mode": "zookeeper"})], other)
    for lane in (one, other, one):
        merge(records.read(lane), both)
    assert [row["mode"] for row in records.read(both)] == ["kraft", "zookeeper"]


RECORD = records.read(losses.RECORD)


def test_every_recorded_prediction_held():
    """Anew from what was seen, not by what the record says of itself."""
    fields = Outcome.__dataclass_fields__
    rows = [{key: value for key, value in row.items() if key in fields} for row in RECORD]
    assert rows
    wrong = [row for row in rows if not Outcome(**row | {"quorum": tuple(row["quorum"])}).holds]
    assert wrong == []
    assert all(row["holds"] and not row["disturbed"] for row in RECORD)


def test_the_page_states_the_size_of_the_record():
    """By release and mode, and in sum."""
    page = " ".join((ROOT / "docs" / "what-if.md").read_text().split())
    counts = Counter((row["version"], row["mode"]) for row in RECORD)
    words = {"zookeeper": "ZooKeeper", "kraft": "KRaft"}
    kinds = Counter({name.partition(":")[0] for name in row["without"]}.pop() for row in RECORD)
    assert f"has {len(RECORD)} losses" in page
    for (version, mode), number in counts.items():
        assert f"| {version} | {words[mode]} | {number} |" in page
    for kind, number in kinds.items():
        assert f"{number} of {kind}" in page, (kind, number)
