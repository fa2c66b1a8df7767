"""Incidents of the metadata quorum: what keeps it from a leader, and what follows from that."""

from collections.abc import Iterable
from dataclasses import replace

from kafka_audit.checks import Status, log_quotes
from kafka_audit.checks.incident import Case, StoryFacts, evidence_of_reads
from kafka_audit.checks.metadata.process_down import quotes_of, revivals
from kafka_audit.checks.repair import connect_commands_to, reconnect_commands
from kafka_audit.cluster.held_up_by import held_up_by
from kafka_audit.cluster.processes import Processes
from kafka_audit.cluster.view import ClusterView
from kafka_audit.compare.addresses import canonical_text
from kafka_audit.model.finding import CHANGES, Evidence, Finding
from kafka_audit.model.tables import SourceRead
from kafka_audit.model.text import clean, listing, named_nodes


def may_be_rejected(view: ClusterView, nodes: Iterable[int]) -> bool:
    """Return whether nothing rules out that other controllers reject these nodes.

    It is ruled out where no node runs an authorizer, or where the logs of all other controllers were read, of which KA220 reports
    what they say. Settings show it in KA222, KA713 and KA714, where the files of both sides were read.
    """
    between = view.inter_broker
    states = {between.authorizer(node).state for node in (*between.brokers, *view.settings.with_controller_role)}
    if states == {"unset"}:
        return False
    voters = {*view.quorum.now.voters, *view.voter_addresses} - {*nodes}
    return not voters or not voters <= _logged(view)


def _logged(view: ClusterView) -> set[int]:
    """Return the nodes whose logs were read."""
    return {node for node, reads in view.reads.of_logs.items() if reads[-1].outcome == "answered"}


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
    """Return what comes before a start of controllers where others do not let them in, or may not; else ""."""
    found = {finding.code for finding in case.findings if finding.status is Status.FAIL and _keeps_out_controllers(case, finding)}
    report = "reports" if len(found) == 1 else "report"
    if found:
        return f"First correct what {listing(sorted(found))} {report}: a start alone does not help before that."
    now = case.view.quorum.now
    if may_be_rejected(case.view, now.late or set(case.view.voter_addresses) - now.answering):
        return (
            "Read the last ERROR in server.log of the controllers that do not follow: those that the others reject "
            "(ClusterAuthorizationException, AuthorizerNotReadyException) exit again after each start until this is corrected "
            "(KA220). Start the others, or allow connections to their port."
        )
    return ""


def _keeps_out_controllers(case: Case, finding: Finding) -> bool:
    if (key := _NOT_LET_IN.get(finding.code)) is None:
        return finding.code in _NOT_LET_IN
    nodes = {*(finding.numbers(key) or (finding.number(key),))}
    return bool(nodes & case.view.settings.with_controller_role or nodes - set(case.view.inter_broker.brokers))


def needs_a_controller(case: Case, symptom: Finding) -> bool:
    """Explain what a controller could mend: not what waits only for brokers that are down, before and after it is there again."""
    down, place = case.down - _voters(case), symptom.resource.topic_partition
    if place is None:
        return symptom.resource.broker not in down
    waits = held_up_by(case.view, *place)
    return not waits or not waits <= down


def at_a_dead_voter(case: Case, symptom: Finding) -> bool:
    """Explain what is about nodes with a vote that are down, and that fewer brokers are there where all that are missing vote."""
    if symptom.resource.name == "cluster":
        missing = {f.resource.broker for f in case.findings if f.code == symptom.code and f.status is Status.FAIL} - {None}
        return bool(missing) and missing <= case.down & _voters(case)
    return symptom.resource.controller is not None or symptom.resource.broker in case.down & _voters(case)


def _voters(case: Case) -> frozenset[int]:
    view = case.view
    return frozenset((*view.quorum.now.voters, *view.voter_addresses, *view.controller_nodes))


