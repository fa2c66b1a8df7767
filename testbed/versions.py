"""Checks by Kafka release: ``python -m testbed.versions docs`` writes versions.md there from versions.json.

Scenario tests write the record (tests/scenarios/record.py) if KAFKA_AUDIT_RECORD names it.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_MARKS = {"FAIL": "fail", "PASS": "pass", "UNKNOWN": "unknown", "NOT_APPLICABLE": "none"}
_HEAD = """# Checks by Kafka release

`python -m testbed.versions docs` writes this page from `versions.json`, the record of audits of real clusters: healthy
clusters, and clusters with a fault (an address that brokers cannot reach, a broker without connection to its controllers,
controllers that are down, `localhost` or the address of another broker in `advertised.listeners`) before and after the
repair. A cell lists the results of the check. `fail` and `pass`: the check had its data. `unknown`: data was missing.
`none`: the check does not apply. The list below the table gives the reasons.
"""


def page(record: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> str:
    """Return the page of a record: codes by ``version mode``, with statuses, and the first reason for those without verdict."""
    columns = sorted(record)
    codes = sorted({code for column in record.values() for code in column})
    names = {code: one["name"] for column in record.values() for code, one in column.items()}
    lines = [f"| Check | {' | '.join(columns)} |", f"|---|{'---|' * len(columns)}"]
    for code in codes:
        cells = [_cell(record[column].get(code)) for column in columns]
        lines.append(f"| {code} {names[code]} | {' | '.join(cells)} |")
    return "\n".join([_HEAD, *lines, "", "## Reasons", "", *_reasons(record, codes, columns), ""])


def _cell(result: Mapping[str, Any] | None) -> str:
    return ", ".join(_MARKS[status] for status in _MARKS if result and status in result["statuses"])


def _reasons(record: Mapping[str, Mapping[str, Mapping[str, Any]]], codes: Sequence[str], columns: Sequence[str]) -> list[str]:
    """Return a line for each check and reason, with its versions."""
    lines = []
    for code in codes:
        reasons: dict[str, list[str]] = {}
        for column in columns:
            for status, why in record[column].get(code, {"why": {}})["why"].items():
                reasons.setdefault(f"{_MARKS[status]}, {why}", []).append(column)
        for why, where in reasons.items():
            lines.append(f"- {code} ({'everywhere' if len(where) == len(columns) else ', '.join(where)}): {_plain(why)}")
    return lines


def _plain(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def main(arguments: Sequence[str]) -> int:
    """Write the page into the given folder, from the record in the same folder."""
    folder = Path(arguments[0] if arguments else "docs")
    record = json.loads((folder / "versions.json").read_text())
    (folder / "versions.md").write_text(page(record))
    sys.stdout.write(f"{len(record)} versions in {folder / 'versions.md'}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
