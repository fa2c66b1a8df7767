"""Digests of topics only save work: what differs is the same without them."""

from dataclasses import replace

from checks import cases, world
from kafka_audit.cluster.given import ages_needed, given
from kafka_audit.model.tables import RegisteredTopic
from testbed import in_duckdb


def without_digests(snapshot):
    """Return a snapshot whose digests are unknown, so that all its partitions are compared one by one."""
    rows = tuple(replace(row, content_digest=None) if isinstance(row, RegisteredTopic) else row for row in snapshot.rows)
    return replace(snapshot, rows=rows)


def differences(pairs):
    stored = [one for pair in pairs for one in pair if one is not None]
    return in_duckdb.measure(stored, {pair[0].snapshot_id: given(*pair, ()) for pair in pairs})


def test_what_differs_does_not_depend_on_them():
    pairs = [
        world.snapshots(cases.base(), f"{code} {name}", cases.cases(code)[name])
        for code, name in cases.every_case()
        if not cases.cases(code)[name].get("files_alone")
    ]
    pairs = [pair for pair in pairs if not ages_needed(*pair)]
    assert len(pairs) > 500
    with_them = differences(pairs)
    without = differences([tuple(one and without_digests(one) for one in pair) for pair in pairs])
    different = {name for name in with_them if with_them[name] != without[name]}
    assert not different
    compared = [row for found in with_them.values() for rows in found.rows.values() for row in rows]
    assert len(compared) > 5000
