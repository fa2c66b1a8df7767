"""Digests of topics, and rows that two samples share, only save work: what differs is the same without them."""

from dataclasses import replace

import pytest

import cluster_views
from checks import cases, world
from kafka_audit.cluster.given import ages_needed, given
from kafka_audit.differences.tables import StateFault
from kafka_audit.model.tables import RegisteredPartition, RegisteredTopic


def without_digests(snapshot):
    """Return a snapshot whose digests are unknown, so that all its partitions are compared one by one."""
    rows = tuple(replace(row, content_digest=None) if isinstance(row, RegisteredTopic) else row for row in snapshot.rows)
    return replace(snapshot, rows=rows)


def without_shared_rows(snapshot):
    """Return a snapshot in which each sample has its own rows of topics and partitions."""
    rows = (
        replace(row, sample=sample, last_sample=sample) if isinstance(row, RegisteredTopic | RegisteredPartition) else row
        for row in snapshot.rows
        for sample in (range(row.sample, row.last_sample + 1) if isinstance(row, RegisteredTopic | RegisteredPartition) else (0,))
    )
    return replace(snapshot, rows=tuple(rows))


def differences(pairs):
    stored = [snapshot for pair in pairs for snapshot in pair if snapshot is not None]
    return cluster_views.differences(stored, {pair[0].snapshot_id: given(*pair, ()) for pair in pairs})


@pytest.mark.parametrize("every", [20, pytest.param(1, marks=pytest.mark.large)])
def test_what_differs_does_not_depend_on_them(every):
    pairs = [
        world.snapshots(cases.base(), f"{code} {name}", cases.cases(code)[name])
        for code, name in [*cases.every_case()][::every]
        if not cases.cases(code)[name].get("files_alone")
    ]
    pairs = [pair for pair in pairs if not ages_needed(*pair)]
    assert len(pairs) > 500 / every
    with_them = differences(pairs)
    without = differences([tuple(snapshot and without_digests(snapshot) for snapshot in pair) for pair in pairs])
    different = {name for name in with_them if with_them[name] != without[name]}
    assert not different
    compared = [row for found in with_them.values() for rows in found.rows.values() for row in rows]
    assert len(compared) > 5000 / every


def test_what_differs_does_not_depend_on_rows_that_samples_share():
    pairs = [
        world.snapshots(cases.base(), f"{code} {name}", cases.cases(code)[name])
        for code, name in cases.every_case()
        if code in {"KA205", "KA207"} and not cases.cases(code)[name].get("files_alone")
    ]
    pairs = [pair for pair in pairs if not ages_needed(*pair)]
    shared = differences(pairs)
    apart = differences([tuple(snapshot and without_shared_rows(snapshot) for snapshot in pair) for pair in pairs])
    assert {name for name in shared if set(shared[name].of(StateFault)) != set(apart[name].of(StateFault))} == set()
    assert any(row.repeated for found in apart.values() for row in found.of(StateFault) if row.kind == "recovering")
