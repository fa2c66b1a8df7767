"""From a static to a dynamic quorum: the voters move from every node's file into the metadata log (kraft.version 1).

Sources: KIP-853; KAFKA-16538 (upgrade of a running static quorum, 4.1; `LeaderState.maybeAppendUpgradedKRaftVersion` refuses it
as long as one voter has not reported its directory); Kafka 4.1 documentation, "KRaft", "Upgrade".
"""

from collections.abc import Iterator

from kafka_audit.cluster.features import KRAFT_VERSION
from kafka_audit.migration.items import HeadedItem
from kafka_audit.migration.quorum.facts import QuorumFacts
from kafka_audit.migration.quorum.planned_steps import PlannedStep, StepCommands, leader_last, one_by_one, while_one_restarts
from kafka_audit.migration.quorum.preconditions import files_are_read, gate_item, voters_follow
from kafka_audit.model.addresses.voters import SERVERS, VOTERS
from kafka_audit.model.commands import setting

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
