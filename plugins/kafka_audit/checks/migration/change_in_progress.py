from kafka_audit.checks import ClusterView, Judgements, Severity, Status, gate_check
from kafka_audit.checks.migration.common import already_migrated
from kafka_audit.differences.tables import DeletedTopic
from kafka_audit.model.tables import Reassignment, Registry
from kafka_audit.model.text import counted

_DELETES = "zookeeper /admin/delete_topics"


@gate_check(code="KA906", severity=Severity.MEDIUM)
def change_in_progress(view: ClusterView) -> Judgements:
    """A reassignment or a topic deletion is in progress."""
    if none := tuple(already_migrated(view)):
        yield from none
        return
    moving = sorted({(row.topic, row.partition) for row in view.newest(Reassignment)})
    deleting = view.differences.of(DeletedTopic)
    places = {
        "reassignment": [f"topic/{topic}/partition/{partition}" for topic, partition in moving],
        "deletion": [f"topic/{row.topic}" for row in deleting],
    }
    counts = {"reassignment": len(moving), "deletion": max(view.partitions.count.deleting, len(deleting))}
    gap = _gap(view)
    for change, resources in places.items():
        evidence = {"what": change, "count": counted(counts[change], "resource"), "first": min(resources, default="none")}
        if resources:
            yield view.judge(f"change/{change}", Status.FAIL, evidence)
        elif gap:
            yield view.judge(f"change/{change}", Status.UNKNOWN, evidence | gap)
        else:
            yield view.judge(f"change/{change}", Status.PASS, evidence)


def _gap(view: ClusterView) -> dict[str, str]:
    if not view.of(Registry):
        return {"error": "ZooKeeper was not read", "needs": "a ZooKeeper that answers"}
    wanted = ("zookeeper /brokers/topics", _DELETES, "zookeeper /admin/reassign_partitions")
    for read in view.last_reads:
        if read.outcome == "failed" and read.operation.startswith(wanted):
            return {"error": f"{read.operation}: {read.error}", "needs": read.needs or "read on that znode"}
    return {}
