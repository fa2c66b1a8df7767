"""The table of what Kafka does by release: whole, asked, and read from somewhere."""

from pathlib import Path

import pytest

import kafka_audit
from kafka_audit.configuration import behaviour as table
from kafka_audit.configuration.behaviour import behaviour, highest_level, level_name, lowered_level, metadata_levels
from kafka_audit.model.package_yaml import package_yaml

RAW = package_yaml("kafka_audit.configuration", "behaviour.yaml")
PAGES = Path(__file__).parents[2] / "docs" / "checks"
ROWS = RAW["behaviour"]
CODE = "\n".join(path.read_text() for path in Path(kafka_audit.__file__).parent.rglob("*.py"))


@pytest.mark.parametrize("name", ROWS)
def test_each_row_says_when_and_where_it_was_read_and_is_asked(name):
    row = behaviour(name)
    assert row.what
    assert row.source
    assert (row.level is None) != (row.since == (0,) and row.until is None)
    assert row.until is None or row.since < row.until
    assert row.pages or f'"{name}"' in CODE, "nothing asks it"


@pytest.mark.parametrize(("name", "code"), [(name, code) for name in ROWS for code in behaviour(name).pages])
def test_a_page_that_names_the_release_names_that_of_the_table(name, code):
    page = (PAGES / f"{code}.md").read_text()
    assert f"Kafka {behaviour(name).first}" in page


def test_a_node_whose_releases_differ_is_not_decided():
    row = behaviour("tiered_storage_needs_one_disk")
    assert (row.holds("3.5.2"), row.holds("3.6.0"), row.holds((3, 7)), row.holds("3.8.1")) == (False, True, True, False)
    assert (row.holds_in(["3.6.2", "3.7.2"]), row.holds_in(["3.7.2", "3.8.1"]), row.holds_in([])) == (True, None, None)


def test_levels_have_no_gap_and_those_that_change_metadata_are_levels():
    names = RAW["metadata_versions"]
    assert [*names] == [*range(1, max(names) + 1)]
    assert {*RAW["changes_metadata"]} <= {*names}
    assert behaviour("dead_disk_reported").first == level_name(17) == "3.7-IV2"


def test_an_unknown_level_is_never_lowered():
    assert lowered_level(34, (4, 4)) == 33
    assert lowered_level(max(RAW["metadata_versions"]) + 1, (4, 4)) is None
    assert lowered_level(21, (3, 2)) is None


def test_a_level_that_the_release_supports_stays():
    assert lowered_level(19, (3, 8)) == 19


def test_what_is_not_known_has_no_level():
    assert metadata_levels((4, 5)) is None
    assert highest_level("x.version", (4, 0)) is None
    assert table.metadata_release(99) == "level 99"
