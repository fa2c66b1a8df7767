"""KA208."""

from collections.abc import Iterator

from kafka_audit.checks import check
from kafka_audit.checks.controller.since_previous import gap_judgement
from kafka_audit.cluster.view import ClusterView
from kafka_audit.differences.tables import LeaderMove
from kafka_audit.model.finding import Judgement, Severity, Status
from kafka_audit.model.tables import RegisteredPartition, RegisteredTopic


@check(
    code="KA208",
    severity=Severity.INFO,
    needs=(RegisteredTopic, RegisteredPartition),
    parts=("topics",),
    says={
        Status.FAIL: "Broker {broker} no longer leads {moved} of the {led} partitions that it led in the previous snapshot "
        "({partitions}); they are led by {now}",
        Status.PASS: "Broker {broker} still leads all {led} partitions that it led in the previous snapshot",
        Status.UNKNOWN: "Not known: whether leaders moved away from {who} ({error})",
        Status.NOT_APPLICABLE: "Leaders cannot be compared: {reason}",
    },
)
def leaders_moved(view: ClusterView) -> Iterator[Judgement]:
    """Leaders moved away from a broker since the previous snapshot.

    ## Why it matters
    Leaders move for a reason: a restart, a dead disk, a session that expired, a reassignment. A producer that does not refresh
    its metadata stays with the old leader (KA506 asks that broker).

    ## Fails when
    A partition that the broker led in the previous snapshot has another leader, or none, now. MEDIUM above the share
    `limits.leader_moves` of what it led, else INFO: one move is news, no fault. Topics created anew are not compared.

    ## Not known when
    ZooKeeper was not read in either snapshot. Without a previous snapshot it does not apply.

    ## Passes only when
    Both snapshots read ZooKeeper, and the broker leads all that it led.

    ## What to do
    Read why, at the time between the two snapshots: `grep -iE 'offline|Broker failure' controller.log state-change.log` on the
    controller's host, `grep -iE 'log dir|shut down|Session expired' server.log` on that of broker {broker}. Once it is back and
    in every ISR (`kafka-topics.sh --bootstrap-server <broker>:9092 --describe --under-replicated-partitions` lists nothing), move
    the leaders back:
    `kafka-leader-election.sh --bootstrap-server <broker>:9092 --election-type preferred --all-topic-partitions`.

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
            now=tuple("nobody" if leader < 0 else f"broker {leader}" for leader in move.leaders),
        )
