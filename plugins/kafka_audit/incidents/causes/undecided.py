"""Views differ and no cause was found: the symptom, each candidate with its evidence, and the data that would decide."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from kafka_audit.faults.known import known_faults
from kafka_audit.incidents.causes import log_quotes
from kafka_audit.incidents.causes.candidates import candidates
from kafka_audit.incidents.causes.rule import (
    LOST_REPLICAS,
    VIEW,
    Case,
    Cause,
    Explains,
    Story,
    at_the_broker,
    evidence_of,
)
from kafka_audit.incidents.causes.told import told
from kafka_audit.model.finding import Confidence
from kafka_audit.model.text import brokers, clean

_EDGE, _BEHIND = "KA302", "KA603"  # the check that names the candidates, and the symptom that names the incident

LEADING = ("KA105", "KA101", "KA107", "KA102", "KA202", "KA104", "KA106", "KA108", "KA103", _EDGE)
"""Which symptom names the incident when several show: the emptiest view first."""


def story(case: Case) -> Story:
    """Return the story: which views differ, and that why is not decided."""
    found = candidates(case)
    left = [candidate for candidate in found if candidate.state in {"measured", "possible"}] or [
        candidate for candidate in found if candidate.state == "rare"
    ]
    leading = min((root.code for root in case.roots), key=LEADING.index)
    follows = leading == _EDGE
    of_leading = [root for root in case.roots if root.code == leading]
    shown: dict[str, Any] = {leading: True}
    words, followers = [candidate.word for candidate in left], _followers(case)
    return told(
        case,
        "undecided undecided",
        cause=_BEHIND if follows else leading,
        evidence=(
            *evidence_of(case.roots),
            *log_quotes.idle(case, tuple(dict.fromkeys(candidate.code for candidate in left))),
        ),
        confidence=Confidence.SUSPECTED,
        candidates=found,
        **shown,
        follows=follows,
        waits=not {fault.kind for fault in known_faults() if fault.in_progress}.isdisjoint(candidate.cause for candidate in left),
        followers=followers,
        asked=_asked(case),
        parties=len(followers if follows else case.brokers or _addresses(case)),
        lists_none=leading == "KA105" and all(root.evidence.get("empty") is True for root in of_leading),
        one_address=not case.brokers and len(_addresses(case)) == 1,
        all_empty=bool(case.brokers) and case.empty.issuperset(case.brokers),
        choice=" or ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words) or "no known cause fits",
    )


def _addresses(case: Case) -> list[str]:
    """Return the addresses at which brokers answered whose id was not read."""
    return sorted({root.resource.address for root in case.roots if root.resource.address is not None})


def _asked(case: Case) -> str:
    if case.brokers:
        return brokers(case.brokers)
    addresses = _addresses(case)
    return f"the broker at {clean(addresses[0])}" if len(addresses) == 1 else f"brokers at {len(addresses)} addresses"


def _followers(case: Case) -> list[int]:
    return sorted({source for root in case.roots for source in root.numbers("from")})


def cases(case: Case) -> Iterable[Case]:
    """Split unexplained views: an empty view and a stale view can have different causes, and so has what is of unknown id.

    KA103 alone has its own remedy (the listener is missing at the leader) and is reported by its code.
    """
    views = tuple(root for root in case.roots if not root.muted)
    if all(root.code == "KA103" for root in views):
        return
    known = [root for root in views if root.resource.broker is not None]
    empty = tuple(root for root in known if root.resource.broker in case.empty)
    stale = tuple(root for root in known if root.resource.broker not in case.empty)
    unknown = tuple(root for root in views if root.resource.broker is None)
    for roots in filter(None, (empty, stale, unknown)):
        yield replace(case, roots=roots)


UNDECIDED = Cause(
    codes=VIEW,
    meaning="views differ, and the data that would decide between the candidates was not read",
    cases=cases,
    story=story,
    explains=(Explains(codes=("KA302", "KA303"), where=at_the_broker), LOST_REPLICAS),
)


def undecided_edges(case: Case) -> Iterable[Case]:
    """Take the brokers from which others do not replicate, where nothing decides why."""
    roots = tuple(root for root in case.roots if root.texts("undecided") and not root.muted)
    return (replace(case, roots=roots),) if roots else ()


UNDECIDED_EDGES = Cause(
    codes=(_EDGE,),
    meaning="followers do not replicate from a broker, and the data that would decide between the candidates was not read",
    cases=undecided_edges,
    story=story,
    explains=(LOST_REPLICAS,),
)
