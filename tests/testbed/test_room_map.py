"""The map of the package."""

from pathlib import Path

from testbed.room_map import page, reduced, written

DOCS = Path(__file__).parents[2] / "docs"


def test_an_import_that_others_imply_is_not_drawn():
    found = {"cli": {"job", "model"}, "job": {"checks"}, "checks": {"model"}, "model": set(), "store": {"model"}}
    assert reduced(found) == {"cli": {"job"}, "job": {"checks"}, "checks": {"model"}, "model": set(), "store": {"model"}}
    lines = page(found, dict.fromkeys(found, 3)).splitlines()
    assert "  cli --> job" in lines
    assert "  cli --> model" not in lines
    assert "| `cli` | 3 | `job`, `model` |" in lines


def test_the_page_is_of_the_code():
    assert (DOCS / "rooms.md").read_text() == written(), "run make docs"
