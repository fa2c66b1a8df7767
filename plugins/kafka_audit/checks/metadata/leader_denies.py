"""KA104."""

from collections.abc import Iterator

from kafka_audit.checks import check
from kafka_audit.checks.gaps import MOVING, nothing_asked
from kafka_audit.cluster.broker_reads import LIST_OFFSETS, BrokerReads, named
from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.finding import Judgement, Severity, Status
from kafka_audit.model.tables import LeadershipAnswer, LeadershipAsked

_DENIALS = {3: "UNKNOWN_TOPIC_OR_PARTITION", 6: "NOT_LEADER_OR_FOLLOWER", 74: "FENCED_LEADER_EPOCH", 75: "UNKNOWN_LEADER_EPOCH"}


@check(
    code="KA104",
    severity=Severity.CRITICAL,
    needs=(LeadershipAsked, LeadershipAnswer),
    says={
        Status.FAIL: "Broker {broker} denies that it leads {count} partitions that it is registered to lead ({partitions}): "
        "asked by ListOffsets, it answers {errors}",
        Status.PASS: "Broker {broker} serves all {led} partitions that it is said to lead",
        Status.UNKNOWN: "Cannot determine whether {who} serves what it is said to lead ({error})",
        Status.NOT_APPLICABLE: "Broker {broker} was asked about no partition: {reason}",
    },
)
def leader_denies(view: ClusterView) -> Iterator[Judgement]:
    """The leader of a partition denies that it leads it.

    ## Why it matters
    Everybody is sent to a broker that refuses: nobody can write to the partition or read from it, and no list of offline
    partitions shows it, since there is a leader.

    ## Fails when
    The broker that ZooKeeper (in KRaft: the newest leader epoch that any broker holds) has as leader answers ListOffsets with
    error 3, 6, 74 or 75, in two samples, and the epoch was the same in both; it is asked with that epoch where the version has a
    place for it. Error 56 is KA503: that broker knows that it led.

    ## Not known when
    ListOffsets was not answered (it needs Describe on the topics), or the answer was seen once or the leader moved.

    ## Passes only when
    The broker was asked about all that it is said to lead, and denied none of it.

    ## What to do
    The controller's LeaderAndIsr requests do not get there, or are refused: `grep -E 'LeaderAndIsr|CLUSTER_AUTHORIZATION_FAILED'
    state-change.log` on the controller's host (KA302, KA401 and KA412 tell which). With that repaired, restart broker {broker},
    or elect anew: `kafka-leader-election.sh --bootstrap-server <broker>:9092 --election-type preferred --topic T --partition P`.

    ## References
    KIP-320 (epochs of leaders); `kafka.cluster.Partition.checkCurrentLeaderEpoch`.
    """
    reads = BrokerReads(view.last_reads, LIST_OFFSETS)
    yield from nothing_asked(view, "KA104", reads)
    asked = {row.broker_id: row for row in view.newest(LeadershipAsked)}
    denied = [row for row in view.newest(LeadershipAnswer) if _denies(row)]
    earlier = {_claim(row) for row in view.before(LeadershipAnswer) if _denies(row)}
    for broker in reads.brokers:
        evidence, resource = {"broker": broker, "who": f"broker {broker}"}, f"broker/{broker}"
        mine = [row for row in denied if row.broker_id == broker]
        twice = {(row.topic, row.partition): row.error for row in mine if _claim(row) in earlier}
        if twice:
            errors = ", ".join(f"{code} {_DENIALS[code]}" for code in sorted(set(twice.values())))
            words = evidence | {"count": len(twice), "partitions": named(twice), "errors": errors}
            yield view.judge("KA104", resource, Status.FAIL, words)
        elif mine:
            yield view.judge("KA104", resource, Status.UNKNOWN, evidence | MOVING)
        elif broker in asked:
            yield view.judge("KA104", resource, Status.PASS, evidence, led=asked[broker].as_leader)
        else:
            gap, reason = reads.gap(broker), {"reason": "it leads nothing, and nobody lists a replica of it as offline"}
            status = Status.UNKNOWN if gap else Status.NOT_APPLICABLE
            yield view.judge("KA104", resource, status, {**evidence, **(gap or reason)})


def _denies(row: LeadershipAnswer) -> bool:
    return row.asked_as == "leader" and row.error in _DENIALS


def _claim(row: LeadershipAnswer) -> tuple[int, str, int, int | None]:
    """Return what has to be the same in both samples."""
    return (row.broker_id, row.topic, row.partition, row.leader_epoch)
