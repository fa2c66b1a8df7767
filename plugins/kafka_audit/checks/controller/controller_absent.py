"""KA201."""

from collections.abc import Iterator

from kafka_audit.checks import check
from kafka_audit.checks.controller.leadership import by_quorum, by_registry
from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.finding import Judgement, Severity, Status
from kafka_audit.model.tables import QuorumView, Registry


@check(
    code="KA201",
    severity=Severity.CRITICAL,
    needs=(Registry, QuorumView),
    says={
        Status.FAIL: "The cluster has no controller: {fault}, so no leader is elected",
        Status.PASS: "{controller} is the controller (epoch {epoch})",
        Status.UNKNOWN: "Not known: whether the cluster has a controller ({error})",
    },
)
def controller_absent(view: ClusterView) -> Iterator[Judgement]:
    """No broker is the controller; in KRaft mode no controller leads the metadata quorum.

    ## Why it matters
    Nothing is elected, nothing told: a broker that stops now takes its partitions offline for good, topics are created in
    ZooKeeper only or not at all, and brokers that start stay empty.

    ## Fails when
    `/controller` is absent in two looks, with the list of brokers unchanged in between. A failover takes less. In KRaft: no
    controller that answered names a leader in two looks, or (inferred) every broker gives its view and none can pass
    DescribeQuorum on to a leader.

    ## Not known when
    ZooKeeper or `/controller` could not be read, DescribeQuorum is refused or not offered, or the absence was seen once.

    ## Passes only when
    `/controller` names a broker, or a KRaft controller in a migration; in KRaft a leader answered itself.

    ## What to do
    Every live broker tries to become the controller at once, so one that is absent for long means that none can write:
    `grep -E 'Session expired|NoAuth' server.log controller.log` on each broker, then ZooKeeper's disk and quorum:
    `echo srvr | nc <zookeeper> 2181`. In KRaft a leader needs a majority of the voters: start the controllers that are down,
    and open port 9093 between them (`grep -iE 'candidate|election|unattached' server.log` on each).

    ## References
    How brokers compete for the znode: `kafka.controller.KafkaController.elect`. KIP-595 (the quorum), DescribeQuorum (API 55).
    """
    yield by_quorum(view) if view.kraft else by_registry(view)
