"""Causes in the metadata quorum: it has no leader, or controllers are down."""

from collections.abc import Iterable
from dataclasses import replace

from kafka_audit.compare.addresses import canonical_text
from kafka_audit.incidents.causes import grouped, log_quotes
from kafka_audit.incidents.causes.repair import connect_commands_to, do_not, prove, reconnect_commands
from kafka_audit.incidents.causes.rule import (
    VIEW,
    Case,
    Cause,
    Explains,
    Story,
    evidence_of,
    evidence_of_reads,
    together,
)
from kafka_audit.model.commands import command
from kafka_audit.model.finding import CHANGES, Confidence, Evidence, Finding, Status, Step
from kafka_audit.model.tables import SourceRead
from kafka_audit.model.text import clean, counted, fitting, listing

_PASSED_ON = frozenset({"DescribeQuorum", "ListPartitionReassignments", "DescribeConfigs TOPIC"})
"""What brokers have to ask their controllers for, and what is asked of them after that."""

DESCRIBE = command("kafka-metadata-quorum.sh --bootstrap-server BROKER:9092 describe --replication")
"""Shows the voters and how far each of them is."""

_NOT_LET_IN = {"KA222": None, "KA713": "node", "KA714": "nodes"}
"""Checks of settings with which controllers do not let each other in, and the evidence of who is kept out, as brokers may be.
What their logs show (KA220) is a cause of its own."""

_REJECTED = command("grep -E 'Unexpected error handling request|Encountered fatal fault' -A1 server.log | tail -4")

_LOG = command("grep -iE 'candidate|election|unattached|UnknownHost|Connection' server.log | tail -5")


def failed_quorum_reads(case: Case) -> list[SourceRead]:
    """Return what was asked about the quorum, or of a controller, and not answered."""
    failed = [read for read in case.view.last_reads if read.outcome == "failed"]
    return [read for read in failed if read.operation == "DescribeQuorum" or read.observer.startswith("controller")]


def about_the_quorum(case: Case, symptom: Finding) -> bool:
    """Explain, in KRaft, a source of which only the question for the quorum was not answered, or which is a controller."""
    if not case.view.kraft:
        return False
    if symptom.resource.controller is not None:
        return True
    reads = [read for read in case.view.last_reads if read.observer == f"broker:{symptom.resource.broker}"]
    failed = [read for read in reads if read.outcome == "failed"]
    # After one time-out the connection is gone, and what would have followed fails with it.
    return bool(failed) and {read.operation for read in failed} <= _PASSED_ON


def at_a_controller(_case: Case, symptom: Finding) -> bool:
    """Explain what is about an address of a controller."""
    return symptom.resource.controller is not None


def _first(case: Case) -> str:
    """Return what comes before a start of controllers where a finding shows that they would not let each other in; else ""."""
    found = {finding.code for finding in case.findings if finding.status is Status.FAIL and _keeps_out_controllers(case, finding)}
    report = "reports" if len(found) == 1 else "report"
    return f"First correct what {listing(sorted(found))} {report}: a start alone does not help before that." if found else ""


def _keeps_out_controllers(case: Case, finding: Finding) -> bool:
    if (key := _NOT_LET_IN.get(finding.code)) is None:
        return finding.code in _NOT_LET_IN
    nodes = {*(finding.numbers(key) or (finding.number(key),))}
    return bool(nodes & case.view.settings.with_controller_role or nodes - set(case.view.inter_broker.brokers))


def no_leader_story(case: Case) -> Story:
    """Return the story that no controller leads the metadata quorum."""
    failed = failed_quorum_reads(case)
    return Story(
        headline="The cluster has no controller: the metadata quorum has no leader",
        impact="No leader can move, no topic can be created, and no broker can start without a majority of controllers.",
        confidence=case.confidence(),
        why="No answer names a leader, or no broker could forward the request to a controller.",
        speaks_for=(*evidence_of(case.roots), *evidence_of_reads(failed, limit=5)),
        not_known=("Not known: which controllers are down. To know: the end of server.log of each.",),
        steps=(
            Step(kind="see", text="See it yourself on each controller's host (reads only).", commands=(_LOG,)),
            Step(
                kind="quick",
                text=_first(case)
                or "Start the controllers that are down and allow connections between them, until a majority of voters runs.",
            ),
            prove(case),
            do_not("format a controller's disk to get it up: a majority without the log loses the cluster's metadata."),
        ),
    )


