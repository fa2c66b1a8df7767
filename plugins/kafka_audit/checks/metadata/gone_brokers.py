"""Brokers without a registration, whether they run or not: what follows, and why it is so."""

import json
from collections.abc import Iterable, Sequence
from typing import Any

from kafka_audit.checks import Confidence, Status, log_quotes
from kafka_audit.checks.incident import Case, StoryFacts, evidence_of, zookeeper_lists
from kafka_audit.checks.repair import connect_commands_to, last_in_sync
from kafka_audit.cluster.answers.reads import addresses_of
from kafka_audit.cluster.held_up_by import Partition, all_waiting_known, waiting_for
from kafka_audit.compare.addresses import canonical_text
from kafka_audit.faults.facts import facts_of
from kafka_audit.faults.solver import Diagnosis, coordinating, following
from kafka_audit.model.commands import command
from kafka_audit.model.finding import Evidence, Finding, Resource, Step
from kafka_audit.model.text import brokers, clean, counted

_PLANNED = 5
"""Partitions that a plan names."""


def brokers_gone(case: Case) -> StoryFacts:
    """Return what brokers that are no longer registered leave behind."""
    them = brokers(case.brokers) if case.brokers else "the missing brokers"
    facts = {
        "them": them,
        "kept_out": _kept_out(case),
        "logs_read": bool(case.brokers) and all(map(facts_of(case.view).log_was_read, case.brokers)),
        "missing": case.roots[0].text("subject") or "some expected brokers are",
        **_missed(case),
        "start": last_in_sync(case, them) if _leaderless(case) or not all_waiting_known(case.view) else (),
    }
    registry = log_quotes.to_controllers(case) if case.view.kraft else (zookeeper_lists(case), *_not_moved(case))
    return StoryFacts(facts=facts, also=(*registry, *log_quotes.evidence(case, ("KA310", "KA311", "KA406"))))


def _kept_out(case: Case) -> str:
    """Return the layer at which all these brokers are measured not to get to their KRaft controllers; "" where that is open."""
    if not case.view.kraft or not case.brokers:
        return ""
    leading = [following(case.view, broker).leading for broker in case.brokers]
    layers = {one.fault.layer if one is not None and one.confidence is Confidence.MEASURED else "" for one in leading}
    return layers.pop() if len(layers) == 1 else ""


def _not_moved(case: Case) -> tuple[Evidence, ...]:
    """Return that these brokers still lead partitions: a controller moves leaders before anything else."""
    led = case.view.partitions.led_by(case.brokers)
    who = f"controller {case.view.controller}"
    text = f"still names {brokers(case.brokers)} as leader of {counted(led, 'partition')}: {who} has not processed that"
    return (Evidence(observer="zookeeper", text=text),) if led else ()


def at_an_address_left(case: Case, symptom: Finding) -> bool:
    """Explain an address of the cluster file without an answer: an earlier address of a missing broker.

    Its file may name it, too. Without an earlier snapshot, any address that is not registered now may be theirs.
    """
    address = None if symptom.resource.address is None else canonical_text(symptom.resource.address)
    if address is None:
        return False
    if holders := {end.broker_id for end in case.view.endpoints.known if canonical_text(end.address) == address}:
        return holders <= {*case.brokers}
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
    alone = case.view.kraft or len(case.brokers) == 1
    replicas = case.roots[0].number("replicas") if alone else case.view.partitions.count.unregistered
    return {"replicas": replicas, "leaderless": _leaderless(case)}


def never_registered(case: Case) -> StoryFacts:
    """Return which topics name brokers that nothing else knows, and a plan of brokers that there are."""
    view, unknown = case.view, {*case.brokers}
    rows = [row for row in view.partitions.of_kind("under_replicated") if not unknown.isdisjoint(row.replicas)]
    rows += [row for row in view.partitions.of_kind("leaderless") if not unknown.isdisjoint(row.replicas)]
    by_place = {(row.topic, row.partition): row.replicas for row in rows}
    plan = {
        "version": 1,
        "partitions": [
            {"topic": topic, "partition": number, "replicas": _with_brokers_there(case, replicas)}
            for (topic, number), replicas in sorted(by_place.items())[:_PLANNED]
        ],
    }
    facts = {
        "them": brokers(case.brokers),
        "topics": tuple(dict.fromkeys(clean(topic) for topic, _ in sorted(by_place))),
        "partitions": len(by_place),
        "planned": bool(by_place) and len(by_place) <= _PLANNED,
        "plan": (command("echo {plan} | tee plan.json", plan=json.dumps(plan)),),
        **_missed(case),
    }
    return StoryFacts(facts=facts)


def _with_brokers_there(case: Case, replicas: Sequence[int]) -> list[int]:
    """Return replicas with another broker, the one with fewest of them, in place of each that there is not."""
    there, shares = set(case.view.brokers), case.view.partitions.held_by
    spare = sorted(there - {*replicas}, key=lambda broker: (shares(broker), broker))
    found = [broker if broker in there or broker not in case.brokers else next(iter(spare[:1]), None) for broker in replicas]
    return [*dict.fromkeys(broker for broker in found if broker is not None)]


def of_their_files(case: Case, symptom: Finding) -> bool:
    """Explain that only what a cluster file derives from the ids of these brokers was not read: their files, and their hosts."""
    failed = [read for read in case.view.last_reads if read.outcome == "failed"]
    rest = [read for read in failed if case.view.reads.resources.get(read.observer, "cluster") == symptom.resource.name]
    ids = set(map(str, case.brokers))
    own = [
        read.observer.partition(":")[2] in ids if not read.observer.startswith("vantage:") else ids & {*read.target.split()}
        for read in rest
    ]
    return symptom.resource.name == "cluster" and bool(rest) and all(own)


def running_unregistered(case: Case) -> StoryFacts:
    """Return why a broker that runs has no session, and what follows."""
    found = [coordinating(case.view, broker) for broker in case.brokers]
    confidence, cause = _weakest(found), case.roots[0].text("cause")
    left = next((candidate for candidate in found[0].possible if candidate.fault.kind == cause), found[0].possible[0])
    text = f"See it yourself (reads only): {left.decided_by}."
    connect = connect_commands_to(case.view.inter_broker.zookeeper.get(broker, "") for broker in case.brokers[:1])
    repair = left.fault.remedy.format(sources=brokers(case.brokers)) if confidence else ""
    facts = {
        "undecided": confidence is None,
        **_missed(case),
        "decisive": (Step(kind="see", text=text, commands=connect),),
        "remedy": (Step(kind="quick", text=repair),) if repair else (),
    }
    others = evidence_of(finding for finding in case.explained if finding not in case.roots)
    also = (*others, *log_quotes.to_zookeeper(case))
    return StoryFacts(facts=facts, also=also, confidence=confidence or Confidence.SUSPECTED, edges=found)


def _weakest(found: Iterable[Diagnosis]) -> Confidence | None:
    """Return how sure the cause of all is; None where it is undecided."""
    sure = [None if diagnosis.leading is None else diagnosis.leading.confidence for diagnosis in found]
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
