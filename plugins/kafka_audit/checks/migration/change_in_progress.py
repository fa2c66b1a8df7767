from kafka_audit.checks import ClusterView, Judgements, Severity, Status, gate_check
from kafka_audit.checks.on_its_way import brokers_on_the_way
from kafka_audit.differences.tables import DeletedTopic
from kafka_audit.model.tables import Reassignment, Registry
from kafka_audit.model.text import counted
from kafka_audit.progress.rows import progress_of
from kafka_audit.progress.words import how_far

_DELETES = "zookeeper /admin/delete_topics"


@gate_check(code="KA906", severity=Severity.MEDIUM, mode="zookeeper")
def change_in_progress(view: ClusterView) -> Judgements:
    """A reassignment or a topic deletion is in progress."""
    moving = sorted({(row.topic, row.partition) for row in view.newest(Reassignment)})
    deleting = view.differences.of(DeletedTopic)
    places = {
        "reassignment": [f"topic/{topic}/partition/{partition}" for topic, partition in moving],
        "deletion": [f"topic/{row.topic}" for row in deleting],
    }
    counts = {"reassignment": len(moving), "deletion": max(view.partitions.count.deleting, len(deleting))}
    gap = _gap(view)
    for change, resources in places.items():
        rows = {row.parties[0]: row for row in progress_of(view).of_kind(change)}
        first = min(resources, default="none")
        evidence: dict[str, object] = {"what": change, "count": counted(counts[change], "resource"), "first": first}
        evidence["far"] = how_far(rows[first]) if first in rows else "how far it is is not known"
        evidence["brokers"] = brokers_on_the_way(rows[first]) if first in rows else None
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
