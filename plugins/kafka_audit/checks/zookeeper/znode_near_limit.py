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


@check(
    code="KA807",
    severity=Severity.MEDIUM,
    says={
        Status.FAIL: "{path} has {bytes} bytes, and ZooKeeper rejects more than {limit} by default",
        Status.PASS: "The largest znode read, {path}, has {bytes} of {limit} bytes",
        Status.UNKNOWN: "Cannot determine how large znodes are ({error})",
        Status.NOT_APPLICABLE: "No znodes: {reason}",
    },
)
def znode_near_limit(view: ClusterView) -> Iterator[Judgement]:
    """A znode, or the list of its children, is near ZooKeeper's size limit.

    ## Why it matters
    Above `jute.maxbuffer` the server or the client closes the connection: a topic with that many partitions can no longer be
    changed, or brokers can no longer list the topics and do not start.

    ## Fails when
    The data of a znode, or the names of its children together, use half of the default of `jute.maxbuffer` (1,048,575 bytes) or
    more. ZooKeeper does not report whether the limit was raised.

    ## Not known when
    No znode was read.

    ## Passes only when
    Topics, registrations and configurations were read, and the largest of them is below that size.

    ## What to do
    For {path}: use fewer partitions per topic, fewer topics or shorter names, and delete unused topics. You can raise
    `jute.maxbuffer` (a system property, the same on every server and every broker, servers first). This only moves the limit,
    and each such read becomes slower.

    ## References
    ZooKeeper Administrator's Guide, `jute.maxbuffer`.
    """
    yield from no_ensemble(view, "KA807", ZookeeperNode)
    nodes = view.newest(ZookeeperNode)
    if nodes:
        largest = max(nodes, key=lambda node: (node.bytes, node.path))
        status = Status.FAIL if largest.bytes >= NEAR else Status.PASS
        yield view.judge("KA807", "cluster", status, path=largest.path, bytes=f"{largest.bytes}", limit=f"{JUTE_MAXBUFFER}")
