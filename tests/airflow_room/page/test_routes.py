"""What the pages show of a store, and what of one that is damaged, old or empty."""

import json
import re

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from prometheus_client.openmetrics.parser import text_string_to_metric_families

from airflow_page import BROKEN, QUIET, RUN, of_run
from kafka_audit.airflow.page import links
from kafka_audit.airflow.page.routes import app
from kafka_audit.airflow.tasks import audit_tasks
from kafka_audit.model.report import report_json
from kafka_audit.report import digest
from reported import put, report_of

HEADLINE = "Broker 2 is cut off: controller 0 cannot reach the address it advertises"


def test_the_overview_leads_to_every_cluster_and_names_those_never_audited(viewer):
    page = viewer.get("/").text
    assert "1 of 3 clusters has an incident; 1 not judged" in page
    assert HEADLINE in page
    assert 'href="clusters/quiet.eu"' in page
    assert page.index("unasked") < page.index("clusters/quiet.eu")


LABELLED = """
defaults: {labels: {env: prod}}
clusters:
  prod: {bootstrap: ['b:1'], labels: {team: payments}}
  quiet.eu: {bootstrap: ['b:2'], labels: {team: search}}
  unasked: {bootstrap: ['b:3'], labels: {env: stage}}
"""


def test_the_overview_filters_and_groups_by_label(viewer, tmp_path):
    assert "<form" not in viewer.get("/").text
    (tmp_path / "clusters.yaml").write_text(LABELLED)
    page = viewer.get("/", params={"by": "team"}).text
    assert re.findall(r'<h2 id="group-\d"><bdi>([^<]*)', page) == ["payments", "without team", "search"]
    filtered = viewer.get("/", params={"label": ["env=prod", "team=search"]}).text
    assert 'href="clusters/quiet.eu"' in filtered
    assert "clusters/prod" not in filtered
    assert "1 of 3 clusters." in filtered
    assert '<option value="team=search" selected>search (1)</option>' in filtered


def test_the_overview_of_a_run_keeps_the_run_while_it_filters(viewer, tmp_path):
    (tmp_path / "clusters.yaml").write_text(LABELLED)
    page = viewer.get(f"{of_run()}&label=team%3Dsearch").text
    assert '<input type="hidden" name="dag" value="kafka_audit">' in page
    assert f'name="run" value="{RUN}"' in page
    assert links.relative(QUIET, RUN).replace("&", "&amp;") in page
    assert BROKEN[1] not in page


def test_a_broken_cluster_file_hides_labels_and_no_report(viewer, tmp_path):
    (tmp_path / "clusters.yaml").write_text("clusters: [")
    page = viewer.get("/", params={"by": "team"}).text
    assert "labels are unknown" in page
    assert 'href="clusters/prod"' in page


def test_a_cluster_shows_its_newest_report(viewer):
    page = viewer.get("/clusters/prod").text
    assert f'<h1 id="headline"><bdi>{HEADLINE}' in page
    assert f"../snapshots/{BROKEN[1]}/findings.json" in page
    assert "This is an old report" not in page


def test_an_old_report_says_that_it_is_old(viewer):
    assert "This is an old report" in viewer.get(f"/snapshots/{BROKEN[0]}").text
    assert "This is an old report" not in viewer.get(f"/snapshots/{BROKEN[1]}").text


def test_the_server_filters_and_keeps_the_filter_in_its_links(viewer):
    page = viewer.get("/clusters/prod", params={"code": "KA302", "mode": "reach"}).text
    table = page[page.index('id="list"') :]
    assert ">KA302<" in table
    assert ">KA105<" not in table
    assert "mode=view&amp;code=KA302" in page
    assert '<input type="hidden" name="mode" value="reach">' in page


