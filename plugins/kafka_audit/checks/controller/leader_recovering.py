"""KA207."""

from collections.abc import Iterator

from kafka_audit.checks import check
from kafka_audit.cluster.view import ClusterView
from kafka_audit.differences.tables import StateFault
from kafka_audit.model.finding import Judgement, Severity, Status


@check(
    code="KA207",
    severity=Severity.HIGH,
    parts=("controller", "topics"),
    says={
        Status.FAIL: "Unclean elections lost records; leaders that have not recovered: {count} ({partitions})",
        Status.PASS: "No leader of {total} partitions is recovering from an unclean election",
        Status.UNKNOWN: "Cannot determine whether leaders recover from unclean elections ({error})",
        Status.NOT_APPLICABLE: "Only ZooKeeper reports the recovery of leaders: {reason}",
    },
)
def leader_recovering(view: ClusterView) -> Iterator[Judgement]:
    """A leader from an unclean election has not recovered.

    ## Why it matters
    The controller elected a replica that was not in sync. Records that only the in-sync replicas had are lost. Consumers may
    see the same offsets again with other records. Until the leader reports that it has recovered, no other leader is elected
    cleanly.

    ## Fails when
    `leader_recovery_state` in a partition's `state` is RECOVERING in two samples, unchanged in between. Kafka 3.2 and later
    write it.

    ## Not known when
    Topics were not read, or one sample only shows it: a leader recovers within seconds. In KRaft no broker API reports it.

    ## Passes only when
    No state is RECOVERING. Before Kafka 3.2 no state contains this field, and the check passes.

    ## What to do
    Find out when and why the election happened: `grep -i unclean controller.log state-change.log`, and what set
    `unclean.leader.election.enable` (KA704). Compare what consumers of {partitions} have processed with the records that exist
    now. A returning replica truncates its log to the new leader's log. If the records matter, copy the log directory of the
    former leader before it starts.

    ## References
    KIP-704 (the controller instructs a leader to recover).
    """
    total = view.partitions.count.partitions
    fault = next((row for row in view.differences.of(StateFault) if row.kind == "recovering"), None)
    if fault is None:
        yield view.judge("KA207", "cluster", Status.PASS, total=total)
    elif fault.repeated:
        yield view.judge("KA207", "cluster", Status.FAIL, count=fault.repeated, total=total, partitions=fault.first)
    else:
        error = f"{fault.partitions} partitions in one sample"
        yield view.judge("KA207", "cluster", Status.UNKNOWN, total=total, error=error, needs="another audit")
