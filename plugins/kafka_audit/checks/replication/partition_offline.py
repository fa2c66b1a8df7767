"""KA601."""

from collections.abc import Iterator, Mapping

from kafka_audit.checks import check
from kafka_audit.checks.replication.partitions import judge_partitions
from kafka_audit.cluster.coordinators import coordinated_by
from kafka_audit.cluster.view import ClusterView
from kafka_audit.differences.tables import LISTED, ReplicaState
from kafka_audit.model.finding import Judgement, Severity, Status
from kafka_audit.model.tables import EligibleReplicas
from kafka_audit.model.text import brokers, listing


@check(
    code="KA601",
    severity=Severity.CRITICAL,
    parts=("topics",),
    says={
        Status.FAIL: "{partition} has no leader, so {who} cannot {what}{known}: replicas {replicas}, last ISR {isr}{elr}",
        Status.PASS: "All {total} partitions have a leader",
        Status.UNKNOWN: "Cannot determine whether partitions stay without a leader ({error})",
        Status.NOT_APPLICABLE: "Leaders are not compared: {reason}",
    },
)
def partition_offline(view: ClusterView) -> Iterator[Judgement]:
    """A partition has no leader.

    ## Why it matters
    All producers and consumers of the partition fail. With a partition of `__consumer_offsets`, the consumer groups stop whose id
    has its hash, and with one of `__transaction_state` transactional producers in the same way, whatever topics they use. The
    acknowledged records are on the last in-sync replicas, which are all unavailable. The records are safe as long as the disks
    of these brokers are.

    ## Fails when
    ZooKeeper's `state` (KRaft: the newest view) has no leader in two samples, unchanged in between, and no broker was added or
    removed.

    ## Not known when
    Topics were not read, in KRaft no view lists a topic, or the partition was without a leader in one sample (an election is in
    progress).

    ## Passes only when
    Every partition has a leader. Topics in deletion are not checked.

    ## What to do
    Bring back {first}, with its disk: it becomes the leader. Check that broker's `server.log`, its disks (KA501) and its
    registration (KA113).

    Do not start it with an empty disk. It would lead an empty log, and the followers truncate to it: every record of the
    partition is lost. Save its files first, or let another replica lead (below).

    With eligible leader replicas (KIP-966; Kafka 4.0, enabled in new clusters since 4.1), the ISR can be empty while an
    eligible replica has every acknowledged record: `kafka-topics.sh --bootstrap-server BROKER:9092 --describe --topic
    TOPIC` prints `Elr` (here: {eligible}) and `LastKnownElr`. Bring back a broker in `Elr` before any other; one in
    `LastKnownElr` alone may lack records.

    An unclean election loses every record that the new leader does not have. Only if no broker of the ISR or the ELR can ever
    return, and you accept this loss, run `kafka-leader-election.sh --bootstrap-server BROKER:9092 --election-type unclean
    --topic TOPIC --partition PARTITION`.

    To see whether a group or transactional id depends on a partition of `__consumer_offsets` or `__transaction_state`, compute
    the number of its partition with Java: `echo 'System.out.println(Math.abs("ID".hashCode()) % PARTITIONS);' | jshell -s -`.
    No broker lists such groups while the partition has no leader.

    ## References
    KIP-966; Kafka documentation, "Unclean leader election: What if they all die?"; metric `OfflinePartitionsCount`.
    """
    eligible = {(row.topic, row.partition): row for row in view.newest(EligibleReplicas)}

    def more(state: ReplicaState) -> Mapping[str, object]:
        return {**_stopped(view, state), **_first(state, eligible.get((state.topic, state.partition)))}

    yield from judge_partitions(view, "KA601", "leaderless", more=more)


def _stopped(view: ClusterView, state: ReplicaState) -> Mapping[str, object]:
    """Return who depends on the partition."""
    held = coordinated_by(view, state.topic, state.partition)
    if held is None:
        return {"who": "clients", "what": "write or read", "known": ""}
    known = {"known": f", among them {listing(held.known, LISTED)}", "ids": held.known} if held.known else {"known": ""}
    who = f"{held.who} hashes to {held.partition} of {held.partitions}"
    return {"who": who, "what": held.what, "partitions": held.partitions, **known}


def _first(state: ReplicaState, row: EligibleReplicas | None) -> Mapping[str, object]:
    """Return which brokers can lead the partition with every acknowledged record."""
    evidence: dict[str, object] = {"elr": "", "eligible": "not reported"}
    if row is not None:
        evidence = {"elr": f", eligible {listing(row.eligible) or 'none'}", "eligible": row.eligible or "none"}
    if state.isr:
        return {**evidence, "first": f"one of the brokers of the last ISR ({listing(state.isr)})"}
    if row is not None and row.eligible:
        return {**evidence, "first": f"{brokers(row.eligible)}, eligible to lead with every acknowledged record (`Elr`)"}
    if row is not None and row.last_known:
        return {
            **evidence,
            "first": f"{brokers(row.last_known)}, the last known to be eligible (`LastKnownElr`), which may lack records",
        }
    return {**evidence, "first": f"all of its replicas ({listing(state.replicas)}), because no broker is in the last ISR"}
