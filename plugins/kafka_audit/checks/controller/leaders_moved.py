"""KA208."""

from collections.abc import Iterator

from kafka_audit.checks import check
from kafka_audit.checks.controller.since_previous import gap_judgement
from kafka_audit.cluster.view import ClusterView
from kafka_audit.differences.tables import LeaderMove
from kafka_audit.model.finding import Judgement, Severity, Status


@check(
    code="KA208",
    severity=Severity.INFO,
    parts=("topics",),
    says={
        Status.FAIL: "Broker {broker} no longer leads {moved} of {led} partitions that it led in the previous snapshot "
        "({partitions}); now led by {now}",
        Status.PASS: "Broker {broker} still leads all {led} partitions that it led in the previous snapshot",
        Status.UNKNOWN: "Cannot determine whether leaders moved away from {who} ({error})",
        Status.NOT_APPLICABLE: "Leaders cannot be compared: {reason}",
    },
)
def leaders_moved(view: ClusterView) -> Iterator[Judgement]:
    """Leaders moved away from a broker since the previous snapshot.

    ## Why it matters
    Leaders move for a reason: a restart, a failed disk, an expired session, a reassignment. A producer that does not refresh
    its metadata continues to send to the old leader (KA506 checks that broker).

    ## Fails when
    A partition that the broker led in the previous snapshot now has another leader, or none. MEDIUM if more than the share
    `limits.leader_moves` of its partitions moved, otherwise INFO. Topics that were created again are not compared.

    ## Not known when
    ZooKeeper was not read in one of the snapshots. The check does not apply without a previous snapshot.

    ## Passes only when
    Both snapshots read ZooKeeper, and the broker leads all partitions that it led before.

    ## What to do
    Find the reason in the logs between the two snapshots: `grep -iE 'offline|Broker failure' controller.log state-change.log`
    on the controller's host, and `grep -iE 'log dir|shut down|Session expired' server.log` on the host of broker {broker}. When
    the broker is back and in every ISR (`kafka-topics.sh --bootstrap-server BROKER:9092 --describe
    --under-replicated-partitions` lists nothing), move the leaders back: `kafka-leader-election.sh --bootstrap-server
    BROKER:9092 --election-type preferred --all-topic-partitions`.

    ## References
    KIP-112 and KIP-113 (disk failure); `auto.leader.rebalance.enable`.
    """
    gap = gap_judgement(view, "KA208")
    if gap is not None:
        yield gap
        return
    moves = {row.broker_id: row for row in view.differences.of(LeaderMove)}
    limit = 0.0 if view.info is None else view.info.leader_moves
    for broker in sorted(view.brokers.keys() | moves.keys()):
        move = moves.get(broker)
        if move is None or not move.moved:
            led = 0 if move is None else move.led
            yield view.judge("KA208", f"broker/{broker}", Status.PASS, broker=broker, moved=0, led=led)
            continue
        yield view.judge(
            "KA208",
            f"broker/{broker}",
            Status.FAIL,
            severity=Severity.MEDIUM if move.moved > limit * move.led else None,
            broker=broker,
            moved=move.moved,
            led=move.led,
            partitions=move.first,
            now=tuple("no broker" if leader < 0 else f"broker {leader}" for leader in move.leaders),
        )
