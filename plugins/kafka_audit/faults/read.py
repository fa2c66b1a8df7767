"""What the diagnosis of the edges to a broker means to a check that reports some of the faults: one table for all such checks."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from kafka_audit.faults.edges import Edge
from kafka_audit.faults.facts import Facts
from kafka_audit.faults.fault import EdgeObservation, Fault
from kafka_audit.faults.solver import Diagnosis, WeighedFault, diagnosed, most_exact
from kafka_audit.model.finding import Confidence
from kafka_audit.words.sentences import NamedList, fill

BROKEN, EXPLAINED, UNDECIDED, WORKS, UNSEEN = "broken", "explained", "undecided", "works", "unseen"
"""What is known: the edge is broken by a fault of the check, by one of another check, or by one of several; it can be broken by
none of the check; nothing shows whether it is."""

_AT_THE_DOOR = frozenset({"tls", "sasl"})
"""Layers at which a broker that let its controller in keeps no other one out, as far as nothing shows that it does."""


@dataclass(frozen=True, kw_only=True)
class EdgeReading:
    """What a check may say.

    | edge | what leads | `state`, `confidence` |
    |---|---|---|
    | | a fault of the check, seen between the two parties, with nothing there against it | broken, measured |
    | broken | a fault of the check, and every rival has something against it | broken, inferred |
    | broken | a fault of the check, that something shows, or the only one that is not rare | broken, suspected |
    | broken | a fault of another check | explained |
    | broken | none, or several | undecided |
    | of a broker that does not answer | one TLS fault of the check, shown and with nothing against it | broken, inferred |
    | not broken | every fault of the check has something against it | works |
    | not broken | | unseen |

    Attributes:
        code: of the check.
        diagnosis: of the edge that was read: the one that is broken, else the first; None without any.
        found: the candidates of the check that break it, likeliest first, or leave it open.
    """

    code: str
    state: str
    diagnosis: Diagnosis | None
    confidence: Confidence = Confidence.MEASURED
    found: tuple[WeighedFault, ...] = ()

    @property
    def fault(self) -> Fault | None:
        """The fault, where one alone is shown: a line of a log may say that a handshake failed, and not why.

        Of a handshake the only one that is left is enough, where everything else is ruled out.
        """
        names = {candidate.fault.name for candidate in self.found if candidate.shown_by}
        left = {candidate.fault.name for candidate in self.found if candidate.fault.layer == "tls"}
        only = self.confidence is Confidence.INFERRED and len(self.found) == len(left) == 1
        return self.found[0].fault if self.state == BROKEN and (len(names) == 1 or only) else None

    @property
    def shown(self) -> tuple[EdgeObservation, ...]:
        """What shows it, each text once; what is no line of a log comes first."""
        every = [observation for candidate in self.found for observation in candidate.shown_by]
        every.sort(key=lambda observation: (observation.of_log, not observation.direct))
        return tuple({observation.text: observation for observation in reversed(every)}.values())[::-1]

    @property
    def doubts(self) -> tuple[str, ...]:
        """What shows a fault of the check, or leaves it open, though something else speaks against it."""
        every = () if self.diagnosis is None else self.diagnosis.of_check(self.code)
        return tuple(observation.text for candidate in every for observation in candidate.shown_by)

    @property
    def sources(self) -> tuple[int, ...]:
        """Of whom the fault is shown, else the sources of the edge."""
        named = {source for candidate in self.found for one in candidate.shown_by for source in one.sources}
        return tuple(sorted(named)) or (self.diagnosis.edge.sources if self.diagnosis else ())

    @property
    def usual(self) -> tuple[Fault, ...]:
        """What a headline names while nothing is decided."""
        return () if self.diagnosis is None else self.diagnosis.usual

    @property
    def in_progress(self) -> bool:
        """Whether what leads ends by itself."""
        leading = None if self.diagnosis is None else self.diagnosis.leading
        return leading is not None and leading.fault.in_progress

    @property
    def explained_by(self) -> tuple[Fault, ...]:
        """What may explain the edge: what is in progress, where that leads, else all that is possible."""
        if self.diagnosis is None:
            return ()
        leading = self.diagnosis.leading
        return (leading.fault,) if leading is not None and leading.fault.in_progress else self.diagnosis.kinds

    def filled(self, template: str, sources: Collection[int]) -> str:
        """Return a text of the fault, with what shows it."""
        target = self.diagnosis.edge.target if self.diagnosis else None
        details = {name: text for one in reversed(self.shown) for name, text in one.details.items()}
        return fill(template, {"target": target, "sources": NamedList(sources), **details})

    @property
    def rivals(self) -> tuple[Fault, ...]:
        """What else is not ruled out, one fault of each kind."""
        own = self.found[0].fault.group if self.state == BROKEN else ""
        return () if self.diagnosis is None else self.diagnosis.rivals(own)


def reading_of(facts: Facts, code: str, edges: Sequence[Edge]) -> EdgeReading:
    """Return what the edges to one broker mean to a check; the first of these that decides is read."""
    for diagnosis in (diagnosed(facts, edge) for edge in edges):
        if own := [candidate for candidate in diagnosis.of_check(code) if candidate.measured]:
            alike = most_exact([candidate for candidate in own if candidate.fault.group == own[0].fault.group])
            return EdgeReading(code=code, state=BROKEN, diagnosis=diagnosis, found=alike)
    if not edges:
        return EdgeReading(code=code, state=UNSEEN, diagnosis=None)
    broken = next((diagnosed(facts, edge) for edge in edges if edge.effect.state == "missing"), None)
    diagnosis = broken or diagnosed(facts, edges[0])
    left = tuple(candidate for candidate in diagnosis.of_check(code) if candidate.possible)
    if facts.accepted(diagnosis.edge.target) is not None:
        left = tuple(candidate for candidate in left if candidate.shown_by or candidate.fault.layer not in _AT_THE_DOOR)
    shown = tuple(candidate for candidate in left if candidate.shown_by)
    reading = EdgeReading(code=code, state=UNSEEN if left else WORKS, diagnosis=diagnosis, found=left)
    if not left:
        return reading
    if broken is None:
        # Of a broker that does not answer no effect is known. What is wrong with its TLS keeps the auditor out as well.
        silent = facts.between.asked and facts.edges.own_view(diagnosis.edge.target) is None
        alone = silent and len(shown) == 1 and shown[0].fault.layer == "tls"
        return replace(reading, state=BROKEN, confidence=Confidence.INFERRED, found=shown) if alone else reading
    if broken.leading is None or broken.leading.fault.check != code:
        state = UNDECIDED if broken.leading is None else EXPLAINED
        return replace(reading, state=state, confidence=Confidence.SUSPECTED)
    led = tuple(candidate for candidate in shown or left if candidate.fault.group == broken.leading.fault.group)
    return replace(reading, state=BROKEN, confidence=broken.leading.confidence, found=led)
