from kafka_audit.checks import ClusterView, Judgements, Severity, Status, check
from kafka_audit.checks.gaps import no_ensemble
from kafka_audit.model.tables import ZookeeperNode

JUTE_MAXBUFFER = 0xFFFFF
"""ZooKeeper's default: one byte less than 1 MiB."""

NEAR = JUTE_MAXBUFFER // 2


@check(code="KA807", severity=Severity.MEDIUM)
def znode_near_limit(view: ClusterView) -> Judgements:
    """A znode, or the list of its children, is near ZooKeeper's size limit."""
    yield from no_ensemble(view, ZookeeperNode)
    nodes = view.newest(ZookeeperNode)
    if nodes:
        largest = max(nodes, key=lambda node: (node.bytes, node.path))
        status = Status.FAIL if largest.bytes >= NEAR else Status.PASS
        yield view.judge("cluster", status, path=largest.path, bytes=f"{largest.bytes}", limit=f"{JUTE_MAXBUFFER}")
