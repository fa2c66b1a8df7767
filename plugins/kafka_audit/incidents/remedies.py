"""What to do on a finding: the `## What to do` of its check's page, filled with evidence."""

import re
from collections.abc import Mapping
from types import MappingProxyType

from kafka_audit.checks import Check
from kafka_audit.model.commands import Prose, prose
from kafka_audit.model.finding import Status, Value, as_text
from kafka_audit.model.text import clean


def remedy(check: Check, status: Status, evidence: Mapping[str, Value]) -> Prose:
    """Return what to do, with the placeholders of the check's page filled; nothing where there is nothing to do."""
    if status not in {Status.FAIL, Status.UNKNOWN}:
        return ()
    needs = clean(as_text(evidence.get("needs", "none")))
    if status is Status.UNKNOWN and needs != "none":
        return (f"Needed: {needs}",)
    return filled_page(what_to_do(check, evidence), evidence)


def filled_page(page: str, evidence: Mapping[str, Value]) -> Prose:
    """Return a page with its placeholders filled; a list of several values fills no word of a command."""
    texts = {key: clean(as_text(value)) for key, value in evidence.items()}
    words = {key: as_text(value) for key, value in evidence.items() if not isinstance(value, Mapping) and not _is_several(value)}
    return prose(page, texts, words)


def _is_several(value: Value) -> bool:
    return isinstance(value, tuple) and len(value) != 1


def why_it_matters(check: Check | None) -> str:
    """Return the first sentence of that section of a check's page; "" where it has no such sentence without a value."""
    section = re.search(r"^## Why it matters\s*\n(.*?)(?=^## |\n\s*\n|\Z)", check.doc if check else "", re.MULTILINE | re.DOTALL)
    sentence = re.split(r"(?<=[.])\s", " ".join(section[1].split()), maxsplit=1)[0] if section else ""
    return "" if "{" in sentence else sentence


def what_to_do(check: Check, evidence: Mapping[str, Value] = MappingProxyType({})) -> str:
    """Return the `## What to do` section of a check's page as plain text: a paragraph is a line, list and code lines stay.

    A page may have more sections, `## What to do: prepared`, of which the one that the evidence `advice` names follows.
    """
    advice = as_text(evidence.get("advice", ""))
    titles = ["What to do", f"What to do: {advice}"] if advice else ["What to do"]
    sections = (
        re.search(rf"^## {re.escape(title)}\s*\n(.*?)(?=^## |\Z)", check.doc, re.MULTILINE | re.DOTALL) for title in titles
    )
    text = "\n\n".join(section[1].strip() for section in sections if section is not None)
    return (
        "\n".join(re.sub(r"\n(?![-*] |[0-9]+[.)] | )", " ", paragraph) for paragraph in re.split(r"\n\s*\n", text))
        if text
        else ""
    )
