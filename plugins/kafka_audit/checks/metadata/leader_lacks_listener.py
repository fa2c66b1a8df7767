"""KA103."""

from collections.abc import Iterator

from kafka_audit.checks import check
from kafka_audit.checks.metadata.view_differences import judgement, partition_evidence, view_effects
from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.finding import Judgement, Severity, Status


@check(
    code="KA103",
    severity=Severity.HIGH,
    parts=("brokers", "topics"),
    says={
        Status.FAIL: "Clients of broker {broker} on listener {listeners} cannot use {count} of {total} partitions "
        "({partitions}): leader {leaders} has no such listener",
        Status.PASS: "Every leader in the view of broker {broker} has the listener that was read ({listeners})",
        Status.UNKNOWN: "Cannot determine whether leaders lack the listener of {who} ({error})",
        Status.NOT_APPLICABLE: "Nothing to compare views with: {reason}",
    },
)
def leader_lacks_listener(view: ClusterView) -> Iterator[Judgement]:
    """A partition's leader does not have the listener that clients use.

    ## Why it matters
    Metadata is per listener: a client is sent to the leader's endpoint of the same listener name. If the leader has none, the
    client gets error 72 LISTENER_NOT_FOUND. It can use the partition only through another listener that it can reach.

    ## Fails when
    A broker returns error 72 for a partition in two samples, or error 5 below Metadata v6 while the leader's registration lacks
    the listener.

    ## Not known when
    The broker returned no view, its view is empty (KA107), ZooKeeper was not read (KRaft: no other broker returned a view), or
    the difference was seen once or changed.

    ## Passes only when
    The broker answered, and no partition in its view has error 72.

    ## What to do
    Add the listener to `listeners` and `advertised.listeners` of broker {leaders} and restart it. If its registration has the
    listener (`zookeeper-shell.sh ZOOKEEPER:2181 get /brokers/ids/{leaders}`), the broker that answered holds an old
    registration: see KA106.

    ## References
    KIP-103 (listeners for different traffic), KIP-226 (error 72 LISTENER_NOT_FOUND).
    """
    for observer, effect in view_effects(view, "listener"):
        difference = effect.difference
        yield judgement(
            view,
            "KA103",
            observer,
            effect,
            **partition_evidence(view, difference, "newest_epoch"),
            total=observer.partitions,
            leaders=difference and difference.brokers,
            listeners=(observer.listeners if difference is None else difference.listeners) or None,
        )
