"""Causes in the registry: it is not readable, without a controller, or a broker is missing, runs without it, or is of another."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from kafka_audit.checks import log_quotes
from kafka_audit.checks.repair import connect_commands_to, last_in_sync, reconnect_commands
from kafka_audit.cluster.answers.reads import addresses_of
from kafka_audit.cluster.held_up_by import Partition, all_waiting_known, waiting_for
from kafka_audit.compare.addresses import canonical_text
from kafka_audit.faults.solver import Diagnosis, coordinating
from kafka_audit.incidents.causes.candidates import candidates_of
from kafka_audit.incidents.causes.controller import quorum
from kafka_audit.incidents.causes.rule import (
    LOST_REPLICAS,
    VIEW,
    Case,
    Cause,
    Explains,
    Story,
    at_the_broker,
    everywhere,
    evidence_of,
    evidence_of_reads,
    together,
)
from kafka_audit.incidents.causes.told import told
from kafka_audit.model.finding import Confidence, Evidence, Finding, Resource, Status, Step
from kafka_audit.model.read_failure import LOGIN_REFUSALS
from kafka_audit.model.tables import SourceRead
from kafka_audit.model.text import brokers, clean, counted, listing


def zookeeper_unread(case: Case) -> Iterable[Case]:
    """Take KA001 of the cluster where it is ZooKeeper that gave nothing; a read of it that failed alone is no outage."""
    down = not case.view.zookeeper_read and _failed_zookeeper_reads(case)
    roots = tuple(root for root in case.roots if root.resource.name == "cluster") if down else ()
    return (replace(case, roots=roots),) if roots else ()


def _failed_zookeeper_reads(case: Case) -> list[SourceRead]:
    return [r for r in case.view.last_reads if r.observer == "zookeeper" and r.outcome == "failed"]


def zookeeper_unread_story(case: Case) -> Story:
    """Return the story that nothing which rests on ZooKeeper could be judged."""
    failed = _failed_zookeeper_reads(case)
    first = failed[0] if failed else None
    target = clean(first.target, 60) if first else "its address"
    at = (target, *(clean(f"{host}:{port}") for read in failed[:1] for host, port in addresses_of(read.target)[:1]))
    return told(
        case,
        "controller/registry zookeeper_unread",
        evidence=evidence_of_reads(failed) or evidence_of(case.roots),
        addresses=at,
        refused=first is not None and first.failure in LOGIN_REFUSALS,
        error=clean(first.error or "failed", 30) if first else "failed",
        needs=clean((first and first.needs) or "a login", 300),
        reconnect=reconnect_commands(failed),
    )


def no_controller_story(case: Case) -> Story:
    """Return the story of a missing controller."""
    if case.view.kraft:
        return quorum.no_leader_story(case)
    root = case.roots[0]
    if root.number("claimed_by"):
        return told(
            case,
            "controller/registry left_claim",
            evidence=(*evidence_of(case.roots), _registered(case)),
            has=root.text("has"),
            node=root.number("claimed_by"),
            refusing=root.texts("refusing"),
        )
    return told(
        case,
        "controller/registry no_controller",
        evidence=(*evidence_of(case.roots), _registered(case)),
    )


def _registered(case: Case) -> Evidence:
    registered = brokers(case.view.in_zookeeper) if case.view.in_zookeeper else "no broker"
    return Evidence(observer="zookeeper", text=f"{registered} registered")


def gone_story(case: Case) -> Story:
    """Return the story of brokers that are no longer registered."""
    kraft = case.view.kraft
    them = brokers(case.brokers) if case.brokers else "the missing brokers"
    return told(
        case,
        "controller/registry gone",
        evidence=(
            *evidence_of(case.roots),
            *(() if kraft else (_registered(case), *_not_moved(case))),
            *log_quotes.evidence(case, ("KA310", "KA311", "KA406")),
        ),
        them=them,
        missing=case.roots[0].text("subject") or "some expected brokers are",
        **_missed(case),
        start=last_in_sync(case, them) if _leaderless(case) or not all_waiting_known(case.view) else (),
    )


def _not_moved(case: Case) -> tuple[Evidence, ...]:
    """Return that these brokers still lead partitions: a controller moves leaders before anything else."""
    led = case.view.partitions.led_by(case.brokers)
    who = f"controller {case.view.controller}"
    text = f"still names {brokers(case.brokers)} as leader of {counted(led, 'partition')}: {who} has not processed that"
    return (Evidence(observer="zookeeper", text=text),) if led else ()


def at_an_address_left(case: Case, symptom: Finding) -> bool:
    """Explain an address of the cluster file without an answer: an earlier address of a missing broker.

    Without an earlier snapshot, any address that is not registered now may be one of the missing broker.
    """
    address = None if symptom.resource.address is None else canonical_text(symptom.resource.address)
    if address is None or any(canonical_text(endpoint.address) == address for endpoint in case.view.endpoints.known):
        return False
    gone = [c for c in case.changes if c.kind == "broker_went" and Resource.of(c.resource).broker in case.brokers]
    return not gone or any(canonical_text(at.text) == address for change in gone for at in change.addresses_before)


def _leaderless(case: Case) -> int:
    """Return how many partitions have no leader without the brokers that are gone; those that they lead in ZooKeeper are some."""
    if not case.brokers:
        return case.roots[0].number("leaderless")
    waiting = frozenset[Partition]().union(*(waiting_for(case.view, broker) for broker in case.brokers))
    return len(waiting) + (0 if case.view.kraft else case.view.partitions.led_by(case.brokers))


def _missed(case: Case) -> dict[str, Any]:
    """Return the replicas that brokers leave behind, in KRaft by the counts of the newest view, and what has no leader."""
    replicas = case.roots[0].number("replicas") if case.view.kraft else case.view.partitions.count.unregistered
    return {"replicas": replicas, "leaderless": _leaderless(case)}


def foreign_story(case: Case) -> Story:
    """Return the story that brokers say another cluster id than the registry or the owner."""
    return told(
        case,
        "controller/registry foreign",
        ask=tuple(endpoint for broker in case.brokers[:3] for endpoint in case.view.endpoints.of(broker)[:1]),
    )


ZOOKEEPER_UNREAD = Cause(
    codes=("KA001",),
    tier="registry",
    meaning="ZooKeeper gives no answer",
    cases=zookeeper_unread,
    story=zookeeper_unread_story,
    explains=(Explains(codes=("KA802",), where=everywhere),),
)

NO_CONTROLLER = Cause(
    codes=("KA201",),
    tier="controllers",
    meaning="there is no controller, so brokers receive no updates",
    cases=together,
    story=no_controller_story,
    explains=(
        Explains(codes=(*VIEW, "KA203", "KA209", "KA210", "KA211", "KA212", "KA601", "KA602"), where=everywhere),
        Explains(codes=("KA001",), where=quorum.about_the_quorum),
    ),
)

FOREIGN_BROKER = Cause(
    codes=("KA110",),
    tier="brokers",
    meaning="a broker belongs to another cluster",
    cases=together,
    story=foreign_story,
    explains=(Explains(codes=(*VIEW, "KA111", "KA301", "KA302"), where=at_the_broker),),
)

OF_BROKERS_GONE = (
    Explains(codes=(*VIEW, "KA001", "KA111", "KA208", "KA301", "KA302", "KA303"), where=at_the_broker),
    Explains(codes=("KA001",), where=at_an_address_left),
    LOST_REPLICAS,
)
"""What shows at a broker without a registration, whether it runs or not."""

BROKER_GONE = Cause(
    codes=("KA113",),
    tier="brokers",
    meaning="a broker is no longer registered",
    cases=together,
    story=gone_story,
    explains=OF_BROKERS_GONE,
)


def running_unregistered(case: Case) -> Iterable[Case]:
    """Take brokers that run without a registration together, if the same keeps them from it."""
    groups: dict[str, list[Finding]] = defaultdict(list)
    for root in case.roots:
        if root.evidence.get("runs") is True:
            groups[root.text("cause")].append(root)
    return tuple(replace(case, roots=tuple(roots)) for roots in groups.values())


def unregistered_story(case: Case) -> Story:
    """Return the story: which broker runs without a session, why, and what follows."""
    found = [coordinating(case.view, broker) for broker in case.brokers]
    candidates, confidence, cause = candidates_of(found), _weakest(found), case.roots[0].text("cause")
    left = next((candidate for candidate in found[0].possible if candidate.cause.kind.name == cause), found[0].possible[0])
    words = [candidate for candidate in candidates if candidate.state in {"measured", "possible"}] or [*candidates]
    text = f"See it yourself (reads only): {left.decided_by}."
    connect = connect_commands_to(case.view.inter_broker.zookeeper.get(broker, "") for broker in case.brokers[:1])
    repair = left.cause.remedy.format(sources=brokers(case.brokers)) if confidence else ""
    return told(
        case,
        "controller/registry unregistered",
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
        **_missed(case),
        decisive=(Step(kind="see", text=text, commands=connect),),
        remedy=(Step(kind="quick", text=repair),) if repair else (),
    )


def _weakest(found: Iterable[Diagnosis]) -> Confidence | None:
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
    tier="brokers",
    meaning="a broker runs, and has no registration in ZooKeeper",
    cases=running_unregistered,
    story=unregistered_story,
    explains=(
        *OF_BROKERS_GONE,
        Explains(codes=("KA113",), where=counts_them),
        Explains(codes=(*VIEW, "KA001", "KA111"), where=where_they_answer),
    ),
)
