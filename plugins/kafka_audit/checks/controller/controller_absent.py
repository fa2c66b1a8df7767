"""KA201."""

from collections.abc import Iterator

from kafka_audit.checks import check
from kafka_audit.checks.controller.leadership import by_quorum, by_registry
from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.finding import Judgement, Severity, Status
from kafka_audit.model.tables import BrokerView, Migration, QuorumView, Registry


@check(
    code="KA201",
    severity=Severity.CRITICAL,
    needs=(Registry, QuorumView, BrokerView, Migration),
    says={
        Status.FAIL: "The cluster has no controller: {fault}. No partition leader can be elected",
        Status.PASS: "{controller} is the controller (epoch {epoch})",
        Status.UNKNOWN: "Cannot determine whether the cluster has a controller ({error})",
    },
)
def controller_absent(view: ClusterView) -> Iterator[Judgement]:
    """No broker is the controller; in KRaft mode no controller leads the metadata quorum.

    ## Why it matters
    No leader is elected, and brokers receive no metadata updates. If a broker stops, its partitions stay offline. Topics are
    created in ZooKeeper only or not at all. Brokers that start have empty metadata.

    ## Fails when
    `/controller` is absent in two samples, and the list of brokers did not change in between. A failover takes less time. In
    KRaft: no controller that answered names a leader in two samples, or (inferred) every broker returns its view and none can
    forward DescribeQuorum to a leader.

    ## Not known when
    ZooKeeper or `/controller` could not be read, DescribeQuorum is denied or not offered, or one sample only shows it.

    ## Passes only when
    `/controller` names a broker, or a KRaft controller in a migration. In KRaft, a leader answered.

    ## What to do
    Every live broker tries to become the controller immediately. If `/controller` stays absent, no broker can write it: run
    `grep -E 'Session expired|NoAuth' server.log controller.log` on each broker, then check ZooKeeper's disk and quorum: `echo
    srvr | nc ZOOKEEPER 2181`.

    In KRaft a leader needs a majority of voters that accept each other. Read the log of each controller first: `grep -iE
    'candidate|election|Authoriz|authentication|fault' server.log | tail`. If they reject each other's requests or logins, correct
    that on all of them (KA220); a controller that was rejected ends itself again after every start. Otherwise start the
    controllers that are down, and open port 9093 between them.

    ## References
    Election of the controller: `kafka.controller.KafkaController.elect`. KIP-595 (the quorum), DescribeQuorum (API 55).
    """
    yield by_quorum(view) if view.kraft else by_registry(view)
