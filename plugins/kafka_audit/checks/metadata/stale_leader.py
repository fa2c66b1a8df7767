"""KA101."""

from collections.abc import Iterator

from kafka_audit.checks import check
from kafka_audit.checks.metadata.view_differences import holders, judgement, partition_evidence, view_effects
from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.finding import Judgement, Severity, Status


@check(
    code="KA101",
    severity=Severity.CRITICAL,
    parts=("topics",),
    says={
        Status.FAIL: "Clients of broker {broker} are sent to old leaders; its leader differs from {newest} for {count} of "
        "{total} partitions ({partitions}), first: {first}, the broker reports {said}",
        Status.PASS: "Broker {broker} reports the leader {held} for all {listed} of {total} partitions that it lists",
        Status.UNKNOWN: "Cannot determine whether {who} reports old leaders ({error})",
        Status.NOT_APPLICABLE: "Nothing to compare views with: {reason}",
    },
)
def stale_leader(view: ClusterView) -> Iterator[Judgement]:
    """A broker reports a leader that differs from ZooKeeper; in KRaft, one of an older leader epoch than other brokers have.

    ## Why it matters
    A client that bootstraps at this broker produces to and fetches from a broker that no longer leads the partition. It gets
    error 6 NOT_LEADER_OR_FOLLOWER repeatedly, or its reads stop. Clients of other brokers work.

    ## Fails when
    The leader in the broker's Metadata response differs from the partition's state in ZooKeeper in two samples. The state, the
    controller and the list of brokers did not change in between. If Metadata contains leader epochs (v7 and later), the
    broker's epoch is not above ZooKeeper's. A lower epoch with the same leader is harmless.

    In KRaft mode: the leader differs from the leader of the highest epoch of any broker, the broker's own epoch is lower, and
    the higher epoch was there in both samples.

    ## Not known when
    The broker returned no view, its view is empty (KA107), ZooKeeper was not read (KRaft: no other broker returned a view), or
    the difference was seen once or changed.

    ## Passes only when
    The broker answered, and for every partition in its view the leader is the one in ZooKeeper (KRaft: of the highest epoch).

    ## What to do
    The controller cannot update this broker. On the controller's host run `grep '(id: {broker} rack.*unsuccessful'
    controller.log` and `grep 'Received error' state-change.log`. The causes are KA302 (the address is unreachable), KA401 (a
    missing right) and KA412 (a failed login). Repair the cause first.

    Until then, keep clients away from this broker. A restart of the broker that is the controller moves the controller, and the
    new controller sends the full metadata again. This helps only if the new controller can reach this broker. Do not delete
    `/controller` by hand: during a migration to KRaft (KA909), this is a step back to ZooKeeper.

    In KRaft mode the broker no longer fetches metadata: run `grep -iE 'controller|registration|fenced' server.log | tail` on
    broker {broker}, and `nc -vz CONTROLLER 9093` from its host.

    ## References
    KIP-320 (leader epochs); `kafka.controller.ControllerChannelManager`.
    """
    newest = holders(view)
    for observer, effect in view_effects(view, "leader"):
        difference = effect.difference
        right = difference and difference.reference
        yield judgement(
            view,
            "KA101",
            observer,
            effect,
            **partition_evidence(view, difference, "newest_epoch"),
            total=observer.partitions,
            listed=observer.listed if observer.answered else None,
            listeners=observer.listeners or None,
            holders=newest,
            newest="ZooKeeper" if newest is None else f"the newest leader epoch ({newest})",
            first=right and (f"ZooKeeper has {right}" if newest is None else f"the newest epoch has {right}"),
            held="in ZooKeeper" if newest is None else "of the newest epoch of any broker",
        )
