"""KRaft: the view of a broker no longer changes, or the broker is fenced, so it no longer follows its controllers."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from kafka_audit.diagnosis.cause import ADDRESS, LOADER, CauseKind
from kafka_audit.diagnosis.facts import facts_of
from kafka_audit.diagnosis.solver import following
from kafka_audit.incidents.causes import log_quotes
from kafka_audit.incidents.causes.candidates import candidates
from kafka_audit.incidents.causes.controller.quorum import about_the_quorum
from kafka_audit.incidents.causes.repair import connect_commands_to
from kafka_audit.incidents.causes.rule import (
    LOST_REPLICAS,
    VIEW,
    Case,
    Cause,
    Explains,
    Story,
    at_the_broker,
    edges_behind,
    evidence_of,
    evidence_of_edges,
    evidence_of_reads,
)
from kafka_audit.incidents.causes.told import told
from kafka_audit.model.commands import command
from kafka_audit.model.finding import Confidence, Finding, Severity, Status
from kafka_audit.model.tables import SourceRead
from kafka_audit.model.text import listing

CODES = ("KA101", "KA102", "KA105", "KA107", "KA210")
"""What an old view shows, the one that names the incident first; in KRaft brokers fetch their view, so all have one cause."""


def cases(case: Case) -> Iterable[Case]:
    """Take all old views as one fault; in ZooKeeper mode none."""
    roots = tuple(sorted((root for root in case.roots if not root.muted), key=lambda root: CODES.index(root.code)))
    return (replace(case, roots=roots),) if case.view.kraft and roots else ()


def followed_no_more(case: Case) -> Case:
    """Return the case whose roots are all unmuted old views of HIGH and above; no roots with ZooKeeper."""
    old = (
        f for f in case.findings if f.code in CODES and f.status is Status.FAIL and f.severity >= Severity.HIGH and not f.muted
    )
    return replace(case, roots=tuple(old) if case.view.kraft else ())


def at_either_end(case: Case, symptom: Finding) -> bool:
    """Explain cuts at the case's brokers, and those that were seen from their hosts alone: one cut, seen from its other end."""
    sources = set(symptom.numbers("from"))
    return at_the_broker(case, symptom) or (bool(sources) and sources <= set(case.brokers))


def story(case: Case) -> Story:
    """Return the story: who is behind, and what may keep it from its controllers."""
    found = candidates(case, follow=True)
    confidence, applied = _confidence(case, ADDRESS), _confidence(case, LOADER)
    leading = min((root.code for root in case.roots), key=CODES.index)
    return told(
        case,
        "controller/behind_controllers behind",
        cause=leading,
        evidence=(
            *evidence_of(case.roots),
            *evidence_of_reads(_not_passed_on(case), limit=3),
            *evidence_of_edges(edge for edge in edges_behind(case, _cuts(case)) if edge.source in case.brokers),
            *log_quotes.to_controllers(case),
        ),
        confidence=confidence or applied or Confidence.SUSPECTED,
        candidates=found,
        decided=(confidence or applied) is not None,
        unreachable=confidence is not None,
        not_applied=any(candidate.cause == LOADER.name and candidate.speaks_for for candidate in found),
        lags=leading == "KA210",
        heartbeats=all(_only_fenced(case, broker) for broker in case.brokers),
        shows=symptom_of(case.roots, single=len(case.brokers) == 1),
        words=listing([candidate.word for candidate in found if candidate.state in {"measured", "possible"}]).replace(
            " and ", " or "
        ),
        controllers=tuple(_controllers(case)),
        connections=connect_commands_to(_controllers(case)[:5]) or (command("nc -vz -w 3 CONTROLLER 9093"),),
    )


def _only_fenced(case: Case, broker: int) -> bool:
    """Return whether a broker reads the metadata log and applies it, and is fenced: what is missing are its heartbeats."""
    edges = facts_of(case.view).edges
    edge = edges.follow(broker)
    return edge.carries is not None and edge.effect.state != "missing" and edges.knows_that_it_is_fenced(broker)


def _confidence(case: Case, kind: CauseKind) -> Confidence | None:
    """Return how sure it is that a cause of a kind keeps all these brokers behind; None where another cause leads, or none."""
    found = [following(case.view, broker).likely for broker in case.brokers]
    weakest = (Confidence.SUSPECTED, Confidence.INFERRED, Confidence.MEASURED)
    sure = [likely[1] for likely in found if likely is not None and likely[0] == kind.group]
    return min(sure, key=weakest.index) if len(sure) == len(found) else None


def symptom_of(roots: Sequence[Finding], *, single: bool) -> str:
    """Return what the brokers of these findings show, by the first of `CODES` among them: `lags behind the metadata log`."""
    leading = min((root.code for root in roots), key=CODES.index)
    if leading == "KA105" and any(root.numbers("missing") for root in roots):
        return "misses brokers" if single else "miss brokers"
    return {
        "KA210": "lags behind the metadata log" if single else "lag behind the metadata log",
        "KA101": "names stale leaders" if single else "name stale leaders",
        "KA102": "misses leaders that are alive" if single else "miss leaders that are alive",
        "KA105": "is not listed by the others" if single else "are not listed by the others",
        "KA107": "does not list every topic" if single else "do not list every topic",
    }[leading]


def passes_no_question_on(case: Case, symptom: Finding) -> bool:
    """Explain a source that answered all but what it has to ask its controllers for."""
    return at_the_broker(case, symptom) and about_the_quorum(case, symptom)


def _not_passed_on(case: Case) -> list[SourceRead]:
    """Return the questions for the quorum that these brokers did not get answered by their controllers."""
    observers = {f"broker:{broker}" for broker in case.brokers}
    failed = (read for read in case.view.last_reads if read.outcome == "failed" and read.observer in observers)
    return [read for read in failed if read.operation == "DescribeQuorum"]


def _cuts(case: Case) -> list[Finding]:
    """Return what these brokers do not reach, as measured: who does not reach brokers may not reach controllers either."""
    cuts = (f for f in case.findings if f.code == "KA302" and f.status is Status.FAIL and f.confidence is Confidence.MEASURED)
    return [cut for cut in cuts if not set(cut.numbers("from")).isdisjoint(case.brokers)]


def _controllers(case: Case) -> list[str]:
    return [*dict.fromkeys(address for broker in case.brokers for address in case.view.inter_broker.controllers(broker))]


OF_BROKERS_BEHIND = (
    Explains(codes=(*VIEW, "KA210", "KA212", "KA303"), where=at_the_broker),
    Explains(codes=("KA302",), where=at_either_end),
    Explains(codes=("KA001",), where=passes_no_question_on),
    LOST_REPLICAS,
)
"""What shows at a broker that does not reach its controllers, whether the probe measured it or the views suggest it."""

BEHIND_CONTROLLERS = Cause(
    codes=CODES,
    meaning="a KRaft broker no longer follows its controllers",
    cases=cases,
    story=story,
    explains=OF_BROKERS_BEHIND,
)
