"""Two samples stored as what changed: nothing that either of them saw is lost."""

import random
from dataclasses import replace

import pytest

from kafka_audit.collect.sampling.sample_again import without_repeated_rows
from kafka_audit.model.tables import RegisteredPartition, RegisteredTopic, Snapshot
from kafka_audit.store import parquet
from made_rows import made


def topic(name, **changes):
    return made(RegisteredTopic, topic=name, **{"czxid": 1, "mzxid": 1} | changes)


def partition(number=0, topic="orders", **changes):
    state = {"leader": 0, "leader_epoch": 3, "controller_epoch": 1, "isr": (0, 1, 2), "state_mzxid": 60}
    return made(RegisteredPartition, topic=topic, partition=number, **{"replicas": (0, 1, 2)} | state | changes)


def merged(earlier, later):
    table = type(next(iter([*earlier, *later])))
    later = [replace(row, sample=2, last_sample=2) for row in later]
    return parquet.rows_of(table, without_repeated_rows(parquet.table_of(table, earlier), parquet.table_of(table, later)))


def by_sample(rows):
    """Return what each sample saw, by the snapshot's own reading."""
    table = type(rows[0])
    snapshot = Snapshot(snapshot_id="s", cluster="c", cluster_id="i", rows=(), large={table: parquet.table_of(table, rows)})
    return set(snapshot.of(table))


def test_what_did_not_change_is_one_row():
    rows = [partition(0), partition(1), partition(0, "payments")]
    assert merged(rows, rows) == [replace(row, last_sample=2) for row in rows]
    assert merged([topic("a"), topic("b", topic_id="x")], [topic("a"), topic("b", topic_id="x")]) == [
        topic("a", last_sample=2),
        topic("b", topic_id="x", last_sample=2),
    ]


@pytest.mark.parametrize(
    "change",
    [
        {"replicas": (0, 2, 1)},
        {"replicas": (0, 1)},
        {"leader": None},
        {"leader": 1},
        {"leader_epoch": 4},
        {"controller_epoch": 2},
        {"isr": None},
        {"isr": ()},
        {"isr": (0, 1)},
        {"leader_recovery_state": 0},
        {"state_mzxid": 61},
    ],
)
def test_a_change_in_any_column_is_a_row_of_its_own(change):
    changed = partition(1, **change)
    for earlier, later in ((partition(1), changed), (changed, partition(1))):
        assert merged([partition(0), earlier], [partition(0), later]) == [
            partition(0, last_sample=2),
            earlier,
            replace(later, sample=2, last_sample=2),
        ]


@pytest.mark.parametrize("change", [{"topic_id": "x"}, {"czxid": 2}, {"mzxid": 2}, {"deleting": True}])
def test_a_topic_that_changed_is_a_row_of_its_own(change):
    changed = topic("a", **change)
    assert merged([topic("a")], [changed]) == [topic("a"), replace(changed, sample=2, last_sample=2)]


def test_what_came_and_what_went_are_rows_of_one_sample():
    assert merged([partition(0), partition(1)], [partition(1), partition(2)]) == [
        partition(0),
        partition(1, last_sample=2),
        replace(partition(2), sample=2, last_sample=2),
    ]
    assert merged([], [partition(0)]) == [partition(0, sample=2, last_sample=2)]
    assert merged([partition(0)], []) == [partition(0)]


def test_both_samples_can_be_read_from_what_is_stored():
    dice = random.Random(7)  # noqa: S311 -- no secret
    for _ in range(50):
        first = [partition(number, name) for name in "abc" for number in range(5) if dice.random() < 0.9]
        second = [replace(row, leader=dice.choice([None, 0, 1]), isr=dice.choice([None, (), (0, 1, 2)])) for row in first]
        second = [row for row in second if dice.random() < 0.9]
        dice.shuffle(second)
        if first and second:
            assert by_sample(merged(first, second)) == {*first, *(replace(row, sample=2, last_sample=2) for row in second)}
