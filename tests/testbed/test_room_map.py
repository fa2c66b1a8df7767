"""The map of the package."""

from pathlib import Path

from testbed.room_map import imports, layers, page, reduced, written

DOCS = Path(__file__).parents[2] / "docs"


def test_an_import_that_others_imply_is_not_drawn():
    found = {"cli": {"job", "model"}, "job": {"checks"}, "checks": {"model"}, "model": set(), "store": {"model"}}
    assert reduced(found) == {"cli": {"job"}, "job": {"checks"}, "checks": {"model"}, "model": set(), "store": {"model"}}
    assert layers(found) == [["cli"], ["job"], ["checks", "store"], ["model"]]
    assert "| `cli` | 3 | `job` |" in page(found, dict.fromkeys(found, 3)).splitlines()


def test_the_page_is_of_the_code():
    assert (DOCS / "rooms.md").read_text() == written(), "run make docs"


def test_contributors_read_what_each_package_holds():
    text = (DOCS.parent / "CONTRIBUTING.md").read_text()
    table = text[text.index("## Packages") : text.index("## Before a commit")]
    assert [room for room in imports() if f"`{room}`" not in table.replace("plugins/kafka_audit/", "")] == []
