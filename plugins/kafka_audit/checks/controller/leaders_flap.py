"""KA206."""

from collections.abc import Iterator

from kafka_audit.checks import check
from kafka_audit.checks.controller.since_previous import gap_judgement, minutes, rounded
from kafka_audit.cluster.view import ClusterView
from kafka_audit.differences.tables import EpochChange
from kafka_audit.model.finding import Judgement, Severity, Status
from kafka_audit.model.tables import RegisteredPartition, RegisteredTopic


@check(
    code="KA206",
    severity=Severity.MEDIUM,
    needs=(RegisteredTopic, RegisteredPartition),
    parts=("topics",),
    says={
        Status.FAIL: "Leaders flap: the leader epoch of {count} partitions ({partitions}) rose by up to {most} in {minutes}"
        " minutes",
        Status.PASS: "No leader epoch of {total} partitions rose much since the previous snapshot",
        Status.UNKNOWN: "Not known: whether leaders flap ({error})",
        Status.NOT_APPLICABLE: "Leader epochs cannot be compared: {reason}",
    },
)
def leaders_flap(view: ClusterView) -> Iterator[Judgement]:
    """Partitions are given a leader again and again.

    ## Why it matters
    At each change producers and consumers of the partition stop for a moment and ask for their leader, and followers cut their
    logs. Nobody sees a fault when looking, and everybody has slow clients.

    ## Fails when
    The leader epoch of a partition rose by 20 or more since the previous snapshot, and by more than six an hour. Restarts of all
    brokers raise it by a few.

    ## Not known when
    Topics were not read in either snapshot. Without a previous snapshot it does not apply. Topics created anew are not compared.

    ## Passes only when
    Both snapshots were read, and no epoch rose so much.

    ## What to do
    Broker {broker} has a replica of most of them ({share} of {count}): `grep -iE 'session expired|fenced|Shrinking ISR'
    server.log` there, its ZooKeeper session or way to the KRaft controllers, its pauses, its network.

    ## References
    KIP-101 (leader epochs); metric `LeaderElectionRateAndTimeMs`.
    """
    gap = gap_judgement(view, "KA206")
    if gap is not None:
        yield gap
        return
    total = view.partitions.count.partitions
    rose = next((row for row in view.differences.of(EpochChange) if row.kind == "rose"), None)
    if rose is None:
        yield view.judge("KA206", "cluster", Status.PASS, total=total)
        return
    yield view.judge(
        "KA206",
        "cluster",
        Status.FAIL,
        count=rose.partitions,
        most=rose.most,
        minutes=rounded(minutes(view)),
        partitions=rose.first,
        broker=rose.broker_id,
        share=rose.share,
        total=total,
    )
