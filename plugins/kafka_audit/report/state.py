"""What a report comes down to: one word, one mark and one sentence, the same on every page."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kafka_audit.model.finding import Severity
from kafka_audit.model.text import clean, counted

INCIDENT, UNJUDGED, QUIET = "Incident", "Not judged", "No incident"
GROUPS = (INCIDENT, UNJUDGED, QUIET)
"""In the order in which somebody must look at them."""


@dataclass(frozen=True, kw_only=True)
class State:
    """`mark` is a severity in lower case, `ok`, `unknown` or `na`; `sentence` is what a headline says."""

    group: str
    mark: str
    word: str
    note: str
    sentence: str


def judge(document: Mapping[str, Any], min_coverage: float = 1.0) -> State:
    """Return the state that a report describes.

    Args:
        document: a `findings.json`.
        min_coverage: share of the asked reads, 0 to 1, below which silence is no good news.
    """
    coverage = document["coverage"]
    asked, answered = coverage["asked"], coverage["answered"]
    if document["incidents"]:
        return _incident(document)
    if answered < min_coverage * asked or not answered:
        sentence = f"Not judged: {answered} of {asked} reads answered, and nothing that did speaks of an incident"
        return State(group=UNJUDGED, mark="unknown", word="not judged", note="too little answered", sentence=sentence)
    failed = [f for f in document["findings"] if f["status"] == "FAIL" and not f["muted"]]
    worst = max((Severity[f["severity"]] for f in failed), default=Severity.INFO)
    if worst > Severity.LOW:
        sentence = f"No incident: {counted(len(failed), 'finding')}, {worst.name} at worst"
        note = counted(len(failed), "finding")
        return State(group=QUIET, mark=worst.name.lower(), word="no incident", note=note, sentence=sentence)
    sentence = "Clear, as far as was asked"
    return State(group=QUIET, mark="ok", word="clear", note="as far as was asked", sentence=sentence)


def _incident(document: Mapping[str, Any]) -> State:
    worst = document["incidents"][0]
    more = len(document["incidents"]) - 1
    note = f"{worst['severity'].lower()}, {worst['lifecycle']}"
    headline = clean(worst["headline"]) + (f", and {counted(more, 'more incident')}" if more else "")
    return State(group=INCIDENT, mark=worst["severity"].lower(), word="incident", note=note, sentence=headline)