def test_the_timeline_compares_the_last_two_unless_others_are_chosen(viewer):
    page = viewer.get("/clusters/prod/timeline").text
    assert "Changes between" in page
    assert re.search(rf'name="a" value="{BROKEN[0]}"[^>]*checked', page)
    assert re.search(rf'name="b" value="{BROKEN[1]}"[^>]*checked', page)
    turned = viewer.get("/clusters/prod/timeline", params={"a": BROKEN[1], "b": BROKEN[0]}).text
    assert re.search(rf'name="a" value="{BROKEN[0]}"[^>]*checked', turned)
    timeline = viewer.get("/clusters/quiet.eu/timeline").text
    assert "Changes between" not in timeline
    older = viewer.get("/clusters/prod/timeline", params={"before": BROKEN[1]}).text
    assert BROKEN[0] in older
    assert f'value="{BROKEN[1]}" aria' not in older
    across = viewer.get("/clusters/prod/timeline", params={"before": BROKEN[1], "a": BROKEN[0], "b": BROKEN[1]}).text
    assert f'<input type="hidden" name="b" value="{BROKEN[1]}">' in across
    assert "Changes between 14 Nov 22:15 and 14 Nov 22:15" in across
    strange = viewer.get("/clusters/prod/timeline", params={"a": BROKEN[0], "b": "20260914T180000Z-quiet.eu-0003"})
    assert strange.status_code == 200


def test_the_timeline_ends_with_a_day_that_is_asked_for(viewer):
    day = f"{BROKEN[1][:4]}-{BROKEN[1][4:6]}-{BROKEN[1][6:8]}"
    address = "/clusters/prod/timeline"
    assert f'value="{BROKEN[1]}" aria' in viewer.get(address, params={"until": day}).text
    assert f'value="{BROKEN[1]}" aria' in viewer.get(address, params={"until": "9999-12-30"}).text
    gone = viewer.get(address, params={"until": "2001-01-01"})
    assert gone.status_code == 404
    assert "There is no report of cluster prod before this day." in gone.text
    for strange in ("", "soon", "9999-12-31", "<script>", "2026-02-30"):
        assert f'value="{BROKEN[1]}" aria' in viewer.get(address, params={"until": strange}).text


@pytest.mark.parametrize(("form", "media"), [("json", "application/json"), ("md", "text/markdown"), ("html", "text/html")])
def test_a_report_comes_as_a_file(viewer, form, media):
    answer = viewer.get(f"/snapshots/{BROKEN[0]}/findings.{form}")
    assert answer.headers["content-type"].startswith(media)
    assert answer.headers["content-disposition"] == f'attachment; filename="{BROKEN[0]}.{form}"'
    assert HEADLINE in answer.text


