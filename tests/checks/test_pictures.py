"""Faults that look alike from outside, judged by every check and told as incidents: the right cause, or "not decided"."""

import pytest

from checks.cases import base
from checks.pictures import incidents_of, pictures
from checks.world import snapshots
from cluster_views import cluster_views
from incidents.test_causes import text_of


@pytest.fixture(scope="module")
def pictured_incidents():
    """The incidents of each picture."""
    views = cluster_views({name: snapshots(base(), name, picture.world) for name, picture in pictures().items()})
    return {name: incidents_of(view) for name, view in views.items()}


@pytest.mark.parametrize("name", pictures())
def test_a_picture_is_told_by_its_cause_or_not_decided(pictured_incidents, name):
    expected = pictures()[name].expected
    seen = [
        {"headline": incident.headline, "cause": incident.cause, "confidence": incident.confidence.value}
        for incident in pictured_incidents[name]
    ]
    assert seen == [{key: wanted[key] for key in ("headline", "cause", "confidence")} for wanted in expected]
    for incident, wanted in zip(pictured_incidents[name], expected, strict=True):
        text = text_of(incident)
        assert [words for words in wanted.get("says", []) if words not in text] == []
        assert [words for words in wanted.get("never_says", []) if words in text] == []
