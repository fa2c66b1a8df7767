"""What stands against a step: what it would harm, what is not known, and what it costs."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from kafka_audit.cluster.releases import minor_releases
from kafka_audit.cluster.view import ClusterView
from kafka_audit.configuration.starts import nearest_release
from kafka_audit.differences.tables import TopicPlacement
from kafka_audit.model.errors import UsageError
from kafka_audit.model.text import clean

INTERNAL = ("__consumer_offsets", "__transaction_state", "__share_group_state", "__remote_log_metadata", "__cluster_metadata")
_OF_CONNECT, _OF_REGISTRY = "connect-", "_schemas"


class Permit(StrEnum):
    """Whether a step may be taken."""

    GO = "GO"
    NOT_NOW = "NOT_NOW"
    NEVER = "NEVER"
    UNKNOWN = "UNKNOWN"


@dataclass(frozen=True, kw_only=True)
class Objection:
    """One reason. With the permit GO it is a remark: what the step costs.

    Attributes:
        why: a sentence without its full stop.
        waits_for: what has to be so first, for NOT_NOW.
        loses: what is lost.
        read_first: what would decide, for UNKNOWN.
        because: fingerprints of findings that say it.
    """

    permit: Permit
    why: str
    waits_for: str = ""
    loses: str = ""
    read_first: str = ""
    because: tuple[str, ...] = ()


def not_now(why: str, waits_for: str, *because: str) -> Objection:
    """Return that the step does harm or is refused today."""
    return Objection(permit=Permit.NOT_NOW, why=why, waits_for=waits_for, because=because)


def never(why: str, loses: str) -> Objection:
    """Return that the step loses what cannot be restored."""
    return Objection(permit=Permit.NEVER, why=why, loses=loses)


def unknown_whether(why: str, read_first: str, *because: str) -> Objection:
    """Return that it is not known whether the step does harm."""
    return Objection(permit=Permit.UNKNOWN, why=why, read_first=read_first, because=because)


def costs(why: str, loses: str) -> Objection:
    """Return what the step costs where nothing stands against it."""
    return Objection(permit=Permit.GO, why=why, loses=loses)


def unread(view: ClusterView, part: str, what: str) -> Iterator[Objection]:
    """Yield that a part of the registry was not read, if it was not."""
    gap = view.gap(part)
    if gap is not None:
        yield unknown_whether(f"{what}: {gap.error or gap.reason}", gap.needs or "views of two brokers")


def read_failed(view: ClusterView, operation: str, what: str) -> Iterator[Objection]:
    """Yield that a read failed, if each of its kind did."""
    reads = [read for read in view.last_reads if read.operation == operation]
    if reads and all(read.outcome == "failed" for read in reads):
        yield unknown_whether(f"{what}: {reads[0].error}", reads[0].needs or "another audit")


def placements(view: ClusterView, topic: str) -> tuple[TopicPlacement, ...]:
    """Return the partitions of an asked topic, in order; none where it was not found."""
    found = (row for row in view.differences.of(TopicPlacement) if row.topic == topic)
    return tuple(sorted(found, key=lambda row: row.partition))


class NoTopicError(UsageError):
    """A topic that the cluster does not have, where all that it has were read."""

    def __init__(self, topic: str) -> None:
        """Take its name."""
        super().__init__(f"the cluster has no topic {clean(topic)}")
        self.topic = topic


def missing_topic(view: ClusterView, topic: str) -> Iterator[Objection]:
    """Yield why there is no partition of a topic to speak of, nothing where there are some; raises NoTopicError."""
    if placements(view, topic):
        return
    if gap := [*unread(view, "topics", "which topics there are")]:
        yield from gap
    elif view.kraft and any(view.inter_broker.authorizer(broker).state != "unset" for broker in view.brokers):
        yield unknown_whether(
            f"no view lists topic {clean(topic)}, and brokers leave out what the auditor may not describe",
            "Describe on Topic '*'",
        )
    else:
        raise NoTopicError(topic)


def released(view: ClusterView) -> str | None:
    """Return the release of the oldest broker, as `definitions` has it; None where no broker shows its own."""
    known = [found for broker in view.inter_broker.brokers if (found := minor_releases(view, broker)) is not None]
    return nearest_release(".".join(map(str, min(oldest for oldest, _ in known)))) if known else None


def keeper(topic: str) -> str | None:
    """Return what an internal topic keeps, None of any other topic."""
    if topic in INTERNAL:
        kept = {
            "__consumer_offsets": "the committed offsets of every group",
            "__transaction_state": "the state of every transaction",
            "__share_group_state": "the state of every share group",
            "__remote_log_metadata": "where segments in remote storage are",
        }
        return kept.get(topic, "the metadata of the cluster")
    if topic.startswith(_OF_CONNECT):
        return "offsets, settings or states of Kafka Connect"
    return "the schemas of the registry" if topic == _OF_REGISTRY else None
