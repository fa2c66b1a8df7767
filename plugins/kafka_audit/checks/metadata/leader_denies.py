from kafka_audit.checks import ClusterView, Judgements, Severity, Status, check
from kafka_audit.checks.gaps import MOVING, nothing_asked
from kafka_audit.cluster.answers.broker_reads import LIST_OFFSETS, BrokerReads, first_partitions
from kafka_audit.model.tables import LeadershipAnswer, LeadershipAsked

_DENIALS = {3: "UNKNOWN_TOPIC_OR_PARTITION", 6: "NOT_LEADER_OR_FOLLOWER", 74: "FENCED_LEADER_EPOCH", 75: "UNKNOWN_LEADER_EPOCH"}


@check(code="KA104", severity=Severity.CRITICAL)
def leader_denies(view: ClusterView) -> Judgements:
    """The registered leader of a partition rejects requests for it."""
    reads = BrokerReads(view.last_reads, LIST_OFFSETS)
    yield from nothing_asked(view, reads)
    asked = {row.broker_id: row for row in view.newest(LeadershipAsked)}
    denied = [row for row in view.newest(LeadershipAnswer) if _denies(row)]
    earlier = {_claim(row) for row in view.before(LeadershipAnswer) if _denies(row)}
    for broker in reads.brokers:
        evidence, resource = {"broker": broker, "who": f"broker {broker}"}, f"broker/{broker}"
        mine = [row for row in denied if row.broker_id == broker]
        twice = {(row.topic, row.partition): row.error for row in mine if _claim(row) in earlier}
        if twice:
            errors = tuple(f"{code} {_DENIALS[code]}" for code in sorted(set(twice.values())))
            failure = evidence | {"count": len(twice), "partitions": first_partitions(twice), "errors": errors}
            yield view.judge(resource, Status.FAIL, failure)
        elif mine:
            yield view.judge(resource, Status.UNKNOWN, evidence | MOVING)
        elif broker in asked:
            yield view.judge(resource, Status.PASS, evidence, led=asked[broker].as_leader)
        else:
            gap, reason = reads.gap(broker), {"reason": "it leads no partition, and no view lists a replica of it as offline"}
            yield view.judge(resource, Status.UNKNOWN if gap else Status.NOT_APPLICABLE, {**evidence, **(gap or reason)})


def _denies(row: LeadershipAnswer) -> bool:
    return row.asked_as == "leader" and row.error in _DENIALS


def _claim(row: LeadershipAnswer) -> tuple[int, str, int, int | None]:
    """Return what has to be the same in both samples."""
    return (row.broker_id, row.topic, row.partition, row.leader_epoch)
