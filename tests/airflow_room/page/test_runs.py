"""What a run says of clusters that have no report of it."""

from datetime import UTC, datetime

import pytest

from kafka_audit.airflow.page.runs import NewestRun, failed_clusters, newest_audit

AT = datetime(2026, 9, 14, 18, 0, tzinfo=UTC)
WHOLE = [("clusters", "", "success"), ("collect", "prod", "success"), ("collect", "stage", "success"), ("report", "", "success")]


def run(*tasks, state="failed"):
    return NewestRun(run_id="r", state=state, at=AT, tasks=tasks)


def test_a_gate_that_fails_is_an_audit_that_did_not():
    assert failed_clusters(run(*WHOLE, ("gate", "prod", "failed")), ["prod", "stage"]) == {}
    assert failed_clusters(None, ["prod"]) == {}


def test_a_snapshot_that_was_not_taken_is_its_cluster_s():
    tasks = [("collect", "prod", "failed") if task[1] == "prod" else task for task in WHOLE]
    assert {name: failure.task for name, failure in failed_clusters(run(*tasks), ["prod", "stage", "other"]).items()} == {
        "prod": "collect"
    }


def test_spark_that_fails_leaves_every_cluster_of_the_run_without_a_report():
    tasks = [*WHOLE[:3], ("compare", "", "failed"), ("report", "", "upstream_failed")]
    assert {name: failure.task for name, failure in failed_clusters(run(*tasks), ["prod", "stage", "other"]).items()} == {
        "prod": "compare",
        "stage": "compare",
    }


def test_a_cluster_file_that_cannot_be_read_leaves_all_without():
    tasks = [("clusters", "", "failed"), ("collect", "", "upstream_failed")]
    assert set(failed_clusters(run(*tasks), ["prod", "stage"])) == {"prod", "stage"}


def test_a_run_that_goes_on_says_nothing_yet():
    assert failed_clusters(run(("clusters", "", "failed"), state="running"), ["prod"]) == {}


@pytest.mark.usefixtures("database")
def test_without_a_run_there_is_none():
    assert newest_audit() is None
