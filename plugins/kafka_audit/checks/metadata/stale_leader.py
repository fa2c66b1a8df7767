"""KA101."""

from collections.abc import Iterator

from kafka_audit.checks import check
from kafka_audit.checks.metadata.view_differences import holders, judgement, partition_evidence
from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.finding import Judgement, Severity, Status
from kafka_audit.model.tables import BrokerView, RegisteredPartition, RegisteredTopic, ViewPartition, ViewTopic


@check(
    code="KA101",
    severity=Severity.CRITICAL,
    needs=(RegisteredTopic, RegisteredPartition, BrokerView, ViewTopic, ViewPartition),
    parts=("topics",),
    says={
        Status.FAIL: "Clients of broker {broker} are sent to old leaders: it names another leader than {newest} for {count} of "
        "{total} partitions ({partitions}); for the first, {first}, the broker says {said}",
        Status.PASS: "Broker {broker} names the leader {held} for {listed} of {total} partitions, which is all that it lists",
        Status.UNKNOWN: "Cannot determine whether {who} names old leaders ({error})",
        Status.NOT_APPLICABLE: "Nothing to compare views with: {reason}",
    },
)
def stale_leader(view: ClusterView) -> Iterator[Judgement]:
    """A broker names a leader that ZooKeeper does not hold, or in KRaft one of an older leader epoch than other brokers hold.

    ## Why it matters
    A client that bootstraps at this broker produces to and fetches from a broker that does not lead any more: errors 6
    NOT_LEADER_OR_FOLLOWER without end, or reads that stand still. Whoever asks another broker sees nothing wrong.

    ## Fails when
    The leader in a broker's own answer to Metadata differs from ZooKeeper's state of the partition, in two samples, and neither
    that state nor the controller nor the list of brokers was written in between. Where Metadata gives leader epochs (v7 and
    later) the broker's is not above ZooKeeper's. A lower epoch with the same leader is harmless.

    In KRaft mode: the leader differs from that of the highest leader epoch that any broker holds, the broker's own epoch is
    lower, and the higher one was there in both samples.

    ## Not known when
    The broker gave no view, its view is empty (KA107), ZooKeeper was not read (KRaft: no other broker gave a view), or the
    difference was seen once or moved.

    ## Passes only when
    The broker answered, and for every partition that it lists the leader is ZooKeeper's (KRaft: that of the highest epoch).

    ## What to do
    The controller cannot update this broker. On the controller's host:
    `grep '(id: {broker} rack.*unsuccessful' controller.log` and `grep CLUSTER_AUTHORIZATION_FAILED state-change.log`.
    KA302 (no way there), KA401 (no right) and KA412 (no login) tell these apart. Repair that cause first.

    Until then keep clients off this broker. A restart of the broker that is controller moves the controller, and the new one
    sends everything again; that helps only if the new one can reach this broker. Do not delete `/controller` by hand: during a
    migration to KRaft (KA909) that is a step back to ZooKeeper.

    In KRaft mode the broker fetches no metadata any more: `grep -iE 'controller|registration|fenced' server.log | tail` on broker
    {broker}, and `nc -vz <controller> 9093` from its host.

    ## References
    KIP-320 (leader epochs); `kafka.controller.ControllerChannelManager`.
    """
    newest = holders(view)
    for observer in view.observers:
        difference = view.disagreement(observer.name, "leader")
        right = difference and difference.reference
        yield judgement(
            view,
            "KA101",
            observer,
            difference,
            error=observer.topics_error,
            needs=observer.topics_needs,
            **partition_evidence(view, difference, "newest_epoch"),
            total=observer.partitions,
            listed=observer.listed if observer.answered else None,
            listeners=observer.listeners or None,
            holders=newest,
            newest="ZooKeeper" if newest is None else f"the newest leader epoch, held by {newest},",
            first=right and (f"ZooKeeper has {right}" if newest is None else f"that is {right}"),
            held="that ZooKeeper holds" if newest is None else "of the newest epoch that any broker holds",
        )
