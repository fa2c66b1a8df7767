"""What cases would have to expect for what checks and incidents say today. `make accept` writes it; tests compare it."""

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from checks.cases import told
from kafka_audit.checks import Check
from kafka_audit.model.finding import Incident, Judgement, Status

Expected = dict[str, Any]

TEXTS = {"prints": True, "never_prints": False, "says": True, "never_says": False}
"""Texts that a remedy or a story has, or has not."""


def expected_judgements(check: Check, before: Sequence[Expected], judgements: Iterable[Judgement], printed: Mapping[str, str]):
    """Return the `expect` of a case: what it named before, with the values of now.

    Evidence stays that which was named; a new failure has all of it. `printed` is the remedy of each resource that fails.
    """
    named = {(expected["resource"], expected.get("status", "FAIL")): expected for expected in before}
    found = []
    for judgement in sorted(judgements, key=lambda judgement: (judgement.resource, judgement.status)):
        if judgement.status is Status.PASS:
            continue
        now = told(check, judgement)
        old = named.get((now["resource"], now["status"]))
        new = {key: value for key, value in now.items() if (old or {}).get(key) == value or _tells(key, value, check)}
        new["evidence"] = _evidence(now, old)
        new |= _texts(old or {}, printed.get(judgement.resource, ""))
        found.append({key: new[key] for key in (*(old or ()), *new) if new.get(key)})
    order = {key: place for place, key in enumerate(named)}
    return sorted(found, key=lambda expected: order.get((expected["resource"], expected.get("status", "FAIL")), len(order)))


def _tells(key: str, value: object, check: Check) -> bool:
    return key != "evidence" and (key, value) not in {
        ("status", "FAIL"),
        ("confidence", "measured"),
        ("severity", check.severity.name),
    }


def _evidence(now: Expected, old: Expected | None) -> dict[str, str]:
    if old is None:
        return now["evidence"] if now["status"] == "FAIL" else {}
    kept = old.get("evidence", {})
    return {
        key: kept[key] if str(kept[key]) == now["evidence"][key] else now["evidence"][key]
        for key in kept
        if key in now["evidence"]
    }


def _texts(old: Expected, text: str) -> Expected:
    found = {}
    for key in TEXTS.keys() & old.keys():
        left = [nearest(written, text) if TEXTS[key] else written for written in old[key] if TEXTS[key] or written not in text]
        found[key] = list(dict.fromkeys(text for text in left if text))
    return found


def nearest(wanted: str, text: str) -> str:
    """Return a text that must be there, or the line that is most like it; empty where none is."""
    return wanted if wanted in text else (get_close_matches(wanted, text.splitlines(), 1, 0.5) or [""])[0]


def expected_incidents(
    before: Sequence[Expected], incidents: Sequence[Incident], texts: Sequence[str], names: Mapping[str, str]
) -> list[Expected]:
    """Return the `incidents` of a case: what it named before of each, by cause and place, with the values of now.

    `names` are those of findings by fingerprint, empty where a case does not name them.
    """
    left = list(before)
    found = []
    for incident, text in zip(incidents, texts, strict=True):
        old = next((candidate for candidate in left if candidate["headline"] == incident.headline), None)
        old = old or next((candidate for candidate in left if candidate["cause"] == incident.cause), None)
        if old:
            left.remove(old)
        new = {"headline": incident.headline, "cause": incident.cause, "confidence": incident.confidence.value}
        if names:
            findings = [names[finding] for finding in incident.findings]
            same = old is not None and sorted(old["findings"]) == sorted(findings)
            new["findings"] = old["findings"] if same else sorted(findings)
        found.append(new | _texts(old or {}, text))
    return found