def voters_story(case: Case) -> Story:
    """Return the story: which controllers do not follow, or do not answer."""
    down = next((root for root in case.roots if root.code == "KA209"), None)
    addresses = sorted(root.resource.controller or "" for root in case.roots if root.code == "KA211")
    at = f"the controller{'' if len(addresses) == 1 else 's'} at {listing(addresses, 2)}"
    silent = f"{at[0].upper()}{at[1:]} {'does' if len(addresses) == 1 else 'do'} not answer this worker"
    lost = f"The metadata quorum lacks {down.number('down')} of its {down.number('total')} controllers" if down else silent
    spare = clean(down.text("spare"), 60) if down else "the lag of the voters shows whether the majority is at risk"
    return Story(
        headline=fitting([f"{lost}: {spare}", lost, f"{counted(len(addresses), 'controller')} did not answer this worker"]),
        impact="The cluster works while a majority of the controllers does; below it no leader moves and no broker starts.",
        confidence=case.confidence(),
        why="The quorum leader reported the lag of its voters."
        if down
        else "This worker probed the connection to the controllers.",
        speaks_for=(*evidence_of(case.roots), *evidence_of_reads(failed_quorum_reads(case), limit=5)),
        not_known=()
        if down
        else ("Not known: whether brokers reach it. To know: a vantage with role broker, and `describe --replication` below.",),
        steps=(
            Step(
                kind="see",
                text="See it yourself (reads only).",
                commands=(DESCRIBE, *reconnect_commands(failed_quorum_reads(case), limit=3)),
            ),
            Step(
                kind="quick",
                text=_first(case) or "Start the controllers that are down, or allow connections to their port from the others.",
            ),
            prove(case),
            do_not("restart another controller before these follow again: without a majority no leader can be elected."),
        ),
    )


def torn(case: Case) -> Iterable[Case]:
    """Take all that name another leader of the metadata quorum as one fault; with ZooKeeper none."""
    return (case,) if case.view.kraft and case.roots else ()


def torn_story(case: Case) -> Story:
    """Return the story: who follows another leader than the newest."""
    subject = listing((root.resource.name.replace("/", " ", 1) for root in case.roots), 3)
    single = len(case.roots) == 1
    right = clean(case.roots[0].text("right") or "another controller", 80)
    return Story(
        headline=fitting(
            [
                f"Controllers disagree about the quorum leader: {subject} {'reports' if single else 'report'} an earlier leader",
                "Controllers disagree about the quorum leader: observers report an earlier leader",
            ]
        ),
        impact=f"Decisions of the leader do not arrive there; the leader is {right}.",
        confidence=case.confidence(),
        why="Each was read directly in two samples, and the leader did not change between them.",
        speaks_for=(*evidence_of(case.roots), *evidence_of_reads(failed_quorum_reads(case), limit=5)),
        not_known=("Not known: why they disagree. To know: the end of server.log of each controller.",),
        steps=(
            Step(kind="see", text="See it yourself (reads only).", commands=(DESCRIBE, _LOG)),
            Step(
                kind="quick",
                text=f"Allow connections between {subject} and the other controllers; a follower then catches up.",
            ),
            prove(case),
            do_not("restart several controllers at once: the quorum needs a majority of them."),
        ),
    )


def of_replaced_disks(case: Case, symptom: Finding) -> bool:
    """Explain voters that lag where each of them follows with another disk than the registered one."""
    now = case.view.quorum.now
    return symptom.code == "KA209" and {str(voter) for voter in now.voters if voter in now.late} <= {
        root.resource.controller for root in case.roots
    }


def at_an_unreached_voter(case: Case, symptom: Finding) -> bool:
    """Explain what is about the addresses of voters that others do not reach, and a host that does not reach just these."""
    unreached = {canonical_text(address) for root in case.roots for address in root.texts("addresses")}
    at = symptom.texts("addresses") if symptom.resource.controller is None else (symptom.resource.controller,)
    return bool(at) and {canonical_text(address) for address in at} <= unreached


def next_election_story(case: Case) -> Story:
    """Return the story: which voter others do not reach, and what that means when the leader goes."""
    measured = case.confidence() is Confidence.MEASURED
    unmeasured = "Not known: whether another voter reaches it. To know: a vantage with `role: controller` in the cluster file."
    see = Step(
        kind="see",
        text="See it yourself on the host of another controller (reads only).",
        commands=connect_commands_to(sorted({address for root in case.roots for address in root.texts("addresses")})),
    )
    plain = grouped.story(case)
    return replace(
        plain,
        speaks_for=(*plain.speaks_for, *_moved_voters(case)),
        impact="The cluster works while the leader does; then no partition leader is elected, and no broker starts.",
        why="The host of another voter does not connect to it."
        if measured
        else "No party connects to it that connects to other voters.",
        not_known=() if measured else (unmeasured,),
        steps=(see, *plain.steps, do_not("restart the leader before the others reach this voter: no leader would be elected.")),
    )


