from collections.abc import Iterable, Mapping
from typing import Any

from kafka_audit.checks import ClusterView, Confidence, Judgement, Judgements, Severity, Status, check
from kafka_audit.cluster.held_up_by import waiting_for
from kafka_audit.cluster.processes import Processes, ProcessState
from kafka_audit.cluster.views import HeldView
from kafka_audit.faults.facts import facts_of
from kafka_audit.faults.read import BROKEN, UNDECIDED, EdgeReading, reading_of
from kafka_audit.model.finding import HEDGE
from kafka_audit.model.text import listing

_UNLISTED = {
    "error": "no other broker lists it on a listener that was asked, but it fetches the metadata log: it lacks that listener, "
    "or it is starting or fenced",
    "needs": "an answer from it: add an address of another listener of this broker to bootstrap",
}
_ASSIGNED = "partitions are assigned to it"
_IN_MOTION = {
    "error": "in motion",
    "needs": "another audit: this was seen once, or the list of brokers changed between two samples",
}


@check(code="KA113", severity=Severity.HIGH, parts=("brokers", "topics"))
def broker_gone(view: ClusterView) -> Judgements:
    """A broker is no longer registered, but the previous snapshot, an assignment or the cluster file contains it."""
    registered = {*view.brokers, *view.unlisted, *_answering(view, view.held_views)}
    before = {*view.brokers_before, *_answering(view, view.held_views_before)}
    failed = {read.operation for read in view.last_reads if read.outcome == "failed"}
    expected = None if view.info is None else view.info.expect_brokers
    unlisted = view.followers - registered
    present = len(registered | unlisted)
    counted_on = expected is not None and present < expected
    facts = facts_of(view)
    in_use = _in_use(view)
    edges = {broker: facts.edges.coordinate(broker) for broker in facts.edges.unregistered}
    running = {broker: reading_of(facts, "KA113", [edge]) for broker, edge in edges.items()}
    for broker in sorted(view.known_brokers | running.keys() | unlisted):
        share = view.partitions.shares.get(broker)
        replicas = leaderless = 0
        if share is not None:
            all_known, replicas = not view.partitions.unlisted("leaderless"), share.replicas
            leaderless = len(waiting_for(view, broker)) if all_known else share.leaderless
            if broker not in registered and not view.kraft:
                leaderless += share.led  # the controller has not given these partitions another leader
        operation = f"zookeeper /brokers/ids/{broker}"
        runs = running.get(broker)
        seen = broker in registered | unlisted or broker in view.brokers_earlier
        if not (seen or replicas or operation in failed or runs):
            continue  # it went between two samples, and nothing hangs on it
        status = Status.FAIL
        unknown: Mapping[str, str] = {}
        if broker in registered:
            status = Status.PASS
        elif operation in failed:
            status = Status.UNKNOWN
            unknown = {"error": f"{operation} failed", "needs": "a readable registration"}
        elif broker in unlisted:
            status, unknown = Status.UNKNOWN, _UNLISTED
        elif broker in before or not (view.steady or not replicas) or (runs and edges[broker].effect.state == "passing"):
            status, unknown = Status.UNKNOWN, _IN_MOTION
        yield _judgement_of(
            view,
            f"broker/{broker}",
            status,
            leaderless,
            unknown,
            severity=None if replicas or counted_on or runs else Severity.MEDIUM,
            who=f"broker {broker}",
            subject=f"Broker {broker} is",
            state="fenced" if broker in view.quorum.now.fenced else f"not {in_use}",
            replicas=replicas,
            never=never_seen(view, broker) or None,
            confidence=runs.confidence if runs and status is Status.FAIL else Confidence.MEASURED,
            **(_of_running(runs) if runs else {"why": _ASSIGNED if replicas else f"it was {in_use} in the previous snapshot"}),
        )
    if expected is not None:
        yield _of_cluster(view, expected, present)


def never_seen(view: ClusterView, broker: int) -> bool:
    """Return whether only assignments know a broker: no registration, no setting, and no log where those of others are."""
    process = view.derived(Processes).all.get(broker)
    known = {*view.brokers, *view.brokers_before, *view.brokers_earlier, *view.unlisted, *view.followers, *view.settings.brokers}
    return broker not in known and process is not None and process.state is ProcessState.NEVER_STARTED


def _in_use(view: ClusterView) -> str:
    """Return what a broker is that others count on: KRaft controllers keep the registration of one that is gone."""
    return "in service" if view.kraft else "registered"


def _of_running(reading: EdgeReading) -> dict[str, Any]:
    """Return what keeps a broker that runs from its registration."""
    shown = [observation.text for observation in reading.shown] if reading.state == BROKEN else []
    possible = reading.found[:1] if reading.state == BROKEN else [candidate for candidate in reading.found if candidate.shown_by]
    faults = tuple(dict.fromkeys(candidate.fault.sentence for candidate in possible))
    hedge = "possibly " if reading.state == UNDECIDED else HEDGE[reading.confidence]
    rivals = tuple(fault.sentence for fault in reading.rivals)
    why = f"it runs; {hedge}{listing(faults, 3)}{': ' if shown else ''}{shown[0] if shown else ''}"
    return {
        "why": why if faults else "it runs, and nothing shows why it is not registered",
        "address": None if reading.diagnosis is None else reading.diagnosis.edge.effect.address,
        "cause": reading.found[0].fault.kind if reading.state == BROKEN else None,
        "rivals": rivals or None,
        "runs": True,
    }


def _answering(view: ClusterView, views: Iterable[HeldView]) -> set[int]:
    """Return the brokers that answer, in KRaft: there a broker may be there although no other lists it."""
    return {row.broker_id for row in views if row.broker_id >= 0} if view.kraft else set()


def _of_cluster(view: ClusterView, expected: int, registered: int) -> Judgement:
    if registered >= expected:
        status, subject = Status.PASS, f"{expected} brokers are expected and"
    else:
        status = Status.FAIL if view.steady else Status.UNKNOWN
        missing = expected - registered
        subject = f"{missing} of {expected} expected brokers {'is' if missing == 1 else 'are'}"
    return _judgement_of(
        view,
        "cluster",
        status,
        view.partitions.count.leaderless,
        _IN_MOTION if status is Status.UNKNOWN else {},
        who="an expected broker",
        subject=subject,
        state=f"not {_in_use(view)}",
        why=f"the cluster file expects {expected}, {registered} are {_in_use(view)}",
        replicas=view.partitions.count.partitions,
        which="",
    )


def _judgement_of(  # noqa: PLR0913 -- what a judgement is
    view: ClusterView,
    resource: str,
    status: Status,
    leaderless: int,
    reported: Mapping[str, str],
    *,
    severity: Severity | None = None,
    confidence: Confidence = Confidence.MEASURED,
    replicas: int,
    which: str = " with a replica there",
    **evidence: object,
) -> Judgement:
    loss = f"{leaderless} of {replicas} partitions{which} {'has' if leaderless == 1 else 'have'} no leader"
    if which and leaderless:
        loss += " without it"
    elif replicas > 1 and not leaderless:
        loss = f"all {replicas} partitions{which} still have a leader"
    if not replicas:
        loss = "no partition is assigned to it" if which else "there is no partition"
    advice = "kraft" if view.kraft else "zookeeper"
    given = {**evidence, **reported, "advice": advice, "replicas": replicas, "leaderless": leaderless, "loss": loss}
    if status is not Status.FAIL:
        severity = None
    elif leaderless:
        severity = Severity.CRITICAL
    return view.judge(resource, status, given, severity=severity, confidence=confidence)
