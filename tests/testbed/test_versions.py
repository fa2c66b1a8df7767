"""The table of checks and versions."""

import json
from pathlib import Path

from testbed.versions import page

DOCS = Path(__file__).parents[2] / "docs"
RECORD = {
    "1.1.1 ZooKeeper": {
        "KA101": {"name": "stale_leader", "statuses": ["FAIL", "PASS"], "why": {}},
        "KA209": {"name": "voters_down", "statuses": ["NOT_APPLICABLE"], "why": {"NOT_APPLICABLE": "ZooKeeper | holds it"}},
    },
    "4.4.0 KRaft": {"KA101": {"name": "stale_leader", "statuses": ["UNKNOWN"], "why": {"UNKNOWN": "timeout"}}},
}


def test_each_check_has_a_row_and_each_version_a_column():
    lines = page(RECORD).splitlines()
    assert "| Check | 1.1.1 ZooKeeper | 4.4.0 KRaft |" in lines
    assert "| KA101 stale_leader | fail, pass | unknown |" in lines
    assert "| KA209 voters_down | none |  |" in lines
    assert "- KA101 (4.4.0 KRaft): unknown, timeout" in lines
    assert r"- KA209 (1.1.1 ZooKeeper): none, ZooKeeper \| holds it" in lines


def test_the_page_is_of_the_record():
    assert (DOCS / "versions.md").read_text() == page(json.loads((DOCS / "versions.json").read_text()))