def _moved_voters(case: Case) -> tuple[Evidence, ...]:
    """Return which unreached voters had another address in the previous snapshot: others may still go to that one."""
    unreached = {f"controller/{node}" for root in case.roots for node in root.numbers("unreached")}
    return tuple(
        Evidence(
            observer=CHANGES,
            text=f"address of {change.resource.replace('/', ' ')}: {clean(change.before)} -> {clean(change.after)}",
        )
        for change in case.changes
        if change.kind == "voter_address" and change.resource in unreached
    )


def between_controllers(case: Case, symptom: Finding) -> bool:
    """Explain, where controllers are rejected, a quorum without leader, and voters that lag and reject or are rejected.

    What only brokers are denied leaves the quorum as it is.
    """
    parties = {number for root in case.roots for number in (root.number("node"), *root.numbers("from"))}
    rejected = {number for root in case.roots for number in root.numbers("from")} - set(case.view.inter_broker.brokers)
    return bool(rejected) and (symptom.code == "KA201" or bool(parties & set(symptom.numbers("controllers"))))


def of_rejected(case: Case, symptom: Finding) -> bool:
    """Explain what is about brokers that controllers rejected, and about addresses of brokers whose id is not known then."""
    rejected = {number for root in case.roots for number in root.numbers("from")} - case.view.controller_nodes
    broker = symptom.resource.broker
    return bool(rejected) and symptom.resource.type == "broker" and (broker is None or broker in rejected)


def of_ended(case: Case, symptom: Finding) -> bool:
    """Explain voters that lag where each of them ended itself."""
    return set(symptom.numbers("controllers")) <= {root.number("node") for root in case.roots}


def without_leader(case: Case, symptom: Finding) -> bool:
    """Explain what a quorum without leader leads to, where rejected requests are why it has none."""
    absent = (finding for finding in case.findings if finding.code == "KA201" and finding.status is Status.FAIL)
    return any(between_controllers(case, finding) for finding in absent) or at_a_controller(case, symptom)


def rejected_story(case: Case) -> Story:
    """Return the story: which controllers reject whom."""
    first = case.roots[0]
    subject = f"{clean(first.text('subject'), 40)} rejects requests of {clean(first.text('whom'), 80)}"
    principal, cause = clean(first.text("principal"), 40), clean(first.text("cause"), 60)
    return Story(
        headline=fitting(
            [
                f"{subject}, as {principal} {cause}",
                subject,
                "Controllers reject requests of other nodes",
            ]
        ),
        impact="Rejected controllers do not vote, rejected brokers do not start; from Kafka 3.4 on both end themselves.",
        confidence=case.confidence(),
        why="The logs of these nodes report it, and still did when they were read.",
        speaks_for=(*evidence_of(case.roots), *log_quotes.of_nodes(case, "KA220")),
        steps=(
            do_not("start or restart controllers before this is corrected: those that are rejected end themselves again."),
            Step(kind="see", text="See it yourself on each controller's host (reads only).", commands=(_REJECTED,)),
            *((Step(kind="quick", text=first.remedy),) if first.remedy else ()),
            prove(case),
        ),
    )


LOST_VOTE = Cause(
    codes=("KA214",),
    meaning="a controller follows the metadata quorum without a vote",
    cases=together,
    story=grouped.story,
    explains=(Explains(codes=("KA209",), where=of_replaced_disks),),
)

NEXT_ELECTION = Cause(
    codes=("KA218",),
    meaning="the next election fails, because voters do not reach each other",
    cases=together,
    story=next_election_story,
    explains=(Explains(codes=("KA001", "KA211", "KA216"), where=at_an_unreached_voter),),
)

REJECTED = Cause(
    codes=("KA220",),
    meaning="controllers reject the requests of each other or of brokers",
    cases=together,
    story=rejected_story,
    explains=(
        Explains(codes=("KA201", "KA209"), where=between_controllers),
        Explains(codes=(*VIEW, "KA001", "KA203", "KA210", "KA211", "KA212", "KA601", "KA602"), where=without_leader),
        Explains(codes=("KA001", "KA113", "KA210", "KA212", "KA301"), where=of_rejected),
    ),
)

ENDED = Cause(
    codes=("KA221",),
    meaning="a controller or broker ended itself, or did not apply a part of the metadata",
    cases=together,
    story=grouped.story,
    explains=(Explains(codes=("KA209",), where=of_ended),),
)

VOTERS_DOWN = Cause(
    codes=("KA209", "KA211"),
    meaning="controllers of the metadata quorum are down, or out of this worker's reach",
    cases=together,
    story=voters_story,
    explains=(Explains(codes=("KA001", "KA202"), where=at_a_controller),),
)

TORN_QUORUM = Cause(
    codes=("KA202",),
    meaning="controllers or brokers report different leaders of the metadata quorum",
    cases=torn,
    story=torn_story,
)
