"""The incidents of KA210 and KA216: a KRaft broker no longer follows its controllers, or its host does not reach them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from kafka_audit.checks import log_quotes
from kafka_audit.checks.candidates import candidates_of, edges_of
from kafka_audit.checks.controller.quorum_incidents import about_the_quorum
from kafka_audit.checks.incident import (
    Case,
    StoryFacts,
    at_the_broker,
    edges_behind,
    evidence_of,
    evidence_of_edges,
    evidence_of_reads,
)
from kafka_audit.checks.repair import connect_commands_to
from kafka_audit.cluster.processes import Processes
from kafka_audit.compare.addresses import address_text
from kafka_audit.faults.facts import facts_of
from kafka_audit.faults.solver import following
from kafka_audit.model.commands import command
from kafka_audit.model.finding import Confidence, Finding, Severity, Status
from kafka_audit.model.tables import SourceRead
from kafka_audit.model.text import brokers, listing

CODES = ("KA101", "KA102", "KA105", "KA107", "KA210")
"""What an old view shows, the one that names the incident first; in KRaft brokers fetch their view, so all have one cause."""


_ADDRESS, _LOADER = "address", "loader"
"""Kinds of faults that have a headline of their own."""


def old_views(case: Case) -> Iterable[Case]:
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


def behind_controllers(case: Case) -> StoryFacts:
    """Return the facts: who is behind, and what may keep it from its controllers."""
    edges = edges_of(case, follow=True)
    found = candidates_of(edges)
    confidence, applied = _confidence(case, _ADDRESS), _confidence(case, _LOADER)
    symptom = _symptom(case.roots)
    facts: dict[str, object] = {
        "decided": (confidence or applied) is not None,
        "unreachable": confidence is not None,
        "not_applied": any(candidate.cause == _LOADER and candidate.speaks_for for candidate in found),
        "heartbeats": all(_only_fenced(case, broker) for broker in case.brokers),
        "words": listing([one.word for one in found if one.state in {"measured", "possible"}]).replace(" and ", " or "),
        "controllers": tuple(_controllers(case)),
        **_stopping(case),
        "connections": connect_commands_to(_controllers(case)[:5]) or (command("nc -vz -w 3 CONTROLLER 9093"),),
    }
    return StoryFacts(
        facts=facts | symptom,
        cause=symptom["code"],
        evidence=(
            *evidence_of(case.roots),
            *evidence_of_reads(_not_passed_on(case), limit=3),
            *evidence_of_edges(edge for edge in edges_behind(case, _cuts(case)) if edge.source in case.brokers),
            *log_quotes.to_controllers(case),
        ),
        confidence=confidence or applied or Confidence.SUSPECTED,
        edges=edges,
    )


def _stopping(case: Case) -> Mapping[str, object]:
    """Return which of these brokers were asked to stop, and cannot."""
    processes = case.view.derived(Processes).all
    found = [node for node in case.brokers if node in processes and processes[node].stops is not None]
    return {"stoppers": tuple(found), "stopping": brokers(found) if found else ""}


def _only_fenced(case: Case, broker: int) -> bool:
    """Return whether a broker reads the metadata log and applies it, and is fenced: what is missing are its heartbeats."""
    edges = facts_of(case.view).edges
    edge = edges.follow(broker)
    return edge.carries is not None and edge.effect.state != "missing" and edges.knows_that_it_is_fenced(broker)


def _confidence(case: Case, kind: str) -> Confidence | None:
    """Return how sure it is that a cause of a kind keeps all these brokers behind; None where another cause leads, or none."""
    found = [following(case.view, broker).likely for broker in case.brokers]
    weakest = (Confidence.SUSPECTED, Confidence.INFERRED, Confidence.MEASURED)
    sure = [likely.confidence for likely in found if likely is not None and likely.fault.kind == kind]
    return min(sure, key=weakest.index) if len(sure) == len(found) else None


def _symptom(roots: Sequence[Finding]) -> dict[str, Any]:
    """Return the first of `CODES` among findings, and whether a view lacks brokers: what brokers show, in facts of a story."""
    code = min((root.code for root in roots), key=CODES.index, default="")
    return {"code": code, "misses": any(root.numbers("missing") for root in roots)}


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


def by_reach(case: Case) -> Iterable[Case]:
    """Take the brokers that reach no controller as one fault, and those that reach some of them as another."""
    all_missed = tuple(root for root in case.roots if _misses_all(root))
    some_missed = tuple(root for root in case.roots if not _misses_all(root))
    return tuple(replace(case, roots=roots) for roots in (all_missed, some_missed) if roots)


def _misses_all(root: Finding) -> bool:
    return root.number("count") == root.number("total")


def cut_from_controllers(case: Case) -> StoryFacts:
    """Return the facts: who does not reach which controllers, and what follows."""
    symptoms = [finding for finding in case.explained if finding.code in CODES]
    addresses = sorted({address for root in case.roots for address in root.texts("addresses")})
    leader = case.view.quorum.now.newest
    active = None if leader is None else case.view.voter_addresses.get(leader.leader_id)
    facts: dict[str, object] = {
        "addresses": tuple(addresses),
        "active": f"controller {leader.leader_id}" if leader and active and addresses == [address_text(*active)] else "",
        "all_missed": _misses_all(case.roots[0]),
        "errors": tuple(sorted({root.text("error") for root in case.roots})),
        "connect": connect_commands_to(addresses),
        **_stopping(case),
    }
    return StoryFacts(
        facts=facts | _symptom(symptoms),
        evidence=(
            *evidence_of(case.roots),
            *evidence_of(finding for finding in case.explained if finding not in case.roots),
            *log_quotes.to_controllers(case),
        ),
    )
