"""Causes in the metadata quorum: it has no leader, or controllers are down."""

from collections.abc import Iterable
from dataclasses import replace

from kafka_audit.checks import log_quotes
from kafka_audit.checks.repair import connect_commands_to, reconnect_commands
from kafka_audit.compare.addresses import canonical_text
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
from kafka_audit.incidents.causes.told import grouped_story, told
from kafka_audit.model.finding import CHANGES, Evidence, Finding, Status, Step
from kafka_audit.model.tables import SourceRead
from kafka_audit.model.text import clean, listing

_PASSED_ON = frozenset({"DescribeQuorum", "ListPartitionReassignments", "DescribeConfigs TOPIC"})
"""What brokers have to ask their controllers for, and what is asked of them after that."""

_NOT_LET_IN = {"KA222": None, "KA713": "node", "KA714": "nodes"}
"""Checks of settings with which controllers do not let each other in, and the evidence of who is kept out, as brokers may be.
What their logs show (KA220) is a cause of its own."""


def failed_quorum_reads(case: Case) -> list[SourceRead]:
    """Return what was asked about the quorum, or of a controller, and not answered."""
    failed = [read for read in case.view.last_reads if read.outcome == "failed"]
    return [read for read in failed if read.operation == "DescribeQuorum" or read.observer.startswith("controller")]


def about_the_quorum(case: Case, symptom: Finding) -> bool:
    """Explain, in KRaft and in a migration, a source that did not answer for the quorum alone, or which is a controller."""
    if not case.view.kraft and case.view.migrating is None:
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
    evidence = (*evidence_of(case.roots), *evidence_of_reads(failed_quorum_reads(case), limit=5))
    return told(case, "controller/quorum no_leader", evidence=evidence, first=_first(case))


def voters_story(case: Case) -> Story:
    """Return the story: which controllers do not follow, or do not answer."""
    lagging, failed = next((root for root in case.roots if root.code == "KA209"), None), failed_quorum_reads(case)
    return told(
        case,
        "controller/quorum voters",
        evidence=(*evidence_of(case.roots), *evidence_of_reads(failed, limit=5)),
        first=_first(case),
        addresses=tuple(sorted(root.resource.controller or "" for root in case.roots if root.code == "KA211")),
        silent_ones=sum(root.code == "KA211" for root in case.roots),
        lagging=lagging is not None,
        down=lagging.number("down") if lagging else 0,
        total=lagging.number("total") if lagging else 0,
        spare=clean(lagging.text("spare"), 60) if lagging else "",
        reconnect=reconnect_commands(failed, limit=3),
    )


def torn(case: Case) -> Iterable[Case]:
    """Take all that name another leader of the metadata quorum as one fault; with ZooKeeper none."""
    return (case,) if case.view.kraft and case.roots else ()


