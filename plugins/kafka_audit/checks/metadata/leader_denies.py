"""KA104."""

from collections.abc import Iterator

from kafka_audit.checks import row_check
from kafka_audit.checks.broker_reads import LIST_OFFSETS, BrokerReads, named
from kafka_audit.checks.rows import MOVING, judge, looks
from kafka_audit.model.finding import Judgement, Severity, Status
from kafka_audit.model.tables import LeadershipAnswer, LeadershipAsked, Snapshot

_DENIALS = {3: "UNKNOWN_TOPIC_OR_PARTITION", 6: "NOT_LEADER_OR_FOLLOWER", 74: "FENCED_LEADER_EPOCH", 75: "UNKNOWN_LEADER_EPOCH"}


@row_check(
    code="KA104",
    severity=Severity.CRITICAL,
    needs=(LeadershipAsked, LeadershipAnswer),
    says={
        Status.FAIL: "Broker {broker} denies that it leads {count} partitions that it is registered to lead ({partitions}): "
        "asked by ListOffsets, it answers {errors}",
        Status.PASS: "Broker {broker} serves all {led} partitions that it is said to lead",
        Status.UNKNOWN: "Not known: whether {who} serves what it is said to lead ({error})",
        Status.NOT_APPLICABLE: "Broker {broker} was asked about no partition: {reason}",
    },
)
def leader_denies(snapshot: Snapshot) -> Iterator[Judgement]:
    """The leader of a partition denies that it leads it.

    ## Why it matters
    Everybody is sent to a broker that refuses: nobody can write to the partition or read from it, and no list of offline
    partitions shows it, since there is a leader.

    ## Fails when
    The broker that ZooKeeper (in KRaft: the newest leader epoch that any broker holds) has as leader answers ListOffsets with
    error 3, 6, 74 or 75, in two looks, and the epoch was the same in both; it is asked with that epoch where the version has a
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
    reads, (now, before) = BrokerReads(snapshot, LIST_OFFSETS), looks(snapshot)
    yield from reads.nobody(snapshot, "KA104")
    asked = {row.broker_id: row for row in snapshot.of(LeadershipAsked) if row.sample == now}
    denied = [row for row in snapshot.of(LeadershipAnswer) if row.asked_as == "leader" and row.error in _DENIALS]
    earlier = {(row.broker_id, row.topic, row.partition, row.leader_epoch) for row in denied if row.sample == before}
    for broker in reads.brokers:
        evidence, resource = {"broker": str(broker), "who": f"broker {broker}"}, f"broker/{broker}"
        mine = [row for row in denied if row.sample == now and row.broker_id == broker]
        twice = {(r.topic, r.partition): r.error for r in mine if (broker, r.topic, r.partition, r.leader_epoch) in earlier}
        if twice:
            errors = ", ".join(f"{code} {_DENIALS[code]}" for code in sorted(set(twice.values())))
            words = evidence | {"count": str(len(twice)), "partitions": named(twice), "errors": errors}
            yield judge(snapshot, "KA104", resource, Status.FAIL, **words)
        elif mine:
            yield judge(snapshot, "KA104", resource, Status.UNKNOWN, **evidence, **MOVING)
        elif broker in asked:
            yield judge(snapshot, "KA104", resource, Status.PASS, **evidence, led=str(asked[broker].as_leader))
        else:
            gap, reason = reads.gap(broker), {"reason": "it leads nothing, and nobody lists a replica of it as offline"}
            status = Status.UNKNOWN if gap else Status.NOT_APPLICABLE
            yield judge(snapshot, "KA104", resource, status, **evidence, **(gap or reason))
