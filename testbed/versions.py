"""Which check works on which Kafka: ``python -m testbed.versions docs`` writes versions.md there from versions.json.

The record is kept by scenario tests (tests/scenarios/record.py) where KAFKA_AUDIT_RECORD names it.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_MARKS = {"FAIL": "fail", "PASS": "pass", "UNKNOWN": "unknown", "NOT_APPLICABLE": "none"}
_HEAD = """# Which check works on which Kafka

Written by `python -m testbed.versions docs` from `versions.json`, the record of audits of real clusters: at rest, and
where the run had one, with a fault (an address that brokers do not reach, a broker cut from its controllers, controllers that are
down, `localhost` or another broker's address advertised) and healed. In a cell stands what the check was seen to say: `fail` and
`pass` mean that it worked, `unknown` that it said what it lacks, `none` that it does not apply; why, is told below the table.
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
    return "\n".join([_HEAD, *lines, "", "## Why not", "", *_reasons(record, codes, columns), ""])


def _cell(told: Mapping[str, Any] | None) -> str:
    return ", ".join(_MARKS[status] for status in _MARKS if told and status in told["statuses"])


def _reasons(record: Mapping[str, Mapping[str, Mapping[str, Any]]], codes: Sequence[str], columns: Sequence[str]) -> list[str]:
    """Return a line for each check and reason that it gave, with the versions on which it gave it."""
    lines = []
    for code in codes:
        told: dict[str, list[str]] = {}
        for column in columns:
            for status, why in record[column].get(code, {"why": {}})["why"].items():
                told.setdefault(f"{_MARKS[status]}, {why}", []).append(column)
        for why, where in told.items():
            lines.append(f"- {code} ({'everywhere' if len(where) == len(columns) else ', '.join(where)}): {_plain(why)}")
    return lines


def _plain(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def main(arguments: Sequence[str]) -> int:
    """Write the page into the folder that is given, from the record beside it."""
    folder = Path(arguments[0] if arguments else "docs")
    record = json.loads((folder / "versions.json").read_text())
    (folder / "versions.md").write_text(page(record))
    sys.stdout.write(f"{len(record)} versions in {folder / 'versions.md'}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
