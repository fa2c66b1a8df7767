"""KA205."""

from collections.abc import Iterator

from kafka_audit.checks import check
from kafka_audit.checks.controller.since_previous import partition_resource
from kafka_audit.cluster.view import ClusterView
from kafka_audit.differences.tables import LISTED, StateFault
from kafka_audit.model.finding import Judgement, Severity, Status
from kafka_audit.model.tables import Migration


@check(
    code="KA205",
    severity=Severity.CRITICAL,
    parts=("controller", "topics"),
    says={
        Status.FAIL: "Brokers will reject the controller; the state of {partitions} has controller epoch {written}, above "
        "{epoch} in /controller_epoch",
        Status.PASS: "No state of {total} partitions is ahead of /controller_epoch ({epoch})",
        Status.UNKNOWN: "Cannot determine whether partition states are ahead of /controller_epoch ({error})",
        Status.NOT_APPLICABLE: "No /controller_epoch to compare with: {reason}",
    },
)
def state_ahead_of_controller(view: ClusterView) -> Iterator[Judgement]:
    """A partition's state has a later controller epoch than /controller_epoch.

    ## Why it matters
    `/controller_epoch` fell: ZooKeeper was partly restored, or a client deleted the znode. Brokers have seen the higher epoch
    and answer the current controller with STALE_CONTROLLER_EPOCH. No broker applies its decisions.

    ## Fails when
    The controller epoch in a partition's state is above `/controller_epoch`, and the state was written before
    `/controller_epoch` was read: it is there in two samples, or its mzxid shows it. More than ten partitions are reported as
    one finding of the cluster.

    ## Not known when
    ZooKeeper was not read, `/controller_epoch` is absent, or the state was written during the sample.

    ## Passes only when
    Every state was read, and no state is above `/controller_epoch`. The check does not apply while `/migration` exists and a
    KRaft controller holds `/controller`: it writes states with its own epoch, and `/controller_epoch` remains the old one.

    ## What to do
    Follow the steps of KA204: stop all changes, find out which client wrote to ZooKeeper, and check what else was rolled back.
    Then move the controller until `/controller_epoch` is above {written}, and above the value before it fell if KA204 names it:
    each restart of the broker that is the controller raises it by one. The rejections stop at that point. Do not delete a znode
    by hand: during a migration to KRaft (KA909), deleting `/controller` is a step back to ZooKeeper.

    ## References
    Error 11 STALE_CONTROLLER_EPOCH; `org.apache.kafka.common.errors.ControllerMovedException`.
    """
    migrating = next((row for row in view.newest(Migration) if row.begun and row.kraft_controller_id is not None), None)
    if migrating is not None:
        reason = f"KRaft controller {migrating.kraft_controller_id} migrates the cluster and writes states with its own epoch"
        yield view.judge("KA205", "cluster", Status.NOT_APPLICABLE, reason=reason)
        return
    epoch = None if view.state is None else view.state.controller_epoch
    total = view.partitions.count.partitions
    fault = next((row for row in view.differences.of(StateFault) if row.kind == "ahead"), None)
    written = fault and fault.controller_epoch
    if epoch is None:
        error = "/controller_epoch is absent"
        yield view.judge("KA205", "cluster", Status.UNKNOWN, total=total, error=error, needs="another audit")
    elif fault is None:
        yield view.judge("KA205", "cluster", Status.PASS, epoch=epoch, total=total)
    elif not fault.repeated:
        moving = {"error": "in motion", "needs": "another audit"}
        yield view.judge("KA205", "cluster", Status.UNKNOWN, moving, written=written, epoch=epoch, total=total)
    elif fault.repeated > LISTED:
        many = f"{fault.repeated} partitions"
        yield view.judge("KA205", "cluster", Status.FAIL, partitions=many, written=written, epoch=epoch, total=total)
    else:
        for partition, own in zip(fault.first, fault.epochs, strict=True):
            resource = partition_resource(partition)
            yield view.judge("KA205", resource, Status.FAIL, partitions=partition, written=own, epoch=epoch, total=total)
