"""KA113 with ZooKeeper: a broker runs, and is not registered."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace

from kafka_audit.cluster.answers.reads import addresses_of
from kafka_audit.diagnosis.solver import Diagnosis, coordinating
from kafka_audit.incidents.causes import log_quotes
from kafka_audit.incidents.causes.candidates import candidates_of
from kafka_audit.incidents.causes.controller.registry import OF_BROKERS_GONE, missed_replicas
from kafka_audit.incidents.causes.repair import connect_commands_to, do_not, prove
from kafka_audit.incidents.causes.rule import VIEW, Case, Cause, Explains, Story, changed_before, evidence_of
from kafka_audit.model.finding import HEDGE, CauseCandidate, Confidence, Finding, Status, Step
from kafka_audit.model.text import brokers, fitting, listing, start_upper

_WHY = {
    Confidence.MEASURED: "A probe from its host, or its own log, shows it.",
    Confidence.INFERRED: "The broker answers and is not registered, and other causes were ruled out.",
    Confidence.SUSPECTED: "The broker answers and is not registered. Other causes were not ruled out: see the candidates.",
    None: "The broker answers and is not registered. The facts that distinguish the candidates were not read.",
}


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
    candidates, confidence = candidates_of(found), _confidence(found)
    them, single = brokers(case.brokers), len(case.brokers) == 1
    left = next((one for one in found[0].possible if one.cause.kind.name == case.roots[0].text("cause")), found[0].possible[0])
    remedy = (Step(kind="quick", text=left.cause.remedy.format(sources=them)),) if confidence and left.cause.remedy else ()
    return Story(
        headline=_headline(case, candidates, confidence),
        impact=f"The others take {'it' if single else 'them'} for dead: {'its' if single else 'their'} leaders moved. "
        f"Clients that ask {them} receive old metadata. {missed_replicas(case)}".strip(),
        confidence=confidence or Confidence.SUSPECTED,
        why=_WHY[confidence],
        speaks_for=(
            *evidence_of(case.roots),
            *evidence_of(finding for finding in case.explained if finding not in case.roots),
            *log_quotes.to_zookeeper(case),
            *changed_before(case, {"broker_went": "registration", "endpoint": "address", "config": "setting"}),
        ),
        steps=(
            Step(
                kind="see",
                text=f"See it yourself (reads only): {left.decided_by}.",
                commands=connect_commands_to(case.view.inter_broker.zookeeper.get(broker, "") for broker in case.brokers[:1]),
            ),
            *remedy,
            prove(case),
            do_not("restart the other brokers: they hold the replicas that are in sync."),
        ),
        candidates=candidates,
    )


def _confidence(found: Iterable[Diagnosis]) -> Confidence | None:
    """Return how sure the cause of all is; None where it is undecided."""
    sure = [None if one.leading is None else one.leading[1] for one in found]
    weakest = (None, Confidence.SUSPECTED, Confidence.INFERRED, Confidence.MEASURED)
    return min(sure, key=weakest.index)


def _headline(case: Case, candidates: Iterable[CauseCandidate], confidence: Confidence | None) -> str:
    single = len(case.brokers) == 1
    runs = f"{start_upper(brokers(case.brokers))} {'runs' if single else 'run'}"
    where = ("and is not registered in ZooKeeper" if single else "and are not registered in ZooKeeper", "without a registration")
    words = [one for one in candidates if one.state in {"measured", "possible"}] or [*candidates]
    if confidence is None:
        endings = [f"; not decided: {listing(one.word for one in words)}", "; cause not decided"]
    else:
        named = next((one for one in words if one.cause == case.roots[0].text("cause")), words[0])
        endings = [f": {HEDGE[confidence]}{named.fault}"]
    return fitting([*(f"{runs} {place}{ending}" for ending in endings for place in where), f"{runs} {where[1]}"])


def at_its_address(case: Case, symptom: Finding) -> bool:
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
        Explains(codes=(*VIEW, "KA001", "KA111"), where=at_its_address),
    ),
)
