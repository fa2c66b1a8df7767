"""Faults that look alike from outside, judged by every check and told as incidents: the right cause, or "not decided"."""

from datetime import date
from functools import cache
from typing import Any

import pytest
import yaml

from checks.cases import HERE, base
from checks.world import snapshots
from cluster_views import cluster_views
from incidents.test_causes import text_of
from kafka_audit.checks.run import judge
from kafka_audit.incidents.causes import incidents
from kafka_audit.incidents.findings import findings_with_lifecycle


@cache
def pictures() -> dict[str, Any]:
    raw = yaml.load((HERE.parent / "incidents" / "cases" / "pictures.yml").read_text(), yaml.CSafeLoader)
    return {name: {"world": raw["world"]} | case for name, case in raw["cases"].items()}


@pytest.fixture(scope="module")
def told():
    """The incidents of each picture."""
    views = cluster_views({name: snapshots(base(), name, case) for name, case in pictures().items()})
    return {name: _incidents(view) for name, view in views.items()}


def _incidents(view):
    findings = findings_with_lifecycle(view, judge(view), mutes=(), previous_report=None, today=date(2026, 1, 1))
    return incidents(view, findings, ())


@pytest.mark.parametrize("name", pictures())
def test_a_picture_is_told_by_its_cause_or_not_decided(told, name):
    expected = pictures()[name]["incidents"]
    seen = [{"headline": one.headline, "cause": one.cause, "confidence": one.confidence.value} for one in told[name]]
    assert seen == [{key: one[key] for key in ("headline", "cause", "confidence")} for one in expected]
    for incident, one in zip(told[name], expected, strict=True):
        text = text_of(incident)
        assert [words for words in one.get("says", []) if words not in text] == []
        assert [words for words in one.get("never_says", []) if words in text] == []
