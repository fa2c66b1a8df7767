"""KA113 with ZooKeeper: a broker runs, and is not registered."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace

from kafka_audit.cluster.answers.reads import addresses_of
from kafka_audit.diagnosis.solver import Diagnosis, coordinating
from kafka_audit.incidents.causes import log_quotes
from kafka_audit.incidents.causes.candidates import candidates_of
from kafka_audit.incidents.causes.controller.registry import OF_BROKERS_GONE, missed_replicas
from kafka_audit.incidents.causes.repair import connect_commands_to
from kafka_audit.incidents.causes.rule import VIEW, Case, Cause, Explains, Story, evidence_of
from kafka_audit.incidents.causes.told import told
from kafka_audit.model.finding import Confidence, Finding, Status, Step
from kafka_audit.model.text import brokers, listing


def cases(case: Case) -> Iterable[Case]:
    """Take brokers that run without a registration together, if the same keeps them from it."""
    groups: dict[str, list[Finding]] = defaultdict(list)
    for root in case.roots:
        if root.evidence.get("runs") is True:
            groups[root.text("cause")].append(root)
    return tuple(replace(case, roots=tuple(roots)) for roots in groups.values())


def story(case: Case) -> Story:
    """Return the story: which broker runs without a session, why, and what follows."""
    found = [coordinating(case.view, broker) for broker in case.brokers]
    candidates, confidence, cause = candidates_of(found), _confidence(found), case.roots[0].text("cause")
    left = next((candidate for candidate in found[0].possible if candidate.cause.kind.name == cause), found[0].possible[0])
    words = [candidate for candidate in candidates if candidate.state in {"measured", "possible"}] or [*candidates]
    text = f"See it yourself (reads only): {left.decided_by}."
    connect = connect_commands_to(case.view.inter_broker.zookeeper.get(broker, "") for broker in case.brokers[:1])
    repair = left.cause.remedy.format(sources=brokers(case.brokers)) if confidence else ""
    return told(
        case,
        "controller/lost_session unregistered",
        evidence=(
            *evidence_of(case.roots),
            *evidence_of(finding for finding in case.explained if finding not in case.roots),
            *log_quotes.to_zookeeper(case),
        ),
        confidence=confidence or Confidence.SUSPECTED,
        candidates=candidates,
        undecided=confidence is None,
        words=listing(candidate.word for candidate in words),
        fault=next((candidate.fault for candidate in sorted(words, key=lambda candidate: candidate.cause != cause)), ""),
        missed=missed_replicas(case),
        decisive=(Step(kind="see", text=text, commands=connect),),
        remedy=(Step(kind="quick", text=repair),) if repair else (),
    )


def _confidence(found: Iterable[Diagnosis]) -> Confidence | None:
    """Return how sure the cause of all is; None where it is undecided."""
    sure = [None if diagnosis.leading is None else diagnosis.leading[1] for diagnosis in found]
    weakest = (None, Confidence.SUSPECTED, Confidence.INFERRED, Confidence.MEASURED)
    return min(sure, key=weakest.index)


def where_they_answer(case: Case, symptom: Finding) -> bool:
    """Explain what is about the address of the cluster file at which one of these brokers answers."""
    texts = {root.text("address") for root in case.roots}
    return symptom.resource.address is not None and addresses_of(symptom.resource.address) in {addresses_of(t) for t in texts}


def counts_them(case: Case, symptom: Finding) -> bool:
    """Explain that fewer brokers are registered than expected, where all that are missing run."""
    missing = [f for f in case.findings if f.code == "KA113" and f.status is Status.FAIL and f.resource.broker is not None]
    return symptom.resource.name == "cluster" and all(finding in case.roots for finding in missing)


LOST_SESSION = Cause(
    codes=("KA113",),
    meaning="a broker runs, and has no registration in ZooKeeper",
    cases=cases,
    story=story,
    explains=(
        *OF_BROKERS_GONE,
        Explains(codes=("KA113",), where=counts_them),
        Explains(codes=(*VIEW, "KA001", "KA111"), where=where_they_answer),
    ),
)
