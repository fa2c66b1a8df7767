"""KA206."""

from collections.abc import Iterator

from kafka_audit.checks import check
from kafka_audit.checks.controller.since_previous import gap_judgement, minutes, rounded
from kafka_audit.cluster.features import METADATA_VERSION, NO_EPOCH_BUMP
from kafka_audit.cluster.view import ClusterView
from kafka_audit.differences.tables import EpochChange
from kafka_audit.model.finding import Confidence, Judgement, Severity, Status


@check(
    code="KA206",
    severity=Severity.MEDIUM,
    parts=("topics",),
    says={
        Status.FAIL: "{what} repeatedly; the leader epoch of {count:# partition|# partitions} ({partitions}) rose by up "
        "to {most} in {minutes} minutes",
        Status.PASS: "No leader epoch of {total:# partition|# partitions} rose above the limit since the previous snapshot",
        Status.UNKNOWN: "Cannot determine whether leaders change repeatedly ({error})",
        Status.NOT_APPLICABLE: "Leader epochs cannot be compared: {reason}",
    },
)
def leaders_flap(view: ClusterView) -> Iterator[Judgement]:
    """Partitions get a new leader repeatedly.

    ## Why it matters
    At each change, producers and consumers of the partition stop briefly and refresh their metadata, and followers truncate
    their logs. A single view shows no fault, but all clients are slow.

    ## Fails when
    The leader epoch of a partition rose by 20 or more since the previous snapshot, and by more than six per hour. A restart of
    all brokers raises it by less. Suspected in KRaft mode if metadata.version is below 3.6 or unknown: there the controller also
    raises the epoch when the ISR shrinks, without a new leader (KAFKA-15021).

    ## Not known when
    Topics were not read in one of the snapshots. The check does not apply without a previous snapshot. Topics that were created
    again are not compared.

    ## Passes only when
    Both snapshots were read, and no epoch rose above the limit.

    ## What to do
    Broker {broker} has a replica of most of these partitions ({share} of {count}). Run `grep -iE 'session
    expired|fenced|Shrinking ISR' server.log` on its host. Check its ZooKeeper session or its connection to the KRaft
    controllers, its garbage collection pauses and its network. In KRaft mode run `kafka-features.sh --bootstrap-server
    BROKER:9092 describe` first: below metadata.version 3.6 a replica that leaves the ISR again and again looks the same.

    ## References
    KIP-101 (leader epochs); metric `LeaderElectionRateAndTimeMs`.
    """
    gap = gap_judgement(view, "KA206")
    if gap is not None:
        yield gap
        return
    total = view.partitions.count.partitions
    version = view.features.get(METADATA_VERSION)
    shrinks = view.kraft and (version is None or version.finalized is None or version.finalized < NO_EPOCH_BUMP)
    rose = next((row for row in view.differences.of(EpochChange) if row.kind == "rose"), None)
    if rose is None:
        yield view.judge("KA206", "cluster", Status.PASS, total=total)
        return
    yield view.judge(
        "KA206",
        "cluster",
        Status.FAIL,
        confidence=Confidence.SUSPECTED if shrinks else Confidence.MEASURED,
        what="Leaders change, or (below metadata.version 3.6) the ISR shrinks" if shrinks else "Leaders change",
        count=rose.partitions,
        most=rose.most,
        minutes=rounded(minutes(view)),
        partitions=rose.first,
        broker=rose.broker_id,
        share=rose.share,
        total=total,
    )
