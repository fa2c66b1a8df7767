"""What may break the edges of a case: the candidates of its incident."""

from collections.abc import Iterable, Sequence

from kafka_audit.checks.incident import Case
from kafka_audit.faults.fault import EdgeObservation
from kafka_audit.faults.solver import Diagnosis, WeighedFault, diagnoses_into, following, most_exact
from kafka_audit.model.finding import CauseCandidate, Evidence
from kafka_audit.model.text import clean

_SHOWN = 3
_LIKELIEST_FIRST = ("measured", "possible", "rare", "ruled_out")


def edges_of(case: Case, *, follow: bool = False) -> list[Diagnosis]:
    """Return the diagnoses of the edges that end at the case's brokers, one for each broker: its candidates are the incident's.

    With `follow`, those from the case's brokers to their controllers. Where others than the controller cannot reach them, what
    breaks the controller's edge is another fault.
    """
    among = () if case.by_controller else case.sources
    every_edge = (
        [following(case.view, broker)] if follow else diagnoses_into(case.view, broker, among) for broker in case.brokers
    )
    return [diagnosis for diagnoses in every_edge if (diagnosis := _first(diagnoses)) is not None]


def candidates_of(found: Sequence[Diagnosis]) -> tuple[CauseCandidate, ...]:
    """Return what may break some edges, each kind once, the likeliest first, then as a connection is made.

    Where the cause of an edge was measured, it alone: what would fail after it was not tried. Nothing where an edge works and
    would break with the next connection.
    """
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
        possible = list(most_exact([candidate for candidate in possible if candidate.measured]))  # and the evidence says which
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
