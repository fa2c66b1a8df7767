"""What the tab beside a run of the DAGs around a migration shows."""

import pytest

from airflow_page import BROKEN, RUN
from kafka_audit.airflow.page.links import AFTER, BEFORE
from kafka_audit.store.baselines import COMPARISONS, DECISIONS, Baselines

HOSTILE = "<script>alert(1)</script>"
ITEM = {"source": "gate", "code": "KA901", "resource": "broker/1", "message": HOSTILE, "remedy": "Upgrade it."}
DECISION = {
    "cluster": "prod",
    "snapshot_id": BROKEN[1],
    "decided_at": "2026-09-14T18:01:00Z",
    "plan": {"kind": "rolling-upgrade"},
    "verdict": "no-go",
    "subject": "prod, rolling upgrade",
    "reason": "1 blocker, first KA901 broker/1",
    "headline": "NO-GO for prod, rolling upgrade: 1 blocker, first KA901 broker/1",
    "coverage": {"asked": 4, "answered": 4},
    "blockers": [ITEM],
    "warnings": [],
    "not_known": [],
    "information": [],
}


@pytest.fixture
def run_of(viewer, store):
    """Open the tab beside a run of a DAG, after its decision was kept."""

    def open_tab(dag, folder, report):
        Baselines(store.root, folder).keep(report)
        return viewer.get("/run", params={"dag": dag, "run": RUN, "cluster": "prod"}).text

    return open_tab


def test_a_run_of_the_gate_leads_to_its_decision(run_of):
    page = run_of(BEFORE, DECISIONS, DECISION)
    assert '<h1 id="headline"><bdi>1 blocker, first KA901 broker/1</bdi></h1>' in page
    assert ">NO-GO<" in page
    assert "No approval is required" in page
    assert "&lt;script&gt;alert(1)" in page
    assert HOSTILE not in page
    assert f'href="../snapshots/{BROKEN[1]}"' in page
    assert f"/dags/{BEFORE}/runs/manual__" in page


def test_a_decision_without_a_reason_of_its_own_is_shown_by_its_headline(run_of):
    page = run_of(BEFORE, DECISIONS, {key: value for key, value in DECISION.items() if key not in {"subject", "reason"}})
    assert '<h1 id="headline"><bdi>NO-GO for prod, rolling upgrade: 1 blocker, first KA901 broker/1</bdi></h1>' in page


def test_a_go_says_whether_it_was_approved(run_of, store):
    report = DECISION | {"verdict": "go", "blockers": [], "headline": "GO for prod, rolling upgrade: no failure of severity HIGH"}
    assert "is pending under Required Actions" in run_of(BEFORE, DECISIONS, report)
    Baselines(store.root).keep(report)
    assert "Approved: this snapshot is the baseline" in run_of(BEFORE, DECISIONS, report)


def test_a_run_after_a_migration_leads_to_the_comparison(run_of):
    change = {"kind": "mode", "resource": "cluster", "before": "zookeeper", "after": "kraft"}
    report = {key: DECISION[key] for key in ("cluster", "snapshot_id", "plan", "coverage", "not_known")} | {
        "baseline": BROKEN[0],
        "compared_at": "2026-09-14T18:01:00Z",
        "verdict": "as expected",
        "headline": "AS EXPECTED for prod, ZooKeeper to KRaft: 1 expected change",
        "not_meant": [],
        "not_done": [],
        "new": [],
        "resolved": [],
        "meant": [change],
    }
    page = run_of(AFTER, COMPARISONS, report)
    assert "mode cluster: zookeeper → kraft" in page
    assert f'href="../snapshots/{BROKEN[0]}">Baseline' in page


def test_a_run_that_did_not_get_as_far_shows_the_report(viewer):
    page = viewer.get("/run", params={"dag": BEFORE, "run": RUN, "cluster": "prod"}).text
    assert "Broker 2 is cut off" in page
    assert f"/dags/{BEFORE}/runs/manual__" in page


@pytest.mark.parametrize(
    "path", [f"/decisions/{BROKEN[0]}", f"/baselines/{BROKEN[0]}", "/decisions/..%2f..%2fx", "/comparisons/x"]
)
def test_what_was_not_decided_is_not_there(viewer, path):
    assert viewer.get(path).status_code == 404
