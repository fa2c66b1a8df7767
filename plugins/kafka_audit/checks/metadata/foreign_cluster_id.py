"""KA110."""

from collections.abc import Iterator

from kafka_audit.checks import check
from kafka_audit.checks.metadata.view_differences import judgement
from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.finding import Judgement, Severity, Status
from kafka_audit.model.tables import BrokerView, RegisteredBroker, Registry


@check(
    code="KA110",
    severity=Severity.CRITICAL,
    needs=(Registry, RegisteredBroker, BrokerView),
    parts=("controller",),
    says={
        Status.FAIL: "Broker {broker} belongs to another cluster; it reports cluster id {said}, the audited cluster is "
        "{zookeeper}",
        Status.PASS: "Broker {broker} reports the audited cluster's id ({zookeeper})",
        Status.UNKNOWN: "Cannot determine whether {who} belongs to this cluster ({error})",
        Status.NOT_APPLICABLE: "No cluster id to compare with: {reason}",
    },
)
def foreign_cluster_id(view: ClusterView) -> Iterator[Judgement]:
    """A broker belongs to a cluster other than the audited one.

    ## Why it matters
    Clients write records to the wrong cluster and read from it. The address was given to another host, a port forward leads
    elsewhere, or the broker was started with another `zookeeper.connect` or a wrong chroot.

    ## Fails when
    The cluster id in the broker's Metadata response differs from `/cluster/id`, or from `expect.cluster_id` in the cluster
    file, in two samples. The rest of that broker's view is not compared with this cluster.

    ## Not known when
    The broker returned no view or no cluster id, ZooKeeper was not read, or the difference was seen once.

    ## Passes only when
    The broker answered with the id of `/cluster/id`, and with `expect.cluster_id` if the cluster file sets it.

    ## What to do
    Read the cluster id at that address: `kafka-cluster.sh cluster-id --bootstrap-server <its address>` (Kafka 2.8 and later),
    or `cat <log.dirs>/meta.properties` on the host. Correct the port forward, the host name or `zookeeper.connect`. If all
    brokers differ from `expect.cluster_id`, the expectation or the ZooKeeper address is wrong.

    ## References
    KIP-78 (cluster id); `InconsistentClusterIdException` when a broker starts with a `meta.properties` of another cluster.
    """
    held = None if view.state is None else view.state.kafka_cluster_id
    expected = None if view.info is None else view.info.expect_cluster_id
    right = expected if held is None else held
    for observer in view.observers:
        difference = view.disagreement(observer.name, "cluster")
        error, needs = None, None
        if not observer.answered and not observer.foreign:
            error, needs = observer.error, observer.needs
        elif right is None:
            error, needs = "there is no /cluster/id", "expect.cluster_id in the cluster file"
        yield judgement(
            view,
            "KA110",
            observer,
            difference,
            error=error,
            needs=needs,
            zookeeper=right if difference is None else difference.reference,
            said=(difference and difference.view) or observer.kafka_cluster_id,
        )
