"""The Grafana dashboard names only metrics and labels that reports have, and needs no plugin."""

import itertools
import re

import pytest

import dashboard
from kafka_audit.report import openmetrics

LABELS = {f"kafka_audit_{name}": {"cluster", *labels} for name, (_, labels, _) in openmetrics._METRICS.items()}
PANELS = dashboard.load()["panels"]
OF_PROMETHEUS = {"Time", "Value", "__name__", "instance", "job"}
"""Columns of a table of Grafana that every answer of Prometheus has."""


def labels_of(expression):
    """Return the labels of an expression: those that all its metrics have, or those of the left one (`group_left`)."""
    named = [LABELS[name] for name in re.findall(r"kafka_audit_\w+", expression)]
    return named[0] if "group_left ()" in expression else set.intersection(*named)


@pytest.mark.parametrize("panel", PANELS, ids=lambda panel: panel["title"])
def test_a_panel_names_metrics_and_labels_that_exist(panel):
    (target,) = panel["targets"]
    expression = target["expr"]
    selectors = re.findall(r"(kafka_audit_\w+)(\{[^}]*\})?", expression)
    assert selectors
    assert [name for name, labels in selectors if name not in LABELS or labels != '{cluster=~"$cluster"}'] == []
    grouped = re.findall(r"\bby \(([^)]*)\)", expression)
    shown = {name.strip() for names in grouped for name in names.split(",")} or labels_of(expression)
    assert shown <= labels_of(expression)
    assert set(re.findall(r"\{\{(\w+)\}\}", target.get("legendFormat", ""))) <= shown
    for transformation in panel.get("transformations", []):
        columns = transformation["options"]
        assert {*columns["indexByName"], *columns["excludeByName"]} == shown | OF_PROMETHEUS


def test_all_panels_ask_the_chosen_data_source_and_are_of_grafana_itself():
    assert {panel["type"] for panel in PANELS} <= {"stat", "table", "timeseries", "bargauge"}
    asked = [part["datasource"] for panel in PANELS for part in (panel, *panel["targets"])]
    assert {(one["type"], one["uid"]) for one in asked} == {("prometheus", "${datasource}")}
    source, cluster = dashboard.load()["templating"]["list"]
    assert (source["name"], source["type"], source["query"]) == ("datasource", "datasource", "prometheus")
    assert cluster["name"] == "cluster"
    name, label = re.fullmatch(r"label_values\((\w+), (\w+)\)", cluster["query"]["query"]).groups()
    assert label in LABELS[name]


def test_no_panel_covers_another():
    assert len({panel["id"] for panel in PANELS}) == len({panel["title"] for panel in PANELS}) == len(PANELS)
    for one, other in itertools.combinations([panel["gridPos"] for panel in PANELS], 2):
        beside = one["x"] + one["w"] <= other["x"] or other["x"] + other["w"] <= one["x"]
        assert beside or one["y"] + one["h"] <= other["y"] or other["y"] + other["h"] <= one["y"], (one, other)


def test_the_dashboard_shows_every_severity_in_its_colour():
    (panel,) = [panel for panel in PANELS if panel["title"] == "Failures by severity"]
    named = {override["matcher"]["options"] for override in panel["fieldConfig"]["overrides"]}
    assert named == {severity.name for severity in openmetrics.Severity}
