"""A report on a cluster whose every text is an attack: each form of it shows text, and stays as small as it promises."""

import json
import re

import pytest

import hostile
from kafka_audit.report import digest, formats, terminal


@pytest.fixture(scope="module", params=range(len(hostile.STRINGS)), ids=["planted", "long", "long inside"])
def document(request):
    return json.loads(json.dumps(hostile.document(hostile.STRINGS[request.param])))


def test_it_has_incidents_findings_changes_and_a_picture(document):
    assert document["incidents"]
    assert {one["status"] for one in document["findings"]} == {"FAIL", "UNKNOWN"}
    assert document["changes"]
    assert document["matrix"]["observers"]


def test_the_page_as_a_file(document):
    page = formats.FILES["html"](document)
    hostile.harmless(page)
    assert "alert(1)" in "".join(hostile.Elements(page).says) or "yyyy" in page


def test_markdown(document):
    page = formats.FILES["md"](document)
    assert hostile.unshown(page) == set()
    outside = re.sub(r"(?ms)^ *(`{3,})\w+$.*?^ *\1$", "", page)  # in a fence nothing is markup
    outside = re.sub(r"`[^`\n]*`", "", outside.replace("\\`", ""))
    assert "<" not in outside
    assert "](javascript" not in outside.replace("\\]", "")
    assert "x" * 5000 not in page
    assert len(page.encode()) < hostile.MOST_BYTES


@pytest.mark.parametrize("form", ["sarif", "json"])
def test_what_other_programs_read_is_ascii_and_bounded(document, form):
    text = formats.FILES[form](document)
    assert text.isascii()
    json.loads(text)
    assert "x" * 5000 not in text
    assert "z" * 5000 not in text
    assert len(text) < 40_000 * len(document["findings"])


def test_what_sarif_shows(document):
    log = json.loads(formats.FILES["sarif"](document))
    for result in log["runs"][0]["results"]:
        assert hostile.unshown(result["message"]["text"]) == set()


def test_the_terminal(document):
    page = terminal.render(document, hostile.snapshot(hostile.PLANTED), width=100, color=False)
    assert hostile.unshown(page) == set()
    assert "x" * 5000 not in page
    assert len(page) < hostile.MOST_BYTES


def test_the_digest(document):
    assert len(digest.text(document)) < hostile.MOST_BYTES / 10
