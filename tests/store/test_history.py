"""What pages read of the store: reports of every age, and of each run the last try."""

import os

import pytest

from kafka_audit.model.errors import SnapshotError
from kafka_audit.model.run import Request, SnapshotPair
from kafka_audit.store import Store
from kafka_audit.store.history import History
from reported import put, report_of

FIRST, SECOND, OTHER = "20260131T080000Z-prod-00aa", "20260131T090000Z-prod-00bb", "20260131T085900Z-a.b-00cc"
REPORT = {
    "cluster": "prod", "cluster_id": "x", "finished_at": None, "previous_snapshot_id": None, "findings": [], "incidents": [],
    "coverage": {"asked": 1, "answered": 1, "unknown": []}, "counts": {"FAIL": 0, "PASS": 0, "UNKNOWN": 0, "NOT_APPLICABLE": 0},
    "matrix": {"brokers": [], "controller": None, "endpoints": {}, "observers": [], "why": []},
}  # fmt: skip


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path)


@pytest.fixture
def history(tmp_path):
    return History(tmp_path)


def test_snapshots_come_newest_first_by_cluster(store, history):
    assert history.snapshots() == {}
    for snapshot_id in (FIRST, OTHER, SECOND):
        store.write_report(snapshot_id, report_of(REPORT | {"snapshot_id": snapshot_id}))
    assert history.snapshots() == {"prod": [SECOND, FIRST], "a.b": [OTHER]}


def test_a_report_of_an_earlier_version_has_what_came_later_empty(store, history):
    put(store, FIRST, REPORT | {"snapshot_id": FIRST})
    report = history.report(FIRST)
    assert (report.passed_over, report.changes_omitted, report.mode) == ((), 0, None)


@pytest.mark.parametrize("name", ["../../etc", "runs", "", f"{FIRST}/../{FIRST}"])
def test_a_name_that_is_no_snapshot_s_is_not_looked_for(history, tmp_path, name):
    (tmp_path / "findings.json").write_text("{}")
    assert history.report(name) is None
    assert history.written(name) is None


def test_what_is_no_report_raises(store, history):
    put(store, FIRST, {"snapshot_id": FIRST, "cluster": "prod"})
    with pytest.raises(SnapshotError, match="is not a report of this snapshot that this version can read"):
        history.report(FIRST)
    store.write_report(SECOND, report_of(REPORT | {"snapshot_id": FIRST}))
    with pytest.raises(SnapshotError, match="not a report of this snapshot"):
        history.report(SECOND)


def test_of_several_tries_of_a_run_the_last_one_counts(store, history, tmp_path):
    for number, (run, snapshot_id) in enumerate([("airflow-x-1", FIRST), ("airflow-x-2", SECOND), ("airflow-y-1", OTHER)]):
        store.write_request(Request(run_id=run, pairs=(SnapshotPair(snapshot_id=snapshot_id, previous_snapshot_id=None),)))
        os.utime(tmp_path / "runs" / run / "request.json", (number, number))
    assert history.of_run("airflow-x-") == [SECOND]
    assert history.of_run("airflow-z-") == []
    (tmp_path / "runs" / "airflow-x-2" / "request.json").write_text('{"run_id')
    assert history.of_run("airflow-x-") == [FIRST]
