"""Words and colours of every report: `clean` for strings that a cluster supplied, wrapping, terminal colours."""

import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from kafka_audit.model import quoting
from kafka_audit.model.commands import Prose
from kafka_audit.model.report import ReportedCandidate
from kafka_audit.model.text import brokers, clean, counted, listing, our_line, ranges, start_upper

__all__ = [
    "CANDIDATE",
    "LIFECYCLE",
    "Paint",
    "brokers",
    "candidate_text",
    "clean",
    "clean_prose",
    "counted",
    "listing",
    "our_line",
    "ranges",
    "remedy_text",
    "start_upper",
    "utc_text",
    "wrap",
]  # fmt: skip

CANDIDATE = {"measured": "+", "possible": "?", "rare": "?", "ruled_out": "-"}
"""How a report marks a candidate."""

LIFECYCLE = {"new": "+ new", "ongoing": "= ongoing", "resolved": "− resolved", "incomparable": "≁ incomparable"}  # noqa: RUF001
"""How a report marks a finding's place in time: the sign reads without colour, the word aloud."""

# A command, or a name of Kafka; a longer span is a stray backtick in a name.
_QUOTED = re.compile(r"`[^`\n]{1,160}`")

_BLANK = "\0"
"""A blank at which no line breaks."""

_CODES = {
    "CRITICAL": "1;31",
    "HIGH": "31",
    "MEDIUM": "33",
    "LOW": "36",
    "INFO": "2",
    "unknown": "35",
    "good": "32",
    "bold": "1",
    "dim": "2",
}


@dataclass(frozen=True, kw_only=True)
class Paint:
    """ANSI colours, or none. Colour never carries what words do not say."""

    on: bool

    def __call__(self, style: str, text: str) -> str:
        """Return `text` in the colour of a severity, or of `unknown`, `good`, `bold`, `dim`."""
        return f"\x1b[{_CODES[style]}m{text}\x1b[0m" if self.on and text else text


def utc_text(value: str | None, form: str = "%d %b %Y %H:%M UTC") -> str:
    """Return a time of a report as a sentence shows it; "" for one that is not known, or that a stored report has malformed."""
    try:
        return "" if value is None else datetime.fromisoformat(value).strftime(form).lstrip("0")
    except ValueError:
        return ""


def clean_prose(text: str, limit: int = 1000) -> str:
    """Return text of several lines with each line cleaned: line breaks are ours, everything else may be the cluster's."""
    return "\n".join(our_line(line, limit) for line in text.split("\n"))


def remedy_text(text: str | Prose) -> str:
    """Return a remedy for `wrap`, which leaves its commands whole."""
    return quoting.written(
        text,
        words=clean_prose,
        span=lambda code: f"`{unbroken(code)}`",
        line=unbroken,
    )


def unbroken(text: str) -> str:
    """Return a text in which `wrap` breaks no line."""
    return text.replace(" ", _BLANK)


def wrap(text: str, width: int, first: str = "", rest: str | None = None) -> Iterator[str]:
    """Yield lines of at most `width` characters, the first behind `first`, others behind `rest` (default: blanks).

    Words longer than a line stay whole, so that an address can be copied, and so do commands between backticks.
    """
    later = " " * len(first) if rest is None else rest
    for paragraph in text.split("\n"):
        lines = textwrap.wrap(
            _QUOTED.sub(lambda command: unbroken(command[0]), paragraph),
            width=max(width, len(first) + 20),
            initial_indent=first,
            subsequent_indent=later,
            break_long_words=False,
            break_on_hyphens=False,
        )
        yield from (line.replace(_BLANK, " ") for line in lines)
        first = later


def candidate_text(candidate: ReportedCandidate) -> str:
    """Return a candidate of an incident in a sentence: what it is, what speaks for it or rules it out, what would decide."""
    subject = f"{candidate.fault} ({candidate.code})"
    if candidate.state == "ruled_out":
        return f"{subject} is ruled out: {listing((evidence.text for evidence in candidate.against), 2)}"
    shown = dict.fromkeys(evidence.text for evidence in candidate.speaks_for)  # several hosts may show the same
    reasons = listing(shown, 2) or "nothing that was read shows it or rules it out"
    rare = ", which is rare" if candidate.state == "rare" else ""
    decided = f". To decide: {candidate.decided_by}" if candidate.decided_by else ""
    return f"{subject}{rare}: {reasons}{decided}."


_MINUTE, _HOUR, _DAY = 60, 3600, 86400


def time_span(seconds: float) -> str:
    """Return a span of time in its largest unit."""
    if seconds < _MINUTE:
        return "less than a minute"
    for size, unit in ((_DAY, "day"), (_HOUR, "hour"), (_MINUTE, "minute")):
        if seconds >= size:
            return counted(int(seconds // size), unit)
    return ""
