from kafka_audit.checks import ClusterView, Judgements, Severity, Status, gate_check
from kafka_audit.model.tables import ZookeeperNode
from kafka_audit.model.text import counted, listing

_PATH = "/consumers"


@gate_check(code="KA907", severity=Severity.MEDIUM, mode="zookeeper")
def consumers_in_zookeeper(view: ClusterView) -> Judgements:
    """Consumer groups of the old client store their offsets in ZooKeeper."""
    nodes = {row.path: row.children for row in view.newest(ZookeeperNode)}
    if _PATH not in nodes:
        yield view.unknown("cluster", f"{_PATH} was not read", f"read on {_PATH} in ZooKeeper")
        return
    names = [path.removeprefix(f"{_PATH}/") for path in nodes if path.startswith(f"{_PATH}/")]
    reported = {"count": counted(nodes[_PATH], "consumer group"), "names": listing(names, 5), "groups": tuple(names) or None}
    yield view.judge("cluster", Status.FAIL if nodes[_PATH] else Status.PASS, reported)
