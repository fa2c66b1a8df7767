"""KA611."""

from collections.abc import Iterator

from kafka_audit.checks import check
from kafka_audit.checks.replication.partitions import judge_partitions
from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.finding import Judgement, Severity, Status
from kafka_audit.model.tables import RegisteredBroker, RegisteredPartition, RegisteredTopic

_SEVERAL = 2


@check(
    code="KA611",
    severity=Severity.HIGH,
    needs=(RegisteredBroker, RegisteredTopic, RegisteredPartition),
    parts=("brokers", "topics"),
    says={
        Status.FAIL: "All replicas of {partition} ({replicas}) are on rack {rack}",
        Status.PASS: "None of {total} partitions with several replicas has them all on one known rack",
        Status.UNKNOWN: "Cannot determine whether partitions have all replicas on one rack ({error})",
        Status.NOT_APPLICABLE: "Racks are not compared: {reason}",
    },
)
def one_rack(view: ClusterView) -> Iterator[Judgement]:
    """All replicas of a partition are on one rack.

    ## Why it matters
    `broker.rack` was set so that a rack, or a zone, may fail. If this one does, the partition is offline with all its replicas,
    and what it holds may be lost with them.

    ## Fails when
    The cluster's brokers have two racks at least, and every replica of the partition, of which there are two or more, is on a
    broker of the same one. Kafka looks at racks only when it assigns replicas itself; plans written by hand, and topics older
    than the racks, do not.

    ## Not known when
    Registrations or topics were not read. It does not apply where brokers name fewer than two racks. A replica on a broker
    without rack, or one that is not registered, speaks against it.

    ## Passes only when
    No partition is like that.

    ## What to do
    Move a replica to another rack than {rack}: let
    `kafka-reassign-partitions.sh --bootstrap-server <broker>:9092 --topics-to-move-json-file topics.json --broker-list …
    --generate` make a plan, which knows racks, and execute it with a throttle.

    ## References
    KIP-36 (rack aware replica assignment).
    """
    if len({broker.rack for broker in view.brokers.values() if broker.rack is not None}) < _SEVERAL:
        yield view.judge("KA611", "cluster", Status.NOT_APPLICABLE, reason="brokers name fewer than two racks (KA708)")
    else:
        yield from judge_partitions(view, "KA611", "one_rack", momentary=False, more=lambda state: {"rack": state.rack})
