"""KA715."""

from collections.abc import Iterator

from kafka_audit.checks import check
from kafka_audit.checks.gaps import no_files
from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.finding import Judgement, Severity, Status
from kafka_audit.model.read_failure import ReadFailure

_OF_FILE = "properties"


@check(
    code="KA715",
    severity=Severity.HIGH,
    by_files=True,
    says={
        Status.FAIL: "Two files have the id of node {node}: {files}",
        Status.PASS: "One file has the id of node {node}",
        Status.UNKNOWN: "Cannot determine whether each node has an id of its own ({error})",
    },
)
def node_id_twice(view: ClusterView) -> Iterator[Judgement]:
    """Two files of one cluster have the same node id.

    ## Why it matters
    The second node with the id does not start while the first one runs: ZooKeeper or the controller refuses its registration. If
    the first one stops, the second takes over its partitions without their data. Two controllers with one id spoil votes.

    ## Fails when
    Two files that were read have the same `node.id` or `broker.id`. `lint` reports it if the files are of two nodes of one
    cluster: they share an address of ZooKeeper or of a controller that is not a loopback address, and advertise different hosts,
    or, on one host, have other log directories and ports. MEDIUM in an audit, where two paths of the cluster file may lead to
    copies of one file.

    ## Not known when
    No server.properties was read.

    ## Passes only when
    One file has the id. The check does not compare folders that have the same ids: they are taken for separate clusters.

    ## What to do
    Decide which node has the id {node}. Give the other one an id that no node has, and no node had: its log directories must be
    empty, or `meta.properties` in them has the new id. Do not change the id of a node that has data.

    ## References
    Kafka documentation, `node.id`; `org.apache.kafka.controller.ClusterControlManager.registerBroker`;
    `kafka.zk.KafkaZkClient.registerBroker`.
    """
    settings = view.settings
    twice = {
        int(read.observer.partition(":")[2]): read
        for read in view.last_reads
        if read.operation.split()[0] == _OF_FILE and read.failure is ReadFailure.TWO_FILES
    }
    for node in sorted({*settings.every_file, *twice}):
        resource = settings.resource(node)
        read, key = twice.get(node), settings.first_set(node, "node.id", "broker.id")
        if read is None:
            yield view.judge("KA715", resource, Status.PASS, node=node)
            continue
        severity = Severity.MEDIUM if read.operation == _OF_FILE else None
        yield view.judge("KA715", resource, Status.FAIL, node=node, files=read.message or "", key=key, severity=severity)
    if not settings.every_file and not twice:
        yield from no_files(view, "KA715")
