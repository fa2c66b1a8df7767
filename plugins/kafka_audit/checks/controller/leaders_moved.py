from kafka_audit.checks import ClusterView, Judgements, Severity, Status, check
from kafka_audit.checks.controller.since_previous import gap_judgement
from kafka_audit.differences.tables import LeaderMove


@check(code="KA208", severity=Severity.INFO, parts=("topics",))
def leaders_moved(view: ClusterView) -> Judgements:
    """Leaders moved away from a broker since the previous snapshot."""
    gap = gap_judgement(view)
    if gap is not None:
        yield gap
        return
    moves = {row.broker_id: row for row in view.differences.of(LeaderMove)}
    limit = 0.0 if view.info is None else view.info.leader_moves
    for broker in sorted(view.brokers.keys() | moves.keys()):
        move = moves.get(broker)
        if move is None or not move.moved:
            led = 0 if move is None else move.led
            yield view.judge(f"broker/{broker}", Status.PASS, broker=broker, moved=0, led=led)
            continue
        yield view.judge(
            f"broker/{broker}",
            Status.FAIL,
            severity=Severity.MEDIUM if move.moved > limit * move.led else None,
            broker=broker,
            moved=move.moved,
            led=move.led,
            partitions=move.first,
            now=tuple("no broker" if leader < 0 else f"broker {leader}" for leader in move.leaders),
        )
