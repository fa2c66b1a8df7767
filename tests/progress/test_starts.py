"""A broker that registers anew in each of three audits is one that crashes; one that was restarted is not."""

import pytest

from checks.cases import base
from checks.world import snapshots
from cluster_views import cluster_views
from kafka_audit.checks.run import judge
from kafka_audit.model.finding import Status
from kafka_audit.progress.rows import progress_of
from kafka_audit.report.on_its_way import shown_rows

MINUTE_MS = 60_000
STARTED_MS = base()["info"]["started_ms"]


def registered(audit_min, age_min, number):
    """Broker 2 as an audit so many minutes ago finds it: registered for so long, by this transaction."""
    at = STARTED_MS - audit_min * MINUTE_MS
    return {
        "info": {"started_ms": at, "finished_ms": at + 10_000},
        "brokers": {2: {"registered_ms": at - age_min * MINUTE_MS, "czxid": 900 + number}},
    }


CASES = {
    "crashes": (registered(15, 3, 1), registered(0, 4, 2)),
    "was_restarted": (registered(15, 3, 1), registered(0, 18, 1)),
    "was_old": (registered(15, 60, 1), registered(0, 4, 2)),
    "a_moment_later": (registered(2, 1, 1), registered(0, 1, 2)),
    "each_night": (registered(24 * 60, 3, 1), registered(0, 4, 2)),
    "audited_first": (None, registered(0, 4, 2)),
}


@pytest.fixture(scope="module")
def views():
    pairs = {}
    for name, (before, now) in CASES.items():
        case = {"now": now} | ({} if before is None else {"previous": before})
        pairs[name] = snapshots(base(), name, case)
    return cluster_views(pairs)


def judged(view):
    return [one for one in judge(view) if (one.code, one.resource) == ("KA116", "broker/2")]


def test_the_third_audit_in_a_row_that_sees_a_new_registration_fails(views):
    view = views["crashes"]
    (row,) = progress_of(view).of_kind("start")
    assert (row.state, row.parties) == ("unknown", ("broker/2",))
    assert shown_rows([row]) == []  # a restart that is done
    assert [one.status for one in judged(view)] == [Status.PASS]

    third = cluster_views(
        {"crashes": snapshots(base(), "crashes", {"previous": CASES["crashes"][0], "now": CASES["crashes"][1]})}
    )
    later = third["crashes"]
    later.reported_progress = (row,)
    (row,) = progress_of(later).of_kind("start")
    assert (row.state, row.unchanged_minutes) == ("standing", 15)
    assert shown_rows([row]) == [row]  # although it answers just now
    (found,) = judged(later)
    assert (found.status, found.evidence["state"]) == (Status.FAIL, "starts again and again")
    assert found.evidence["headline"] == "Broker 2 starts again and again: it registers anew in each audit"


@pytest.mark.parametrize(("answers", "shown"), [(True, 0), (False, 1)])
def test_the_second_restart_of_a_broker_that_answers_is_not_on_its_way(answers, shown):
    before, now = CASES["a_moment_later"]
    away = {} if answers else {"views": {2: {"answers": False, "error": "connection refused"}}}
    view = cluster_views({"again": snapshots(base(), "again", {"previous": before, "now": now | away})})["again"]
    (first,) = progress_of(view).of_kind("start")
    later = cluster_views({"again": snapshots(base(), "again", {"previous": before, "now": now | away})})["again"]
    later.reported_progress = (first,)
    (row,) = progress_of(later).of_kind("start")
    assert (row.state, row.what) == ("unknown", "repeated start of broker 2")
    assert len(shown_rows([row])) == shown


@pytest.mark.parametrize("name", [name for name in CASES if name not in {"crashes", "a_moment_later"}])
def test_a_restart_is_none(views, name):
    assert progress_of(views[name]).of_kind("start") == ()
