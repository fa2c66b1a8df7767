from kafka_audit.checks import ClusterView, Confidence, Judgements, Severity, Status, check
from kafka_audit.model.tables import Migration

_ENABLE = "zookeeper.metadata.migration.enable"


@check(code="KA917", severity=Severity.MEDIUM)
def migration_left_behind(view: ClusterView) -> Judgements:
    """ZooKeeper keeps the state of a migration to KRaft that was rolled back."""
    row = next(iter(view.newest(Migration)), None)
    reads = [read for read in view.last_reads if read.operation == "zookeeper /migration"]
    failed = [read for read in view.last_reads if read.operation in {"zookeeper /migration", "zookeeper /controller"}]
    failed = [read for read in failed if read.outcome == "failed"]
    if view.kraft and not reads:
        yield view.not_applicable("cluster", "the cluster has no ZooKeeper, or no longer reads it")
        return
    if row is None and failed:
        yield view.unknown("cluster", f"{failed[0].operation}: {failed[0].error}", failed[0].needs or "a ZooKeeper that answers")
        return
    begun = row is not None and row.begun and row.kraft_controller_id is None and (row.metadata_offset or 0) >= 0
    if row is None or not begun or view.kraft:
        yield view.judge("cluster", Status.PASS, why="no state of a migration without a controller of its own is there")
        return
    states = {broker: view.settings.running(broker, _ENABLE) for broker in view.brokers}
    taking_part = [broker for broker, found in states.items() if (found.value or "").strip().lower() == "true"]
    unread = [broker for broker, found in states.items() if not found.known]
    evidence = {"offset": row.metadata_offset, "epoch": row.metadata_epoch}
    if taking_part:
        yield view.judge("cluster", Status.PASS, why="brokers take part in the migration")
    elif unread or not states:
        error = f"{_ENABLE} of brokers was not read"
        yield view.unknown("cluster", error, "DescribeConfigs on Cluster, at every broker", evidence)
    else:
        yield view.judge("cluster", Status.FAIL, evidence, confidence=Confidence.INFERRED)
