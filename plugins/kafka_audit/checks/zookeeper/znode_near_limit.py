"""KA807."""

from collections.abc import Iterator

from kafka_audit.checks import check
from kafka_audit.checks.gaps import no_ensemble
from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.finding import Judgement, Severity, Status
from kafka_audit.model.tables import ZookeeperNode

JUTE_MAXBUFFER = 0xFFFFF
"""ZooKeeper's default: one byte less than 1 MiB."""

NEAR = JUTE_MAXBUFFER // 2


@check(code="KA807", severity=Severity.MEDIUM)
def znode_near_limit(view: ClusterView) -> Iterator[Judgement]:
    """A znode, or the list of its children, is near ZooKeeper's size limit."""
    yield from no_ensemble(view, ZookeeperNode)
    nodes = view.newest(ZookeeperNode)
    if nodes:
        largest = max(nodes, key=lambda node: (node.bytes, node.path))
        status = Status.FAIL if largest.bytes >= NEAR else Status.PASS
        yield view.judge("cluster", status, path=largest.path, bytes=f"{largest.bytes}", limit=f"{JUTE_MAXBUFFER}")
