"""KA611."""

from collections.abc import Iterator

from kafka_audit.checks import check
from kafka_audit.checks.replication.partitions import judge_partitions
from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.finding import Judgement, Severity, Status

_SEVERAL = 2


@check(
    code="KA611",
    severity=Severity.HIGH,
    parts=("brokers", "topics"),
    says={
        Status.FAIL: "All replicas of {partition} ({replicas}) are on rack {rack}",
        Status.PASS: "None of {total} partitions with several replicas has all of them on one known rack",
        Status.UNKNOWN: "Cannot determine whether partitions have all replicas on one rack ({error})",
        Status.NOT_APPLICABLE: "Racks are not compared: {reason}",
    },
)
def one_rack(view: ClusterView) -> Iterator[Judgement]:
    """All replicas of a partition are on one rack.

    ## Why it matters
    `broker.rack` is set so that the cluster tolerates the failure of a rack or zone. If this rack fails, the partition is
    offline with all its replicas, and its data may be lost.

    ## Fails when
    The brokers have at least two racks, the partition has two or more replicas, and all of them are on brokers of the same
    rack. Kafka uses racks only when it assigns replicas itself. Manual plans, and topics older than the rack settings, can
    violate it.

    ## Not known when
    Registrations or topics were not read. The check does not apply if the brokers have fewer than two racks. A partition with a
    replica on a broker without a rack, or on an unregistered broker, does not fail.

    ## Passes only when
    No partition has all its replicas on one known rack.

    ## What to do
    Move one replica of each partition to a rack other than {rack}. Create a rack-aware plan with `kafka-reassign-partitions.sh
    --bootstrap-server BROKER:9092 --topics-to-move-json-file topics.json --broker-list BROKER_IDS --generate`. The plan moves
    every partition of the listed topics: leave only those in it that need it. Execute it with `--throttle BYTES_PER_SECOND`,
    then run it with `--verify` and without `--throttle`, which removes the throttle. If topics are kept on one rack on purpose,
    mute them by their name, with a reason: `resource: topic/NAME*` under `mute` in the cluster file.

    ## References
    KIP-36 (rack-aware replica assignment).
    """
    if len({broker.rack for broker in view.brokers.values() if broker.rack is not None}) < _SEVERAL:
        yield view.judge("KA611", "cluster", Status.NOT_APPLICABLE, reason="brokers have fewer than two racks (KA708)")
    else:
        yield from judge_partitions(view, "KA611", "one_rack", momentary=False, more=lambda state: {"rack": state.rack})
