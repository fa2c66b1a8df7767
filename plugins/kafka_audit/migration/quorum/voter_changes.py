"""Voters that are added to a dynamic quorum or removed from it, one at a time, in an order that tolerates most failures.

Sources: KIP-853; `AddVoterHandler` (a new voter must have caught up within the last hour), `RemoveVoterHandler` (a leader that is
removed resigns); KAFKA-19850 (auto join adds a removed controller again, as long as it runs; 4.2).
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from kafka_audit.cluster.features import KRAFT_VERSION
from kafka_audit.cluster.processes import Processes
from kafka_audit.compare.addresses import is_among
from kafka_audit.migration.items import HeadedItem
from kafka_audit.migration.quorum.facts import QuorumFacts, files_are_read, gate_item, size_is_safe, voters_follow
from kafka_audit.migration.quorum.planned_steps import PlannedStep, StepCommands, leader_last, one_by_one, while_one_restarts
from kafka_audit.model.addresses.voters import SERVERS, VOTERS, servers_named
from kafka_audit.model.commands import setting
from kafka_audit.model.quorum import majority
from kafka_audit.model.text import counted, listing

_UPGRADE = "kafka-features.sh --bootstrap-server {broker} upgrade --feature kraft.version=1"


def dynamic_quorum_items(facts: QuorumFacts) -> Iterator[HeadedItem]:
    """Yield what stands against the upgrade now."""
    yield from voters_follow(facts)
    yield from files_are_read(facts, facts.voters, VOTERS)
    if not facts.is_dynamic:
        yield from _releases(facts)
    elif not _nodes_with_voters(facts):
        message = f"The quorum is dynamic, and no file names {VOTERS}: nothing is left to do"
        yield gate_item("information", "KA712", "cluster", message)
    else:
        message = "kraft.version is 1 already: the files are left to do"
        yield gate_item("information", "KA712", "cluster", message)


def _releases(facts: QuorumFacts) -> Iterator[HeadedItem]:
    feature = facts.view.features.get(KRAFT_VERSION)
    if not facts.view.features:
        needs = "Needed: an answer to ApiVersions from a broker"
        yield gate_item("not_known", "KA712", "cluster", "Cannot determine whether every broker supports kraft.version 1", needs)
    elif feature is None or not feature.supported:
        remedy = "Upgrade every broker to 3.9 or later and every controller to 4.1 or later first."
        message = "A broker does not support kraft.version 1: it runs a Kafka before 3.9"
        yield gate_item("blockers", "KA712", "cluster", message, remedy)
    for node in facts.voters:
        upgrades = facts.upgrades_kraft_version(node)
        if upgrades is None:
            message = f"Cannot determine whether voter {node} runs Kafka 4.1 or later, as the upgrade requires"
            needs = "Needed: the first step, which changes nothing; or metadata.version 4.1, which no older controller accepts"
            yield gate_item("not_known", "KA712", f"controller/{node}", message, needs)
        elif not upgrades:
            message = f"Voter {node} runs a Kafka before 4.1, which does not upgrade a static quorum"
            remedy = "Upgrade it first. Kafka 3.9 and 4.0 have dynamic quorums only where storage was formatted as such."
            yield gate_item("blockers", "KA712", f"controller/{node}", message, remedy)


def _nodes_with_voters(facts: QuorumFacts) -> tuple[int, ...]:
    """Return nodes whose settings still name the voters, or are unknown."""
    return tuple(node for node in facts.nodes if not facts.is_read(node) or facts.value(node, VOTERS))


def dynamic_quorum_steps(facts: QuorumFacts) -> Iterator[PlannedStep]:
    """Yield the steps: those that are done already are left out."""
    run, left = StepCommands(facts), _nodes_with_voters(facts)
    if not facts.is_dynamic:
        yield PlannedStep(
            text=(
                "Validate the upgrade, with a login that has Alter on the cluster. It is refused if a voter runs Kafka 4.0 or "
                "older, or was not there since the leader was elected."
            ),
            halfway=(
                f"Nothing has changed. Keep `{VOTERS}` in every file for now: a controller that starts without it, while "
                "kraft.version is 0, knows no voters and cannot be elected, or fails with `IllegalStateException: Expected to be "
                "Follower` (seen with 4.3.0) and does not follow."
            ),
            lines=(run(f"{_UPGRADE} --dry-run"),),
        )
        yield PlannedStep(
            text=(
                "Upgrade only kraft.version; `--release-version` raises other features, too. A static quorum cannot be restored "
                "afterwards."
            ),
            halfway=(
                f"The voters are in the metadata log, and nodes use `{VOTERS}` only to find them. Nodes with old files start. A "
                "new controller does not start with such a file: Kafka requires its id in the list. From now on a controller "
                "with a new disk is a new voter: it must be removed and added (KA214)."
            ),
            lines=(run(_UPGRADE),),
        )
        yield PlannedStep(
            text="Check that each voter is listed with its directory id and the endpoint where the others reach it.",
            halfway="If an endpoint is wrong, correct the listener of that controller before any other is restarted.",
            lines=(run.status(),),
        )
    servers = setting(SERVERS, ",".join(facts.address(node) for node in facts.voters))
    for kind, nodes in (
        ("controller", leader_last(facts, (node for node in left if node not in facts.brokers))),
        ("broker", tuple(node for node in left if node in facts.brokers)),
    ):
        if not nodes:
            continue
        states = (
            "Old and new files work side by side. A file with neither of the two keys does not start.",
            while_one_restarts(facts)
            if kind == "controller"
            else "A broker with an old file still finds the quorum, as long as one of the listed controllers is up.",
        )
        yield PlannedStep(
            text=(
                f"{one_by_one(nodes, kind)}: remove `{VOTERS}` from the file, add the line below and restart. Continue when the "
                f"{kind} follows without a lag."
            ),
            halfway=" ".join(states),
            lines=(servers, run.replication()),
        )
    if left or not facts.is_dynamic:
        yield run.comparison(f"kraft.version 1, a directory id for each voter, no `{VOTERS}` in any file, and all voters follow")


_UNKNOWN_DIRECTORY = "DIRECTORY_ID"


@dataclass(frozen=True, kw_only=True)
class VoterChange:
    """One voter that is added or removed, and the quorum afterwards: its voters, and how many of them follow."""

    node: int
    is_added: bool
    size: int
    following: int

    @property
    def spare(self) -> int:
        """How many voters may fail then; negative where no majority follows."""
        return self.following - majority(self.size)

    @property
    def state(self) -> str:
        """The quorum afterwards, in a sentence."""
        needed = f"{self.following} of {counted(self.size, 'voter')} follow, {majority(self.size)} are required"
        return f"{needed}: {'none may fail' if not self.spare else f'{self.spare} may fail'}."


def safest_order(
    voters: Collection[int], late: Collection[int], wanted: Collection[int], leader: int | None
) -> list[VoterChange]:
    """Return the changes to the wanted voters, in an order in which at no time fewer voters may fail than in any other.

    A voter that is added follows, because it is added once it has caught up, so that it never lowers what the quorum tolerates;
    nor does the removal of one that is down. So voters are added first, then those that are down go, and the leader goes last.
    """
    added = sorted({*wanted} - {*voters})
    removed = sorted({*voters} - {*wanted}, key=lambda node: (node not in late, node == leader, node))
    members, done = set(voters), []
    for node in (*added, *removed):
        members ^= {node}
        size, following = len(members), len(members - {*late})
        done.append(VoterChange(node=node, is_added=node in members, size=size, following=following))
    return done


def voter_change_items(facts: QuorumFacts, wanted: Sequence[int]) -> Iterator[HeadedItem]:
    """Yield what stands against these voters now."""
    if not facts.is_dynamic:
        message = f"The quorum is static: its voters are {VOTERS} in every file, and no voter can be added or removed"
        remedy = "Plan it first: `kafka-audit before-migration CLUSTER --kind dynamic-quorum`."
        yield gate_item("blockers", "KA213", "cluster", message, remedy)
        return
    leaving = facts.voters.keys() - {*wanted}
    changes = _order(facts, wanted)
    if not changes:
        message = f"The voters are {listing(facts.voters)} already: nothing is left to do"
        yield gate_item("information", "KA214", "cluster", message)
    yield from voters_follow(facts, leaving)
    for change in changes:
        if change.spare < 0:
            verb = "is added" if change.is_added else "is removed"
            message = f"After controller {change.node} {verb}, {change.following} of {change.size} voters follow, no majority"
            yield gate_item("blockers", "KA209", f"controller/{change.node}", message, "Start the voters that stay first.")
        elif change.is_added:
            yield from _new_voter(facts, change.node)
        else:
            yield from _leaving_voter(facts, change)
    staying = [node for node in wanted if node in facts.voters]
    yield from files_are_read(facts, staying, SERVERS)
    yield from _lost_servers(facts, leaving)
    if changes:
        yield from size_is_safe(changes[-1].size)


def _order(facts: QuorumFacts, wanted: Sequence[int]) -> list[VoterChange]:
    return safest_order(facts.voters, facts.late & facts.voters.keys(), wanted, facts.leader)


def _new_voter(facts: QuorumFacts, node: int) -> Iterator[HeadedItem]:
    resource = f"controller/{node}"
    if node in facts.view.inter_broker.brokers and not facts.is_controller(node):
        message = f"Node {node} is a broker without the controller role, so it cannot be a voter"
        remedy = "Give the new controller a node id that no broker has."
        yield gate_item("blockers", "KA910", resource, message, remedy)
        return
    if facts.value(node, VOTERS):
        message = f"The file of controller {node} names {VOTERS}, which a controller that is added must not have"
        yield gate_item("blockers", "KA213", resource, message, f"Remove it and set {SERVERS}.")
    if node in facts.late_twice:
        message = f"Controller {node} follows as an observer and is behind: the leader refuses to add it"
        yield gate_item("blockers", "KA214", resource, message, "Add it once `describe --replication` shows no lag.")
    elif node in facts.late:
        message = f"Cannot determine whether controller {node} has caught up (in motion: behind in one sample)"
        yield gate_item("not_known", "KA214", resource, message, "Needed: another audit")
    elif node in facts.observers:
        yield gate_item("information", "KA214", resource, f"Controller {node} follows as an observer and has caught up")
    else:
        yield gate_item("information", "KA214", resource, f"Controller {node} does not follow yet: it is started first")


def _leaving_voter(facts: QuorumFacts, change: VoterChange) -> Iterator[HeadedItem]:
    node, resource = change.node, f"controller/{change.node}"
    if facts.voters[node].directory_id is None:
        message = f"Cannot determine the directory id of voter {node}, which its removal names"
        yield gate_item("not_known", "KA214", resource, message, "Needed: DescribeQuorum version 2 (Kafka 3.9)")
    if node in facts.late and not facts.view.derived(Processes).is_gone(node):
        message = (
            f"The process of controller {node} may still run: it does not follow, and is not seen to have ended. If it goes on "
            "as it is removed, the leader may end by a fatal fault (`Unexpected acknowledgement from non-voter`, seen with 4.4.0)"
        )
        is_asked = any(read.observer.startswith("controller@") for read in facts.view.last_reads)
        if is_asked or facts.view.reads.of_logs.get(node):
            yield gate_item("blockers", "KA214", resource, message, f"End it first: `kill -9` on the host of controller {node}.")
        else:
            needs = "Needed: `controllers` in the cluster file, so that this worker asks it, or its server.log in `logs`"
            yield gate_item("not_known", "KA214", resource, message, needs)
    if node not in facts.late and facts.joins_by_itself(node) and change.following < majority(change.size + 1):
        message = f"Controller {node} joins again by itself, and cannot be stopped first: the others are no majority"
        remedy = "Set controller.quorum.auto.join.enable=false in its file and restart it, then remove it."
        yield gate_item("blockers", "KA214", resource, message, remedy)


def _lost_servers(facts: QuorumFacts, leaving: Collection[int]) -> Iterator[HeadedItem]:
    """Yield nodes that would find no voter at their next start."""
    gone = [facts.addresses[node] for node in leaving if node in facts.addresses]
    for node in facts.nodes:
        servers = servers_named(facts.value(node, SERVERS))
        if node not in leaving and servers and all(is_among(server, gone) for server in servers):
            kind = "broker" if node in facts.brokers else "controller"
            message = f"{SERVERS} of {kind} {node} names only voters that leave: it finds no quorum when it starts again"
            yield gate_item("blockers", "KA213", f"{kind}/{node}", message, "Add a voter that stays, and restart it first.")


def voter_change_steps(facts: QuorumFacts, wanted: Sequence[int]) -> Iterator[PlannedStep]:
    """Yield the steps; none for a static quorum."""
    changes = _order(facts, wanted) if facts.is_dynamic else []
    if not changes:
        return
    run = StepCommands(facts, without=facts.voters.keys() - {*wanted})
    for change in changes:
        yield from _add(facts, run, change) if change.is_added else _remove(facts, run, change)
    servers = ",".join(facts.address(node) for node in sorted(wanted))
    yield PlannedStep(
        text=(
            "Set the line below in the file of every broker and controller; it takes effect at the next restart of each. Change "
            "`controllers` in the cluster file of this audit, and commands and clients with `--bootstrap-controller`."
        ),
        halfway="Nodes with an old line find the quorum as long as one controller in it is up.",
        lines=(setting(SERVERS, servers),),
    )
    yield run.comparison(f"voters {listing(sorted(wanted))}, and all of them follow")


def _add(facts: QuorumFacts, run: StepCommands, change: VoterChange) -> Iterator[PlannedStep]:
    node, joins = change.node, facts.joins_by_itself(change.node)
    if node not in facts.observers:
        cluster_id = facts.view.cluster_id
        servers = setting(SERVERS, ",".join(facts.address(voter) for voter in facts.voters))
        yield PlannedStep(
            text=(
                f"On the host of controller {node}: write its file, with the line below and without `{VOTERS}`; format its disk "
                "and start it."
            ),
            halfway=f"Controller {node} follows as an observer, and KA214 reports it. It may fail without effect.",
            lines=(
                servers,
                run(
                    "kafka-storage.sh format --cluster-id {cluster_id} --config controller.properties --no-initial-controllers",
                    cluster_id=cluster_id,
                ),
            ),
        )
    yield PlannedStep(
        text=f"Wait until controller {node} has no lag: the leader refuses a voter that has not caught up.",
        lines=(run.replication(),),
    )
    by_itself = (
        " If it joined by itself (`controller.quorum.auto.join.enable`), the command reports that it is a voter already."
        if joins is not False
        else ""
    )
    yield PlannedStep(
        text=(
            f"Add controller {node}, on its host and with its own file, which holds its id, disk and endpoint, and a login with "
            f"Alter on the cluster.{by_itself}"
        ),
        halfway=change.state,
        lines=(
            run(
                "kafka-metadata-quorum.sh --command-config controller.properties --bootstrap-controller {controller} "
                "add-controller"
            ),
            run.status(),
        ),
    )


def _remove(facts: QuorumFacts, run: StepCommands, change: VoterChange) -> Iterator[PlannedStep]:
    node, is_down = change.node, change.node in facts.late
    directory = facts.voters[node].directory_id or _UNKNOWN_DIRECTORY
    resigns = " It is the leader: it resigns, and another voter is elected." if node == facts.leader else ""
    first = not is_down and facts.joins_by_itself(node) is not False and change.following >= majority(change.size + 1)
    if first:
        yield PlannedStep(
            text=(
                f"Stop controller {node}: with `controller.quorum.auto.join.enable` it would join again as soon as it is removed."
                f"{resigns}"
            ),
            halfway=(
                f"Until it is removed, {change.following} of {change.size + 1} voters follow and {majority(change.size + 1)} are "
                "required."
            ),
        )
    stop = "" if first or is_down else f" Then stop it.{resigns}"
    yield PlannedStep(
        text=f"Remove controller {node} from the voters.{stop}",
        halfway=change.state,
        lines=(
            run(
                "kafka-metadata-quorum.sh --bootstrap-controller {controller} remove-controller --controller-id {node} "
                "--controller-directory-id {directory}",
                node=node,
                directory=directory,
            ),
            run.status(),
        ),
    )
