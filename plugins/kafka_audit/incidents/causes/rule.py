"""The parts of a cause: its first findings, the findings that it explains, and the text of the incident."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from kafka_audit.checks.incident import (
    Case,
    in_partitions_of,
)
from kafka_audit.faults.fault import EdgeObservation
from kafka_audit.faults.solver import Diagnosis, WeighedFault, diagnoses_into, following, told_apart
from kafka_audit.model.finding import CauseCandidate, Confidence, Evidence, Finding, Step
from kafka_audit.model.text import clean

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


_SHOWN = 3
_LIKELIEST_FIRST = ("measured", "possible", "rare", "ruled_out")


def candidates(case: Case, *, follow: bool = False) -> tuple[CauseCandidate, ...]:
    """Return what may break the edges that end at the case's brokers, the likeliest first, then as a connection is made.

    With `follow`, those from the case's brokers to their controllers. Where others than the controller cannot reach them, what
    breaks the controller's edge is another fault.

    Where the cause of an edge was measured, it alone: what would fail after it was not tried. Nothing where an edge works and
    would break with the next connection.
    """
    among = () if case.by_controller else case.sources
    every_edge = (
        [following(case.view, broker)] if follow else diagnoses_into(case.view, broker, among) for broker in case.brokers
    )
    return candidates_of([diagnosis for diagnoses in every_edge if (diagnosis := _first(diagnoses)) is not None])


def candidates_of(found: Sequence[Diagnosis]) -> tuple[CauseCandidate, ...]:
    """Return the candidates of some edges, each kind once."""
    every = [
        candidate
        for diagnosis in found
        for candidate in diagnosis.measured or (diagnosis.candidates if diagnosis.edge.effect.state != "works" else ())
    ]
    kinds = dict.fromkeys(candidate.fault.kind for candidate in every)
    weighed = [_of_kind([candidate for candidate in every if candidate.fault.kind == kind]) for kind in kinds]
    return tuple(sorted(weighed, key=lambda candidate: _LIKELIEST_FIRST.index(candidate.state)))


def _first(diagnoses: Iterable[Diagnosis]) -> Diagnosis | None:
    every = list(diagnoses)
    missing = (diagnosis for diagnosis in every if diagnosis.edge.effect.state == "missing")
    return next(missing, next(iter(every), None))


def _of_kind(found: Sequence[WeighedFault]) -> CauseCandidate:
    fault = found[0].fault
    possible = [candidate for candidate in found if candidate.possible]
    words: tuple[str, ...] = ()
    if any(candidate.measured for candidate in possible):
        possible = list(told_apart([candidate for candidate in possible if candidate.measured]))  # and the evidence says which
    else:
        words = tuple(dict.fromkeys(candidate.fault.words for candidate in possible if candidate.fault.words))
    shown = [observation for candidate in possible for observation in candidate.shown_by]
    left_open = [observation for candidate in possible for observation in candidate.left_open_by]
    if not possible:
        state = "ruled_out"
    elif any(candidate.measured for candidate in possible):
        state = "measured"
    else:
        state = "rare" if all(candidate.fault.rare for candidate in possible) and not shown else "possible"
    return CauseCandidate(
        cause=fault.kind,
        code=fault.check,
        word=fault.word,
        fault=f"{fault.sentence} by {' or '.join(filter(None, [', '.join(words[:-1]), words[-1]]))}" if words else fault.sentence,
        state=state,
        speaks_for=_evidence(shown or left_open),
        against=() if possible else _evidence(observation for candidate in found for observation in candidate.against),
        decided_by=possible[0].decided_by if state in {"possible", "rare"} else "",
    )


def _evidence(observed: Iterable[EdgeObservation]) -> tuple[Evidence, ...]:
    # A log often says that something failed, and not why: what else shows it comes first.
    ordered = sorted(observed, key=lambda observation: observation.of_log)
    lines = dict.fromkeys(Evidence(observer=clean(observation.observer), text=clean(observation.text)) for observation in ordered)
    return tuple(lines)[:_SHOWN]
