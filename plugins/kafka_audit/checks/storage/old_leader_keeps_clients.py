"""KA506."""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from kafka_audit.checks import check
from kafka_audit.checks.gaps import nothing_asked
from kafka_audit.cluster.answers.broker_reads import LIST_OFFSETS, BrokerReads
from kafka_audit.cluster.view import ClusterView
from kafka_audit.differences.tables import LISTED, FormerLeaderState
from kafka_audit.model.finding import Confidence, Judgement, Severity, Status


@check(
    code="KA506",
    severity=Severity.HIGH,
    says={
        Status.FAIL: "Broker {broker} returns error 56 KAFKA_STORAGE_ERROR for partitions that it led: {partitions} ({count} in "
        "total), {since}; now led by {now}; clients that do not refresh metadata on error 56 may still write to it",
        Status.PASS: "Broker {broker} returns error 56 for no partition that it led",
        Status.UNKNOWN: "Cannot determine whether {who} still receives requests of clients for partitions that it led ({error})",
        Status.NOT_APPLICABLE: "Broker {broker} has no partition to check: {reason}",
    },
)
def old_leader_keeps_clients(view: ClusterView) -> Iterator[Judgement]:
    """A broker that led partitions returns a storage error for them, and some clients do not refresh their metadata.

    ## Why it matters
    A broker with a failed disk returns 56 KAFKA_STORAGE_ERROR, not 6 NOT_LEADER_OR_FOLLOWER. sarama before 1.43.3, and
    Filebeat up to 8.16.1 which uses it, do not refresh their metadata on error 56. The same applies to aiokafka before 0.13
    and librdkafka before 1.5.2. Such a producer fails on the moved partitions until it restarts, while the cluster has a
    leader for each of them. Java clients and kafka-python refresh.

    ## Fails when
    The broker answers ListOffsets with error 56 for a partition that it does not lead and that it led in the previous snapshot;
    or, inferred, for a partition whose preferred leader it is. Error 56 from a follower does not affect clients (KA503).

    ## Not known when
    ListOffsets was not answered; it requires Describe on the topics.

    ## Passes only when
    The broker was read for all partitions that it leads, that prefer it as leader, or whose replica on it is listed as offline.

    ## What to do
    Restart the clients that still fail, or broker {broker}: either makes them refresh their metadata. Then upgrade: sarama
    1.43.3, Filebeat to a release that contains it. If the traffic that broker {broker} receives rises to the limit of its network
    interface (`sar -n DEV 5`), and no other broker sends more than before, producers retry: it is no replication. Producers are
    named by no API that only reads. To find them: on the host of broker {broker} `ss -tnp state established '( sport = :9092 )'`
    shows who is connected, `kafka.request.logger=DEBUG` in its log4j file names client ids, and so do its `client-id` metrics of
    quotas. From Kafka 2.4 on, the MBean `kafka.server:type=socket-server-metrics,clientSoftwareName=*` of that broker names
    library and version.

    ## References
    KIP-112, KIP-511 (client software); IBM/sarama pull request 2939 (v1.43.3), aio-libs/aiokafka 1115, confluentinc/librdkafka
    3067.
    """
    reads = BrokerReads(view.last_reads, LIST_OFFSETS)
    yield from nothing_asked(view, "KA506", reads)
    held: dict[int, list[FormerLeaderState]] = defaultdict(list)
    for row in view.differences.of(FormerLeaderState):
        if row.preferred or row.leader_before == row.broker_id:
            held[row.broker_id].append(row)
    for broker in reads.brokers:
        resource = f"broker/{broker}"
        if held[broker]:
            led = sum(row.leader_before == broker for row in held[broker])
            confidence = Confidence.MEASURED if led else Confidence.INFERRED
            evidence = _evidence(sorted(held[broker], key=lambda row: (row.topic, row.partition)), led)
            yield view.judge("KA506", resource, Status.FAIL, evidence, confidence=confidence, broker=broker)
        elif gap := reads.gap(broker):
            yield view.judge("KA506", resource, Status.UNKNOWN, gap, broker=broker, who=f"broker {broker}")
        elif reads.answered(broker):
            yield view.judge("KA506", resource, Status.PASS, broker=broker)
        else:
            reason = "it leads no partition, and no view lists a replica of it as offline"
            yield view.judge("KA506", resource, Status.NOT_APPLICABLE, broker=broker, reason=reason)


def _evidence(rows: Sequence[FormerLeaderState], led: int) -> dict[str, object]:
    now = sorted({-1 if row.leader is None else row.leader for row in rows})
    return {
        "count": len(rows),
        "led": led,
        "since": f"{'all' if led == len(rows) else led} of them in the previous snapshot" if led else "as their preferred leader",
        "partitions": tuple(f"{row.topic}-{row.partition}" for row in rows[:LISTED]),
        "leaders": tuple(leader for leader in now if leader >= 0) or None,
        "now": ", ".join("no broker" if leader < 0 else f"broker {leader}" for leader in now),
    }
