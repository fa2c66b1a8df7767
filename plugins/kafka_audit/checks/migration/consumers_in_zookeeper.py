"""KA907."""

from collections.abc import Iterator

from kafka_audit.checks import gate_check
from kafka_audit.checks.migration.common import already_migrated
from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.finding import Judgement, Severity, Status
from kafka_audit.model.tables import ZookeeperNode
from kafka_audit.model.text import counted, listing

_PATH = "/consumers"


@gate_check(
    code="KA907",
    severity=Severity.MEDIUM,
    says={
        Status.FAIL: "{count} of the old client store their offsets in ZooKeeper ({names}) and stop working without it",
        Status.PASS: "No consumer group stores its offsets in ZooKeeper",
        Status.UNKNOWN: "Cannot determine whether consumer groups store their offsets in ZooKeeper ({error})",
        Status.NOT_APPLICABLE: "No migration to prepare: {reason}",
    },
)
def consumers_in_zookeeper(view: ClusterView) -> Iterator[Judgement]:
    """Consumer groups of the old client store their offsets in ZooKeeper.

    ## Why it matters
    Clients older than 0.9, and tools with `--zookeeper`, connect to ZooKeeper directly. They stop when it is shut down, and no
    Kafka API identifies them.

    ## Fails when
    A znode exists under `/consumers`. Groups that ended long ago may have left one: ZooKeeper records no last use.

    ## Not known when
    `/consumers` could not be read; Kafka creates it at its first start.

    ## Passes only when
    It was read, and is empty. The check does not apply in KRaft mode.

    ## What to do
    Find the applications of {names}, and move them to a current client. Before you shut down ZooKeeper, look for scripts with
    `--zookeeper`, and for old versions of Cruise Control, CMAK and Burrow.

    ## References
    KIP-35, KIP-500; Kafka 4.0 documentation, "Notable changes" (tools without `--zookeeper`).
    """
    if none := tuple(already_migrated(view, "KA907")):
        yield from none
        return
    nodes = {row.path: row.children for row in view.newest(ZookeeperNode)}
    if _PATH not in nodes:
        evidence = {"error": f"{_PATH} was not read", "needs": f"read on {_PATH} in ZooKeeper"}
        yield view.judge("KA907", "cluster", Status.UNKNOWN, evidence)
        return
    names = [path.removeprefix(f"{_PATH}/") for path in nodes if path.startswith(f"{_PATH}/")]
    reported = {"count": counted(nodes[_PATH], "consumer group"), "names": listing(names, 5), "groups": tuple(names) or None}
    yield view.judge("KA907", "cluster", Status.FAIL if nodes[_PATH] else Status.PASS, reported)