def test_a_run_leads_straight_to_its_report(viewer):
    answer = viewer.get(of_run(cluster="prod"), follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (303, links.relative(BROKEN[1], RUN))
    page = viewer.get(of_run(cluster="prod")).text
    assert HEADLINE in page
    assert "/dags/kafka_audit/runs/manual__2026-09-14T18%3A00%3A00%2B00%3A00" in page


def test_a_run_of_several_clusters_shows_them_all(viewer):
    page = viewer.get(of_run()).text
    assert "In this run 1 of 2 clusters had an incident" in page
    assert links.relative(QUIET, RUN).replace("&", "&amp;") in page


def test_a_run_of_another_dag_or_without_a_report_says_so(viewer):
    assert "This run is not a Kafka audit" in viewer.get("/run", params={"dag": "etl", "run": RUN}).text
    assert "This run has no report" in viewer.get("/run", params={"dag": "kafka_audit", "run": "another"}).text


def test_a_run_is_found_by_the_name_that_its_task_gave_it():
    assert audit_tasks.run_name(RUN).startswith(links.run_prefix(RUN))


@pytest.mark.parametrize(
    "path",
    ["/clusters/nobody", "/snapshots/20260914T170000Z-prod-ffff", "/snapshots/..%2F..%2Fclusters", "/checks/KA999", "/x",
     f"/snapshots/{BROKEN[0]}/findings.exe", "/clusters/..%2f..%2fetc/timeline", "/clusters/nobody/timeline"],
)  # fmt: skip
def test_what_is_not_there_is_told_in_a_sentence(viewer, path):
    answer = viewer.get(path)
    assert answer.status_code == 404
    assert "<h1>" in answer.text
    assert "Traceback" not in answer.text


def test_a_damaged_report_is_told_and_the_others_are_shown(viewer, tmp_path):
    (tmp_path / "store" / "snapshots" / BROKEN[1] / "findings.json").write_text("{")
    overview = viewer.get("/").text
    assert "is not valid for this version" in overview
    assert HEADLINE in overview  # of the report before
    answer = viewer.get(f"/snapshots/{BROKEN[1]}")
    assert answer.status_code == 404
    assert "is not valid for this version" in answer.text


def test_a_report_without_its_head_is_none(viewer, store):
    document = report_json(store.read_report(BROKEN[1]))
    del document["matrix"]
    put(store, BROKEN[1], document)
    assert "is not valid for this version" in viewer.get(f"/snapshots/{BROKEN[1]}").text


def test_a_report_that_is_written_anew_is_shown_anew(viewer, store):
    assert viewer.get("/clusters/prod").status_code == 200
    document = report_json(store.read_report(BROKEN[1]))
    document["incidents"][0]["headline"] = "Another headline"
    store.write_report(BROKEN[1], report_of(document))
    assert "Another headline" in viewer.get("/clusters/prod").text
    assert "Another headline" in viewer.get("/").text


def test_an_empty_store_says_what_to_do(viewer, tmp_path, monkeypatch):
    monkeypatch.setenv("KAFKA_AUDIT_STORE", str(tmp_path / "elsewhere"))
    monkeypatch.setenv("KAFKA_AUDIT_CLUSTERS", str(tmp_path / "none.yaml"))
    page = viewer.get("/").text
    assert "No cluster has been audited" in page
    assert "kafka-audit run CLUSTER" in page
    assert "Add the cluster to the cluster file" in page
    assert "Clusters without a report are not listed" in page


def test_a_wrong_setting_is_one_sentence(viewer, monkeypatch, caplog):
    monkeypatch.setenv("KAFKA_AUDIT_MIN_COVERAGE", "most")
    answer = viewer.get("/")
    assert answer.status_code == 500
    assert "A setting of this deployment" in answer.text
    assert "KAFKA_AUDIT_MIN_COVERAGE" in caplog.text


@pytest.mark.usefixtures("viewer")
def test_it_works_below_a_base_path():
    """All links are relative, and none leaves the pages by a slash too many."""
    outer = FastAPI()
    outer.mount("/tools/airflow/kafka-audit", app)
    client = TestClient(outer, root_path="")
    for start in (
        "",
        "clusters/prod",
        "clusters/prod/timeline",
        f"snapshots/{BROKEN[0]}",
        "checks",
        "checks/KA302",
        "nothing/there",
    ):
        base = f"/tools/airflow/kafka-audit/{start}"
        page = client.get(base).text
        found = sorted({*re.findall(r'(?:href|src)="([^"#?]+)', page)})
        for link in [link for link in found if not re.search("checks/KA(?!302)", link)]:
            target = client.get(base.rpartition("/")[0] + "/" + link)
            assert target.status_code == 200, (base, link)


@pytest.mark.parametrize("dag", links.AUDITS)
def test_the_link_at_the_gate_leads_to_the_run(monkeypatch, dag):
    monkeypatch.setenv("AIRFLOW__API__BASE_URL", "https://example.com/airflow/")
    operator = type("Gate", (), {"op_kwargs": {"cluster": "prod"}})()
    instance = type("Ti", (), {"run_id": RUN, "dag_id": dag})()
    link = links.AuditReport().get_link(operator, ti_key=instance)
    assert link == f"https://example.com/airflow/kafka-audit{of_run(cluster='prod')}".replace("dag=kafka_audit&", f"dag={dag}&")


def test_the_metrics_are_those_of_the_newest_report_of_each_cluster(viewer):
    answer = viewer.get("/metrics")
    assert answer.headers["content-type"].startswith("application/openmetrics-text; version=1.0.0")
    found = {
        (sample.name, sample.labels["cluster"]): sample.value
        for family in text_string_to_metric_families(answer.text)
        for sample in family.samples
    }
    clusters = {cluster for name, cluster in found if name == "kafka_audit_incidents"}
    assert {"prod", "quiet.eu"} <= clusters
    assert found["kafka_audit_incidents", "prod"] >= 1
    assert found["kafka_audit_incidents", "quiet.eu"] == 0
    assert f'headline="{HEADLINE}' in answer.text


def test_the_json_is_the_report(viewer):
    assert json.loads(viewer.get(f"/snapshots/{QUIET}/findings.json").text)["snapshot_id"] == QUIET


ODD = {
    "the end is no time": {"finished_at": "soon"},
    "the end is to come": {"finished_at": "2999-01-01T00:00:00Z"},
    "answers beyond any number": {"coverage": {"asked": 1, "answered": 10**400, "unknown": []}},
    "the matrix is a number": {"matrix": {"brokers": 7, "observers": [], "controller": None, "endpoints": {}}},
    "a severity that is none": {"findings": [], "incidents": [], "counts": {}},
}


@pytest.mark.parametrize("odd", ODD)
def test_an_odd_report_costs_its_own_row_and_no_other_cluster(viewer, store, tmp_path, odd):
    """However it got into the store: `import` takes none of these."""
    document = report_json(store.read_report(BROKEN[1])) | ODD[odd]
    (tmp_path / "store" / "snapshots" / BROKEN[1] / "findings.digest.json").unlink(missing_ok=True)
    put(store, BROKEN[1], document)
    overview = viewer.get("/")
    assert overview.status_code == 200
    assert "is not valid for this version" in overview.text
    assert "quiet.eu" in overview.text
    assert HEADLINE in overview.text, "the report before is the newest that can be shown"
    metrics = viewer.get("/metrics")
    assert metrics.status_code == 200
    assert 'kafka_audit_reads_asked{cluster="quiet.eu"}' in metrics.text
    assert 'kafka_audit_unreadable{cluster="prod"} 1.0' in metrics.text
    timeline = viewer.get("/clusters/prod/timeline")
    assert timeline.status_code == 200
    assert BROKEN[0] in timeline.text
    assert "is not valid for this version" in timeline.text


def test_metrics_of_readable_reports_name_none_that_is_not(viewer):
    assert "kafka_audit_unreadable" not in viewer.get("/metrics").text


def test_an_odd_digest_is_passed_over_for_the_report(viewer, store, tmp_path):
    place = tmp_path / "store" / "snapshots" / BROKEN[1] / "findings.digest.json"
    whole = json.loads(digest.digest_text(store.read_report(BROKEN[1])))
    for odd in (
        {"answered": 10**400},
        {"finished_at": "soon"},
        {"finished_at": "2999-01-01T00:00:00Z"},
        {"results": {"KA302": {"FAIL": "x"}}},
    ):
        place.write_text(json.dumps(whole | odd))
        assert HEADLINE in viewer.get("/").text


def test_a_snapshot_of_the_future_is_not_the_newest(viewer, store):
    later = "29990101T000000Z-prod-0001"
    document = report_json(store.read_report(BROKEN[1])) | {"snapshot_id": later, "incidents": [], "findings": []}
    store.write_report(later, report_of(document), newest=False)
    overview = viewer.get("/").text
    assert HEADLINE in overview
    assert f"Snapshot {later}" in overview
    assert HEADLINE in viewer.get("/clusters/prod").text
    assert 'kafka_audit_incidents{cluster="prod"} 1.0' in viewer.get("/metrics").text
