"""`report`: an old report is rendered again, in every form, and nothing of it is changed."""

import json
from pathlib import Path

import pytest

import small_cluster
from kafka_audit.cli import main
from kafka_audit.cli.arguments import Forms, parse_formats
from kafka_audit.incidents.causes import incidents
from kafka_audit.model.report import report_json
from kafka_audit.report.document import build_report
from kafka_audit.store import Store

ID = "20260914T180000Z-prod-0001"
UNJUDGED = "20260914T190000Z-prod-0002"
SPEC = {"brokers": {0: "a:9092"}, "views": {0: "empty"}}


@pytest.fixture
def store(tmp_path):
    store = Store(tmp_path / "store")
    snapshot = small_cluster.snapshot(SPEC, ID)
    view = small_cluster.view(snapshot)
    findings = [small_cluster.finding("KA105", "broker/0", severity="CRITICAL")]
    store.write(snapshot)
    store.write(small_cluster.snapshot(SPEC, UNJUDGED))
    store.write_report(ID, build_report(view, None, findings, incidents(view, findings, ()), (), None))
    return store


def report(store, *arguments):
    return main(["report", *arguments, "--out", store.root])


def test_without_a_form_it_is_the_page_of_the_terminal(store, capsys):
    assert report(store, ID) == 0
    captured = capsys.readouterr()
    assert report_json(store.read_report(ID))["incidents"][0]["headline"] in captured.out
    assert captured.err == ""


def test_an_old_report_says_that_its_incident_is_over_and_which_one_is_the_newest(store, capsys):
    assert report(store, ID) == 0
    assert "This is an old report" not in capsys.readouterr().out
    view = small_cluster.view(small_cluster.snapshot(SPEC, UNJUDGED))
    store.write_report(UNJUDGED, build_report(view, None, [], (), (), None))
    assert report(store, ID) == 0
    first, *_ = capsys.readouterr().out.splitlines()
    assert first.startswith("This is an old report: ")
    assert first.endswith(f"The newest, {UNJUDGED}, has no incident.")
    assert report(store, ID, "--format", "html") == 0
    assert f"The newest, {UNJUDGED}, has no incident." in Path(capsys.readouterr().out.strip()).read_text(encoding="utf-8")
    assert report(store, UNJUDGED) == 0
    assert "This is an old report" not in capsys.readouterr().out


def test_a_cluster_is_its_newest_report(store, capsys):
    assert report(store, "prod", "--format", "json") == 0
    captured = capsys.readouterr()
    assert json.loads(captured.out)["snapshot_id"] == ID
    assert f"{UNJUDGED} has no report; searching an earlier one" in captured.err


def test_a_cluster_without_a_snapshot_is_named_with_those_that_have_one(store, capsys):
    assert report(store, "dev") == 2
    assert "there is no snapshot of a cluster 'dev'; the store has prod" in capsys.readouterr().err


def test_json_is_the_report_as_it_was(store, capsys):
    assert report(store, ID, "--format", "json") == 0
    assert json.loads(capsys.readouterr().out) == report_json(store.read_report(ID))


def test_files_lie_beside_the_snapshot_and_the_current_ones_stay(store, capsys, tmp_path):
    (tmp_path / "store" / "findings.html").write_text("current")
    assert report(store, ID, "--format", "html,md,sarif") == 0
    places = capsys.readouterr().out.split()
    assert places == [f"{store.root}/snapshots/{ID}/findings.{form}" for form in ("html", "md", "sarif")]
    headline = report_json(store.read_report(ID))["incidents"][0]["headline"]
    page, text, sarif = (
        (tmp_path / "store" / "snapshots" / ID / f"findings.{form}").read_text() for form in ("html", "md", "sarif")
    )
    assert page.startswith("<!doctype html>")
    assert headline in page
    assert headline in text
    assert json.loads(sarif)["runs"][0]["results"][0]["ruleId"] == "KA105"
    assert (tmp_path / "store" / "findings.html").read_text() == "current"


def test_a_snapshot_that_was_never_judged_says_how_to_judge_it(store, capsys):
    assert report(store, UNJUDGED) == 2
    assert f"`kafka-audit diff EARLIER {UNJUDGED}` creates it" in capsys.readouterr().err


def test_a_wrong_id_is_told_with_the_nearest(store, capsys):
    assert report(store, ID[:-1] + "9") == 2
    assert ID in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "forms"),
    [
        ("text", Forms(stdout="text", files=())),
        ("json,html,md,sarif", Forms(stdout="json", files=("html", "md", "sarif"))),
        ("sarif,html", Forms(stdout=None, files=("html", "sarif"))),
        ("json,json", Forms(stdout="json", files=())),
    ],
)
def test_a_list_of_forms(text, forms):
    assert parse_formats(text) == forms
