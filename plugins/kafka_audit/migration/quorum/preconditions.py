"""What every change of the quorum requires: KRaft, a leader, voters that follow, and files that were read."""

from collections.abc import Iterable, Iterator

from kafka_audit.cluster.quorum import NO_TIMES
from kafka_audit.migration.items import GateItem, HeadedItem
from kafka_audit.migration.quorum.facts import QuorumFacts
from kafka_audit.model.text import counted

FILE_NEEDS = "Needed: server.properties of node {node} (`properties` in the cluster file)"


def gate_item(heading: str, code: str, resource: str, message: str, remedy: str = "") -> HeadedItem:
    """Return a line of the gate under a heading."""
    return HeadedItem(heading, GateItem(source="gate", code=code, resource=resource, message=message, remedy=remedy))


def quorum_is_read(facts: QuorumFacts) -> Iterator[HeadedItem]:
    """Yield why there is no quorum to change: ZooKeeper, or no leader that answered."""
    if not facts.view.kraft:
        remedy = "Plan the migration first: `kafka-audit before-migration CLUSTER --kind zookeeper-to-kraft`."
        yield gate_item("blockers", "KA209", "cluster", "The cluster has no metadata quorum: it uses ZooKeeper", remedy)
    elif facts.leader is None:
        error, needs = facts.view.quorum.unread()
        message = f"Cannot determine who votes in the metadata quorum ({error})"
        yield gate_item("not_known", "KA209", "cluster", message, f"Needed: {needs}")


def voters_follow(facts: QuorumFacts, leaving: Iterable[int] = ()) -> Iterator[HeadedItem]:
    """Yield voters that do not follow: a change restarts others, or counts on all. Voters that leave may be down."""
    if not facts.has_times:
        error, needs = NO_TIMES
        message = f"Cannot determine whether all voters follow ({error})"
        yield gate_item("not_known", "KA209", "cluster", message, f"Needed: {needs}")
        return
    for node in sorted(facts.voters.keys() - frozenset(leaving)):
        if node in facts.late_twice:
            message = f"Controller {node} is a voter and does not follow leader {facts.leader}"
            remedy = "Start it, or repair its connection to the other controllers first: `kafka-audit explain KA209`."
            yield gate_item("blockers", "KA209", f"controller/{node}", message, remedy)
        elif node in facts.late:
            message = f"Cannot determine whether controller {node} follows (in motion: behind in one sample)"
            yield gate_item("not_known", "KA209", f"controller/{node}", message, "Needed: another audit")


def files_are_read(facts: QuorumFacts, nodes: Iterable[int], what: str, *, whole: bool = False) -> Iterator[HeadedItem]:
    """Yield nodes whose settings are unknown; `whole`: what a broker reports does not show what is asked, only its file does."""
    for node in nodes:
        if not (facts.has_file(node) if whole else facts.is_read(node)):
            kind = "broker" if node in facts.brokers else "controller"
            message = f"Cannot determine {what} of {kind} {node}: its file was not read"
            yield gate_item("not_known", "KA213", f"{kind}/{node}", message, FILE_NEEDS.format(node=node))


def size_is_safe(size: int) -> Iterator[HeadedItem]:
    """Yield a warning about a quorum that will have too few voters, or an even number."""
    if size <= 2 or size % 2 == 0:  # noqa: PLR2004 -- as KA217
        message = f"The quorum will have {counted(size, 'voter')}"
        remedy = "Three voters, or five, tolerate a failure and elect by majority: `kafka-audit explain KA217`."
        yield gate_item("warnings", "KA217", "cluster", message, remedy)