def torn_story(case: Case) -> Story:
    """Return the story: who follows another leader than the newest."""
    return told(
        case,
        "controller/quorum torn",
        evidence=(*evidence_of(case.roots), *evidence_of_reads(failed_quorum_reads(case), limit=5)),
        parties=tuple(root.resource.name.replace("/", " ", 1) for root in case.roots),
        right=clean(case.roots[0].text("right") or "another controller", 80),
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
    plain = grouped_story(case)
    addresses = sorted({address for root in case.roots for address in root.texts("addresses")})
    return told(
        case,
        "controller/quorum next_election",
        evidence=(*plain.speaks_for, *_moved_voters(case)),
        plain=plain.headline,
        connect=connect_commands_to(addresses),
        repair=plain.steps,
    )


def rejected_certificates(case: Case) -> Iterable[Case]:
    """Take the certificates of controllers that others reject now as one fault."""
    roots = tuple(root for root in case.roots if root.resource.controller is not None and root.evidence.get("rejected") is True)
    return (replace(case, roots=roots),) if roots else ()


def at_the_certificate(case: Case, symptom: Finding) -> bool:
    """Explain what is about the addresses at which these certificates are shown, and about no other one."""
    theirs = {canonical_text(root.resource.controller or "") for root in case.roots}
    at = symptom.texts("addresses") if symptom.resource.controller is None else (symptom.resource.controller,)
    return bool(at) and {canonical_text(address) for address in at} <= theirs


def certificate_story(case: Case) -> Story:
    """Return the story: whose certificate, and whether the next election fails because of it."""
    plain = grouped_story(case)
    elections = tuple(finding for finding in case.explained if finding.code == "KA218")
    return told(
        case,
        "controller/quorum certificate",
        evidence=(*plain.speaks_for, *evidence_of(elections)),
        several=len(case.roots) > 1,
        fault=case.roots[0].text("fault"),
        whose=tuple(sorted(root.resource.controller or "" for root in case.roots)),
        election=bool(elections),
        repair=plain.steps,
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


def lacks_the_denied(case: Case, symptom: Finding) -> bool:
    """Explain that the super users of a controller differ from those of others by the principal that it denies."""
    denied = {(root.resource.name, root.text("principal")) for root in case.roots}
    return any((symptom.resource.name, principal) in denied for principal in symptom.texts("lacks"))


def of_rejected(case: Case, symptom: Finding) -> bool:
    """Explain what is about brokers that controllers rejected, and about addresses of brokers whose id is not known then."""
    rejected = {number for root in case.roots for number in root.numbers("from")} - case.view.controller_nodes
    broker = symptom.resource.broker
    return bool(rejected) and symptom.resource.type == "broker" and (broker is None or broker in rejected)


def of_ended(case: Case, symptom: Finding) -> bool:
    """Explain voters that lag where each of them exited."""
    return set(symptom.numbers("controllers")) <= {root.number("node") for root in case.roots}


def without_leader(case: Case, symptom: Finding) -> bool:
    """Explain what a quorum without leader leads to, where rejected requests are why it has none."""
    absent = (finding for finding in case.findings if finding.code == "KA201" and finding.status is Status.FAIL)
    return any(between_controllers(case, finding) for finding in absent) or at_a_controller(case, symptom)


def rejected_story(case: Case) -> Story:
    """Return the story: which controllers reject whom."""
    first = case.roots[0]
    return told(
        case,
        "controller/quorum rejected",
        evidence=(*evidence_of(case.roots), *log_quotes.of_nodes(case, "KA220")),
        subject=clean(first.text("subject"), 40),
        whom=clean(first.text("whom"), 80),
        principal=clean(first.text("principal"), 40),
        fault=clean(first.text("cause"), 60),
        remedy=(Step(kind="quick", text=first.remedy),) if first.remedy else (),
    )


LOST_VOTE = Cause(
    codes=("KA214",),
    tier="controllers",
    meaning="a controller follows the metadata quorum without a vote",
    cases=together,
    story=grouped_story,
    explains=(Explains(codes=("KA209",), where=of_replaced_disks),),
)

CERTIFICATE = Cause(
    codes=("KA307",),
    tier="controllers",
    meaning="the certificate of a controller is rejected by those that connect to it",
    cases=rejected_certificates,
    story=certificate_story,
    explains=(Explains(codes=("KA001", "KA211", "KA216", "KA218"), where=at_the_certificate),),
)

NEXT_ELECTION = Cause(
    codes=("KA218",),
    tier="controllers",
    meaning="the next election fails, because voters do not reach each other",
    cases=together,
    story=next_election_story,
    explains=(Explains(codes=("KA001", "KA211", "KA216"), where=at_an_unreached_voter),),
)

REJECTED = Cause(
    codes=("KA220",),
    tier="controllers",
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
    tier="controllers",
    meaning="a controller or broker exited, or did not apply a part of the metadata",
    cases=together,
    story=grouped_story,
    explains=(Explains(codes=("KA209",), where=of_ended),),
)

DENIED_BY_FILES = Cause(
    codes=("KA714",),
    tier="controllers",
    meaning="a controller denies other nodes, because of its super.users",
    cases=together,
    story=grouped_story,
    explains=(Explains(codes=("KA402",), where=lacks_the_denied),),
)

VOTERS_DOWN = Cause(
    codes=("KA209", "KA211"),
    tier="controllers",
    meaning="controllers of the metadata quorum are down, or out of this worker's reach",
    cases=together,
    story=voters_story,
    explains=(Explains(codes=("KA001", "KA202"), where=at_a_controller),),
)

TORN_QUORUM = Cause(
    codes=("KA202",),
    tier="controllers",
    meaning="controllers or brokers report different leaders of the metadata quorum",
    cases=torn,
    story=torn_story,
)