def without_leader(case: Case) -> StoryFacts:
    """Return which voters are down, what was asked about the quorum and not answered, and what comes before a start of them."""
    view = case.view
    dead = [process for node in sorted(case.down & _voters(case)) if (process := view.derived(Processes).all.get(node))]
    silent = sorted({read.target for read in failed_quorum_reads(case) if read.observer.startswith("controller") and read.target})
    facts = {
        "first": _first(case),
        "dead": tuple(f"{view.party(process.node)} {process.state.value}" for process in dead),
        "revive": tuple(revivals(view, dead)),
        "asked": any(read.observer.startswith("controller") for read in view.last_reads),
        "silent": tuple(silent),
        "unlogged": not _voters(case) or not _voters(case) <= _logged(view) | view.quorum.now.probed,
    }
    quotes = (line for process in dead for line in quotes_of(view, process))
    return StoryFacts(facts=facts, also=(*quotes, *evidence_of_reads(failed_quorum_reads(case), limit=5)))


def not_by_their_own(case: Case) -> Iterable[Case]:
    """Take all as one fault, without voters that are down by what their own logs say: that is the cause, of brokers, too."""
    ended = tuple(f for f in case.findings if f.code == "KA116" and f.status is Status.FAIL)
    whole = replace(case, roots=ended)
    roots = tuple(root for root in case.roots if not (of_ended if root.code == "KA209" else at_the_nodes)(whole, root))
    return (replace(case, roots=roots),) if roots else ()


def at_the_nodes(case: Case, symptom: Finding) -> bool:
    """Explain what is about nodes as controllers: by their ids, or at addresses of voters."""
    nodes = [root.number("node") for root in case.roots]
    addresses = [case.view.voter_addresses.get(node) for node in nodes]
    return symptom.resource.controller in {*map(str, nodes), *(f"{at[0]}:{at[1]}" for at in addresses if at)}


def voters_down_facts(case: Case) -> StoryFacts:
    """Return which controllers do not follow, or do not answer."""
    lagging, failed = next((root for root in case.roots if root.code == "KA209"), None), failed_quorum_reads(case)
    silent = tuple(sorted(root.resource.controller or "" for root in case.roots if root.code == "KA211"))
    facts = {"first": _first(case), "addresses": silent, "silent_ones": len(silent), "lagging": lagging is not None}
    counts = {
        "named": named_nodes("controller", lagging.numbers("controllers")) if lagging else "",
        "down": lagging.number("down") if lagging else 0,
        "total": lagging.number("total") if lagging else 0,
        "spare": clean(lagging.text("spare"), 60) if lagging else "",
        "unlogged": lagging is not None and not {*lagging.numbers("controllers")} <= _logged(case.view),
        "reconnect": reconnect_commands(failed, limit=3),
    }
    return StoryFacts(facts=facts | counts, also=evidence_of_reads(failed, limit=5))


def followed_leaders(case: Case) -> StoryFacts:
    """Return who follows another leader than the newest."""
    facts = {
        "parties": tuple(root.resource.name.replace("/", " ", 1) for root in case.roots),
        "right": clean(case.roots[0].text("right") or "another controller", 80),
    }
    return StoryFacts(facts=facts, also=evidence_of_reads(failed_quorum_reads(case), limit=5))


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


def unreached_voters(case: Case) -> StoryFacts:
    """Return where others do not reach voters, and which of these had another address in the previous snapshot."""
    addresses = sorted({address for root in case.roots for address in root.texts("addresses")})
    return StoryFacts(facts={"connect": connect_commands_to(addresses)}, also=_moved_voters(case))


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
    """Explain voters that lag where each of them is down, one of them by these findings."""
    late, roots = set(symptom.numbers("controllers")), {root.number("node") for root in case.roots}
    return bool(late & roots) and late <= roots | case.down


def follows_from_no_leader(case: Case, symptom: Finding) -> bool:
    """Explain what a quorum without leader leads to, where rejected requests are why it has none."""
    absent = (finding for finding in case.findings if finding.code == "KA201" and finding.status is Status.FAIL)
    led = not any(between_controllers(case, finding) for finding in absent)
    return at_a_controller(case, symptom) if led else needs_a_controller(case, symptom)


def quoted_refusals(case: Case) -> StoryFacts:
    """Return the lines in which nodes report that they were rejected."""
    return StoryFacts(also=log_quotes.of_nodes(case, "KA220"))
