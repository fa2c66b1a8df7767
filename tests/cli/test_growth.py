"""Rows of a bundle make its import that many times the work, and no more."""

import itertools

import pytest

import bundled
import small_cluster
from kafka_audit.cli import main
from samples import sampled

ROWS = {
    "topics": lambda count: {"topics": {f"t{number}": {"partitions": {0: {"replicas": [0]}}} for number in range(count)}},
    "partitions": lambda count: {"topics": {"t": {"partitions": {number: {"replicas": [0]} for number in range(count)}}}},
    "settings": lambda count: {"configs": {0: {f"made.up.{number}": "1" for number in range(count)}}},
    "brokers": lambda count: {"brokers": {number: f"h{number}:9092" for number in range(count // 5)}},
}


@pytest.mark.parametrize("rows", sampled(ROWS, 4))
def test_an_import_grows_with_the_rows(rows, tmp_path, exponent):
    numbers = itertools.count()

    def bundle(count):
        store = bundled.Store(tmp_path / f"{count}-{next(numbers)}")
        snapshot = small_cluster.snapshot(bundled.SPEC | ROWS[rows](count), bundled.ID)
        store.write(snapshot)
        bundled.judge(store, snapshot)
        return bundled.write(store, tmp_path / f"{count}-{next(numbers)}.zip")

    def imported(path):
        assert main(["import", str(path), "--store", str(path.with_suffix(".imported")), "--quiet"]) == 0

    assert exponent(imported, (250, 1_000), bundle) <= 1.1
