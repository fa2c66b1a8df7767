"""KA202."""

from collections.abc import Iterator

from kafka_audit.checks import check
from kafka_audit.checks.controller.named_controller import among_observers, beside_zookeeper
from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.finding import Judgement, Severity, Status
from kafka_audit.model.tables import BrokerView, QuorumView, RegisteredBroker, Registry


@check(
    code="KA202",
    severity=Severity.HIGH,
    needs=(Registry, RegisteredBroker, BrokerView, QuorumView),
    says={
        Status.FAIL: "{subject} reports the wrong controller: {said} instead of {right}",
        Status.PASS: "{subject} reports {right}",
        Status.UNKNOWN: "Cannot determine whether {who} reports the correct controller ({error})",
        Status.NOT_APPLICABLE: "No controller to compare with: {reason}",
    },
)
def controller_disagreement(view: ClusterView) -> Iterator[Judgement]:
    """A broker reports a different controller than ZooKeeper, or none; in KRaft, observers report different quorum leaders.

    ## Why it matters
    Admin requests through this broker (create topics, alter partitions) go to a broker that rejects them with NOT_CONTROLLER.
    `-1` means that no controller ever sent metadata to this broker. A KRaft controller that follows an old leader does not
    apply the decisions of the new leader.

    ## Fails when
    The controller in the broker's Metadata response differs from `/controller` in two samples, and `/controller` did not change
    in between. In KRaft: a broker or controller reports a different quorum leader than the response with the highest epoch, in
    two samples, and that leader did not change. In KRaft the controller in Metadata is a random broker and is not compared.

    ## Not known when
    The broker returned no view, or ZooKeeper was not read (KRaft: no observer reported a leader), or the difference was seen
    once or changed (a failover).

    ## Passes only when
    The broker answered and reports ZooKeeper's controller; in KRaft, the leader with the highest epoch.

    ## What to do
    A broker that reports -1 has an empty view: see KA105 and its cause. A broker that reports an earlier controller misses
    updates: run `grep 'Latest known controller epoch' state-change.log` on its host. If two brokers act as controller, compare
    `/controller_epoch` with `controller.log` of both, and restart the broker with the lower epoch. In KRaft, check the
    connection between {who} and the other controllers: run `grep -iE 'leader|epoch|fetch' server.log | tail` on its host.

    ## References
    Metadata v1 and later; `kafka.controller.KafkaController`. DescribeQuorum (API 55), KIP-595.
    """
    yield from among_observers(view) if view.kraft else beside_zookeeper(view)
