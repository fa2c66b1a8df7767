from kafka_audit.checks import ClusterView, Judgements, Severity, Status, check
from kafka_audit.checks.controller.since_previous import partition_resource
from kafka_audit.differences.tables import LISTED, StateFault
from kafka_audit.model.tables import Migration


@check(code="KA205", severity=Severity.CRITICAL, parts=("controller", "topics"))
def state_ahead_of_controller(view: ClusterView) -> Judgements:
    """A partition's state has a later controller epoch than /controller_epoch."""
    migrating = next((row for row in view.newest(Migration) if row.begun and row.kraft_controller_id is not None), None)
    if migrating is not None:
        reason = f"KRaft controller {migrating.kraft_controller_id} migrates the cluster and writes states with its own epoch"
        yield view.not_applicable("cluster", reason)
        return
    epoch = None if view.state is None else view.state.controller_epoch
    total = view.partitions.count.partitions
    fault = next((row for row in view.differences.of(StateFault) if row.kind == "ahead"), None)
    written = fault and fault.controller_epoch
    if epoch is None:
        yield view.unknown("cluster", "/controller_epoch is absent", "another audit", total=total)
    elif fault is None:
        yield view.judge("cluster", Status.PASS, epoch=epoch, total=total)
    elif not fault.repeated:
        yield view.unknown("cluster", "in motion", "another audit", written=written, epoch=epoch, total=total)
    elif fault.repeated > LISTED:
        many = f"{fault.repeated} partitions"
        yield view.judge("cluster", Status.FAIL, partitions=many, written=written, epoch=epoch, total=total)
    else:
        for partition, written_epoch in zip(fault.first, fault.epochs, strict=True):
            resource = partition_resource(partition)
            yield view.judge(resource, Status.FAIL, partitions=partition, written=written_epoch, epoch=epoch, total=total)
