"""The parts of a cause: its first findings, the findings that it explains, and the text of the incident."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from kafka_audit.checks.incident import (
    Case,
    in_partitions_of,
)
from kafka_audit.model.finding import CauseCandidate, Confidence, Evidence, Finding, Step

VIEW = ("KA101", "KA102", "KA103", "KA104", "KA105", "KA106", "KA107", "KA108", "KA202")
"""What shows in a broker's own view, and is about the broker that was asked."""

REPLICATION = ("KA503", "KA601", "KA602", "KA603", "KA604", "KA618")
"""What partitions suffer when a broker of theirs is away."""


@dataclass(frozen=True, kw_only=True)
class Story:
    """A case in words: everything of an incident that is not counted."""

    headline: str
    impact: str
    confidence: Confidence
    why: str  # one sentence on the confidence
    speaks_for: tuple[Evidence, ...]
    against: tuple[Evidence, ...] = ()
    not_known: tuple[str, ...] = ()
    steps: tuple[Step, ...] = ()
    cause: str | None = None  # where it is not the rule's own: a symptom without a cause
    candidates: tuple[CauseCandidate, ...] = ()


Where = Callable[[Case, Finding], bool]


@dataclass(frozen=True, kw_only=True)
class Explains:
    """Symptoms by code, and the place that they must be at."""

    codes: tuple[str, ...]
    where: Where


@dataclass(frozen=True, kw_only=True)
class Cause:
    """What an incident starts from, and what it explains; earlier causes take their symptoms first."""

    codes: tuple[str, ...]  # of the findings that it starts from; each is the cause, unless the story names another
    meaning: str  # for the reader
    cases: Callable[[Case], Iterable[Case]]  # from a case whose roots are all unclaimed findings of `codes`
    story: Callable[[Case], Story]
    explains: tuple[Explains, ...] = ()
    tier: str = "no cause"
    before: tuple[str, ...] = ()  # codes that causes of its tier start from which come after it


def together(case: Case) -> Iterable[Case]:
    """Take all findings of a code as one fault."""
    return (case,) if case.roots else ()


def apart(case: Case) -> Iterable[Case]:
    """Take each finding as a fault of its own."""
    return (replace(case, roots=(root,)) for root in case.roots)


LOST_REPLICAS = Explains(codes=REPLICATION, where=in_partitions_of)
"""Partitions that lack the brokers of a fault."""
