"""The section "On its way" of every page: a bar, since when, an estimate, and what it waits for."""

from collections.abc import Sequence
from dataclasses import dataclass

from kafka_audit.model.progress import ProgressRow
from kafka_audit.model.text import our_line
from kafka_audit.progress.words import summary
from kafka_audit.report.text import utc_text

MOST = 1000
"""Rows that a report lists."""

SHOWN = 20
"""Rows that a page shows; the rest is in findings.json."""

_CELLS = 10
_LONGEST = 400


@dataclass(frozen=True, kw_only=True)
class ProgressLine:
    """A row as pages show it; `mark` is a severity in lower case or `unknown`, `tenths` is None where no share is known."""

    mark: str
    word: str
    tenths: int | None
    text: str
    note: str

    @property
    def bar(self) -> str:
        """The share as ten cells."""
        filled = self.tenths or 0
        return "[" + ("?" * _CELLS if self.tenths is None else "#" * filled + "." * (_CELLS - filled)) + "]"


def shown_rows(rows: Sequence[ProgressRow]) -> list[ProgressRow]:
    """Return the rows that pages have."""
    return [row for row in rows if not row.aside]


def progress_lines(rows: Sequence[ProgressRow]) -> list[ProgressLine]:
    """Return the rows as pages show them."""
    return [_line(row) for row in rows]


def _line(row: ProgressRow) -> ProgressLine:
    mark = {"standing": "high" if row.clients_wait else "medium", "moving": "info", "unknown": "unknown"}[row.state]
    since = utc_text(row.since)
    notes = [f"since {since}" if since else "", row.not_known]
    return ProgressLine(
        mark=mark,
        word={"standing": "stands still", "moving": "moves", "unknown": "not known"}[row.state],
        tenths=None if row.share is None else int(row.share * _CELLS),
        text=our_line(summary(row), _LONGEST),
        note=our_line("; ".join(note for note in notes if note), _LONGEST),
    )
