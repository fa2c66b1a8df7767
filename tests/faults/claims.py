"""What a document claims: which cause, at which party, and how sure it is."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from testbed.corpus.documents import Document

CAUSES = frozenset(
    [
        "KA111",
        "KA113",
        "KA209",
        "KA210",
        "KA212",
        "KA216",
        "KA218",
        "KA301",
        "KA302",
        "KA303",
        "KA304",
        "KA305",
        "KA401",
        "KA403",
        "KA404",
        "KA405",
        "KA412",
        "KA501",
        "KA508",
        "KA702",
    ]
)
"""Checks that name a reason why an edge fails. The other ones report an effect, a setting, or a gap of the audit."""

RANK = {"none": 0, "suspected": 1, "inferred": 2, "measured": 3}
SURE = RANK["inferred"]

Claim = tuple[str, str]
"""A cause, and the party that it is about: `broker/2`, or the resource where that is no broker's."""


def party(resource: str) -> str:
    """Return the broker of a resource, or the resource itself."""
    found = re.match(r"broker/\d+", resource)
    return found.group() if found else resource


def claims(document: Document) -> dict[Claim, int]:
    """Return how sure the incidents are of each cause: a value of `RANK`."""
    findings = {one["fingerprint"]: one for one in document["findings"]}
    found: dict[Claim, int] = {}
    for incident in document["incidents"]:
        for one in (findings[fingerprint] for fingerprint in incident["findings"]):
            if one["code"] == incident["cause"] and one["code"] in CAUSES:
                key = cause_of(one), party(one["resource"]["name"])
                found[key] = max(found.get(key, 0), RANK[incident["confidence"]])
    return found


def cause_of(finding: Mapping[str, Any]) -> str:
    """Return what a finding says is wrong: its code, but for a check that reports several causes, or none of them."""
    evidence = finding["evidence"]
    cause = "undecided" if evidence.get("undecided") else evidence.get("cause", "address")
    if finding["code"] == "KA113":  # of a broker that runs it says why
        return str(evidence.get("cause", "undecided")) if evidence.get("runs") else "KA113"
    return finding["code"] if finding["code"] != "KA302" or cause == "address" else str(cause)


def failures(document: Document) -> dict[Claim, int]:
    """Return how sure findings are of each cause, whichever incident explains them."""
    found: dict[Claim, int] = {}
    for one in document["findings"]:
        if one["status"] == "FAIL" and one["code"] in CAUSES:
            key = cause_of(one), party(one["resource"]["name"])
            found[key] = max(found.get(key, 0), RANK[one["confidence"]])
    # That a broker is not registered is measured, however sure it is why; without the facts that it runs, that is what is left.
    found |= {("KA113", broker): RANK["measured"] for broker in _running(document)}
    return found


def _running(document: Document) -> Iterator[str]:
    for one in document["findings"]:
        if one["code"] == "KA113" and one["status"] == "FAIL" and one["evidence"].get("runs"):
            yield party(one["resource"]["name"])


def stronger(before: Document, after: Document) -> dict[Claim, tuple[int, int]]:
    """Return the causes of which `after` is sure, and surer than `before`: how sure each of them is."""
    known = failures(before)
    for key, rank in claims(before).items():
        known[key] = max(known.get(key, 0), rank)
    return {key: (known.get(key, 0), rank) for key, rank in claims(after).items() if rank >= SURE and rank > known.get(key, 0)}


_IDS = r"\d+(?:-\d+)?"
_NAMED = re.compile(rf"\b(?:brokers?|controllers?|nodes?|voters?) ({_IDS}(?:(?:, | and |, and ){_IDS})*)", re.IGNORECASE)
_NOT_AT_FAULT = frozenset({"open", "port"})
"""Evidence that is no party, or speaks for one: brokers whose probe connects."""


def ids_in(headline: str) -> set[int]:
    """Return the ids of parties that a headline names."""
    found: set[int] = set()
    for match in _NAMED.finditer(headline):
        for part in re.findall(_IDS, match.group(1)):
            first, _, last = part.partition("-")
            found |= set(range(int(first), int(last or first) + 1))
    return found


def ids_in_evidence(document: Document, incident: Mapping[str, Any]) -> set[int]:
    """Return the ids that the findings of an incident are about, or have in their evidence."""
    findings = {one["fingerprint"]: one for one in document["findings"]}
    found: set[int] = set()
    for one in (findings[fingerprint] for fingerprint in incident["findings"]):
        found |= set(map(int, re.findall(r"broker/(\d+)", one["resource"]["name"])))
        found |= {number for key, value in one["evidence"].items() if key not in _NOT_AT_FAULT for number in _numbers(value)}
    return found


def _numbers(value: object) -> Iterator[int]:
    if isinstance(value, bool):
        return
    if isinstance(value, int):
        yield value
    elif isinstance(value, list):
        for part in value:
            yield from _numbers(part)
    elif isinstance(value, dict):
        for part in value.values():
            yield from _numbers(part)


def unsupported_exclusions(document: Document, incident: Mapping[str, Any]) -> list[str]:
    """Return what an incident calls ruled out without an observation between the parties against it.

    What the auditor's own login or handshake shows says nothing of another edge; a cause that fails on the same edge is not ruled
    out, whichever other broker it keeps away; and who says that rivals were ruled out, lists them.
    """
    out = [one for one in incident["candidates"] if one["state"] == "ruled_out"]
    reasons = {one["cause"]: " ".join(line["text"] for line in one["against"]) for one in out}
    wrong = [cause for cause, why in reasons.items() if not why or "auditor's own" in why]
    if "were ruled out" in incident["confidence_why"] and not out:
        wrong.append(f"{incident['confidence_why']} But no candidate says why.")
    at = {key[1] for key in claims(document) if key[0] == incident["cause"]}
    failing = {cause_of(one) for one in document["findings"] if _fails_on_an_edge_of(document, incident, one, at)}
    failing -= {incident["cause"]}
    by_settings = "the brokers' listener is"  # a login does not fail for TLS where there is none, whatever else its check found
    return wrong + [one["cause"] for one in out if one["code"] in failing and by_settings not in reasons[one["cause"]]]


def _fails_on_an_edge_of(document: Document, incident: Mapping[str, Any], finding: Mapping[str, Any], at: set[str]) -> bool:
    """Return whether a finding names a cause at these brokers, on an edge that the incident is about.

    KA302 says from which brokers an address is closed, and from which it is open. An incident whose headline is about the
    controller is about its edge alone.
    """
    if finding["status"] != "FAIL" or finding["code"] not in CAUSES or party(finding["resource"]["name"]) not in at:
        return False
    evidence, controller = finding["evidence"], document["matrix"]["controller"]
    by_controller = controller is not None and "controller" in incident["headline"]
    return not (by_controller and controller in evidence.get("open", ()) and controller not in evidence.get("from", ()))
