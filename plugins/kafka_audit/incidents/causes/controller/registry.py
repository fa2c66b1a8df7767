"""Causes in ZooKeeper: it is not readable, there is no controller, a broker is missing or belongs to another cluster."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from kafka_audit.cluster.answers.reads import addresses_of
from kafka_audit.compare.addresses import canonical_text
from kafka_audit.incidents.causes import log_quotes
from kafka_audit.incidents.causes.controller import quorum
from kafka_audit.incidents.causes.repair import do_not, last_in_sync, prove, reconnect_commands, zookeeper_shell
from kafka_audit.incidents.causes.rule import (
    LOST_REPLICAS,
    VIEW,
    Case,
    Cause,
    Explains,
    Story,
    at_the_broker,
    changed_before,
    everywhere,
    evidence_of,
    evidence_of_reads,
    together,
)
from kafka_audit.model.commands import command
from kafka_audit.model.finding import Evidence, Finding, Resource, Step
from kafka_audit.model.read_failure import LOGIN_REFUSALS
from kafka_audit.model.tables import SourceRead
from kafka_audit.model.text import brokers, clean, counted, fitting, start_upper


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
    target = clean(failed[0].target, 60) if failed else "its address"
    at = (target, *(clean(f"{host}:{port}") for read in failed[:1] for host, port in addresses_of(read.target)[:1]))
    if failed and failed[0].failure in LOGIN_REFUSALS:
        reasons, steps = [f"{address} refuses the auditor's login" for address in at], _correct_the_login(failed[0])
    else:
        error = clean(failed[0].error or "failed", 30) if failed else "failed"
        reasons, steps = [f"no answer from {address} ({error})" for address in at], _open_the_way(failed)
    return Story(
        headline=fitting([f"ZooKeeper is not readable: {text}" for text in (*reasons, "it gives the auditor no answer")]),
        impact=(
            "Whether registry and brokers agree is not known. If the brokers cannot reach ZooKeeper either, none can become "
            "controller, and no leader can move."
        ),
        confidence=case.confidence(),
        why="The read itself failed.",
        speaks_for=evidence_of_reads(failed) or evidence_of(case.roots),
        not_known=("Not known: whether the brokers reach ZooKeeper; only the auditor tried. To know: server.log of a broker.",),
        steps=(*steps, prove(case), do_not("restart brokers while ZooKeeper is unavailable: they do not start without it.")),
    )


def _open_the_way(failed: Sequence[SourceRead]) -> tuple[Step, ...]:
    text = "Start ZooKeeper, allow connections to it from this worker, or correct `zookeeper:` in the cluster file."
    see = Step(kind="see", text="See it yourself (reads only).", commands=reconnect_commands(failed))
    return see, Step(kind="quick", text=text)


def _correct_the_login(read: SourceRead) -> tuple[Step, ...]:
    text = (
        f"Correct `zookeeper:` in the cluster file, or the variable that it names. Needed: {clean(read.needs or 'a login', 300)}."
    )
    return (Step(kind="quick", text=text),)


def no_controller_story(case: Case) -> Story:
    """Return the story of a missing controller."""
    if case.view.kraft:
        return quorum.no_leader_story(case)
    registered = sorted(case.view.in_zookeeper)
    return Story(
        headline="The cluster has no controller: no broker holds /controller in ZooKeeper",
        impact="No leader can move, no topic can be created, and no broker receives updates until one becomes controller.",
        confidence=case.confidence(),
        why="ZooKeeper was read, and the znode is absent.",
        speaks_for=(
            *evidence_of(case.roots),
            Evidence(observer="zookeeper", text=f"{brokers(registered) if registered else 'no broker'} registered"),
        ),
        not_known=("Not known: why no broker takes over. To know: server.log and controller.log of any broker, newest lines.",),
        steps=(
            Step(
                kind="see",
                text="See it yourself (reads only).",
                commands=zookeeper_shell(case, "get /controller", "ls /brokers/ids"),
            ),
            Step(
                kind="quick",
                text="Restart one broker whose log shows an expired or stuck ZooKeeper session.",
                cost="The restart of one broker; without a controller its leaders do not move away first.",
            ),
            prove(case),
            do_not("delete znodes by hand: a broker with a session creates /controller again."),
        ),
    )


def gone_story(case: Case) -> Story:
    """Return the story of brokers that are no longer registered."""
    broker_ids, single = case.brokers, len(case.brokers) == 1
    them = brokers(broker_ids) if broker_ids else "the missing brokers"
    gone = f"{start_upper(them)} {'is' if single else 'are'} gone"
    headline = f"{gone}: {_nobody_has(case, 'it' if single else 'them')}"
    if not broker_ids:  # only the number is expected: the missing broker is unknown
        missing = case.roots[0].text("subject") or "some expected brokers are"
        where = "listed by any broker" if case.view.kraft else "registered in ZooKeeper"
        headline = f"The cluster is short of brokers: {missing} not {where}"
    kinds = {"broker_went": "registration", "endpoint": "address", "config": "setting", "version": "version"}
    registered = brokers(case.view.in_zookeeper) if case.view.in_zookeeper else "no broker"
    seen = () if case.view.kraft else (Evidence(observer="zookeeper", text=f"{registered} registered"),)
    commands = zookeeper_shell(case, "ls /brokers/ids")
    if case.view.kraft:
        commands = (quorum.DESCRIBE,)
    controllers = "its controllers" if case.view.kraft else "ZooKeeper"
    return Story(
        headline=fitting([headline, gone if broker_ids else "The cluster is short of brokers"]),
        impact=missed_replicas(case),
        confidence=case.confidence(),
        why="The other brokers answered, and none lists it."
        if case.view.kraft
        else "ZooKeeper was read, and the registration is absent.",
        speaks_for=(
            *evidence_of(case.roots),
            *seen,
            *log_quotes.evidence(case, ("KA310", "KA311", "KA406")),
            *changed_before(case, kinds),
        ),
        not_known=(f"Not known: whether the process runs without a session, or is down. To know: server.log of {them}.",),
        steps=(
            Step(kind="see", text="See it yourself (reads only).", commands=commands),
            *(last_in_sync(case, them) if _leaderless(case) else ()),
            Step(
                kind="quick",
                text=f"Start {them} again, or allow connections from there to {controllers}.",
                cost="Replicas that are behind copy from the leaders: network and disk of the others.",
            ),
            prove(case),
            do_not("turn on unclean.leader.election.enable to get leaders back: it drops records."),
        ),
    )


def _nobody_has(case: Case, them: str) -> str:
    return f"no other broker lists {them}" if case.view.kraft else f"ZooKeeper no longer has {them} registered"


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
    """Return how many partitions of the brokers that are gone have no leader."""
    if case.view.kraft:
        return case.roots[0].number("leaderless")
    return case.view.partitions.count.unregistered_leaderless


def missed_replicas(case: Case) -> str:
    """Return what the brokers that are gone leave behind."""
    gone = set(case.brokers)
    if case.view.kraft:  # no registration there: the counts of the newest view
        replicas, leaderless = case.roots[0].number("replicas"), case.roots[0].number("leaderless")
        return f"{replicas} partitions miss a replica, {leaderless} of them have no leader." if gone else ""
    held = case.view.partitions.count
    theirs, leaderless = held.unregistered, held.unregistered_leaderless
    if not gone:
        return ""
    impact = (
        f"{counted(theirs, 'partition')} {'misses' if theirs == 1 else 'miss'} a replica."
        if theirs
        else "No partition had a replica there."
    )
    if leaderless:
        has = "has" if leaderless == 1 else "have"
        return f"{counted(leaderless, 'partition')} {has} no leader; clients cannot write or read there. {impact}"
    return impact


def foreign_story(case: Case) -> Story:
    """Return the story that brokers say another cluster id than the registry or the owner."""
    broker_ids = case.brokers
    subject = start_upper(brokers(broker_ids)) if broker_ids else "A broker"
    return Story(
        headline=f"{subject} {'belongs' if len(broker_ids) <= 1 else 'belong'} to another cluster: the cluster id differs",
        impact="Clients that come to this address read and write records of another cluster.",
        confidence=case.confidence(),
        why="The broker itself reports it.",
        speaks_for=(*evidence_of(case.roots), *changed_before(case, {"endpoint": "address"})),
        steps=(
            Step(
                kind="see",
                text="See it yourself (reads only).",
                commands=tuple(
                    command("kafka-cluster.sh cluster-id --bootstrap-server {address}", address=e.address)
                    for b in broker_ids[:3]
                    for e in case.view.endpoints.of(b)[:1]
                ),
            ),
            Step(kind="quick", text="Take the broker, or the forward that leads to it, out of this cluster's addresses."),
            prove(case),
            do_not("let it join: records of two clusters do not merge."),
        ),
    )


ZOOKEEPER_UNREAD = Cause(
    codes=("KA001",),
    meaning="ZooKeeper gives no answer",
    cases=zookeeper_unread,
    story=zookeeper_unread_story,
    explains=(Explains(codes=("KA802",), where=everywhere),),
)

NO_CONTROLLER = Cause(
    codes=("KA201",),
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
    meaning="a broker is no longer registered",
    cases=together,
    story=gone_story,
    explains=OF_BROKERS_GONE,
)
