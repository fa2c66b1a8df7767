"""KA202."""

from collections.abc import Iterator

from kafka_audit.checks import check
from kafka_audit.checks.controller.named_controller import among_observers, beside_zookeeper
from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.finding import Judgement, Severity, Status
from kafka_audit.model.tables import BrokerView, QuorumView, Registry


@check(
    code="KA202",
    severity=Severity.HIGH,
    needs=(Registry, BrokerView, QuorumView),
    says={
        Status.FAIL: "{subject} names another controller than it is: it says {said}; right is {right}",
        Status.PASS: "{subject} names the right {right}",
        Status.UNKNOWN: "Not known: whether {who} names the right controller ({error})",
        Status.NOT_APPLICABLE: "No controller to compare with: {reason}",
    },
)
def controller_disagreement(view: ClusterView) -> Iterator[Judgement]:
    """A broker names another controller than ZooKeeper holds, or none; in KRaft, observers name different leaders of the quorum.

    ## Why it matters
    Admin requests through this broker (create topic, alter partition) go to a broker that refuses them with NOT_CONTROLLER. `-1`
    means that no controller ever reached this broker. A KRaft controller that follows an old leader applies nothing that the new
    one decides.

    ## Fails when
    The controller in a broker's answer to Metadata differs from `/controller` in two looks, with `/controller` unchanged in
    between. In KRaft: a broker or controller that was asked for the quorum names another leader than the answer of the highest
    epoch, in two looks with that leader unchanged; what Metadata calls the controller there is a random broker and is not
    compared.

    ## Not known when
    The broker gave no view, ZooKeeper was not read (KRaft: nobody told of a leader), or the difference was seen once or moved (a
    failover).

    ## Passes only when
    The broker answered and names ZooKeeper's controller; in KRaft, the leader of the highest epoch.

    ## What to do
    A broker that says -1 has an empty view: see KA105 and the cause under it. One that names an earlier controller misses
    updates: `grep 'Latest known controller epoch' state-change.log` there. Two brokers that both act as controller: compare
    `/controller_epoch` with `controller.log` of both, and restart the one with the lower epoch. In KRaft look at the way between
    {who} and the other controllers: `grep -iE 'leader|epoch|fetch' server.log | tail` there.

    ## References
    Metadata v1 and later; `kafka.controller.KafkaController`. DescribeQuorum (API 55), KIP-595.
    """
    yield from among_observers(view) if view.kraft else beside_zookeeper(view)
