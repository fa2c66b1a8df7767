from collections.abc import Iterator, Mapping

from kafka_audit.checks import ClusterView, Judgements, Severity, Status, check
from kafka_audit.checks.replication.partitions import NO_TOPIC
from kafka_audit.differences.tables import LeaderMove
from kafka_audit.model.text import brokers, listing, start_upper

_FEW = 10
"""Replicas, or leaders, that a broker has on average; below it, a difference is chance."""

_TIMES = 2
"""How many times the average is uneven."""


@check(code="KA613", severity=Severity.LOW, parts=("brokers", "topics"))
def partitions_uneven(view: ClusterView) -> Judgements:
    """A broker holds no partition, or more than twice the average."""
    known = sorted(view.brokers)
    if len(known) <= 1:
        yield view.not_applicable("cluster", "the cluster has one broker" if known else "no broker is registered")
        return
    shares = view.partitions.shares
    replicas = {broker: shares[broker].replicas if broker in shares else 0 for broker in known}
    led = {broker: shares[broker].led if broker in shares else 0 for broker in known}
    empty = [broker for broker in known if not replicas[broker] and sum(replicas.values()) >= 2 * len(known)]
    what = [f"{brokers(empty)} {'holds' if len(empty) == 1 else 'hold'} no partition"] if empty else []
    above = [*_above(replicas, "holds", "replicas"), *_above(led, "leads", "partitions")]
    what += [text for _, text in above]
    if what:
        evidence = {"what": start_upper(listing(what, 4)), "empty": tuple(empty) or None}
        evidence["above"] = tuple(dict.fromkeys(broker for broker, _ in above)) or None
        leaders_alone = not empty and not any(_above(replicas, "holds", "replicas"))
        passing = leaders_alone and any(row.moved for row in view.differences.of(LeaderMove))
        yield view.judge("cluster", Status.FAIL, evidence, severity=Severity.INFO if passing else None)
    elif view.kraft and not view.partitions.count.partitions:
        yield view.judge("cluster", Status.UNKNOWN, NO_TOPIC)
    else:
        yield view.judge("cluster", Status.PASS, brokers=len(known))


def _above(numbers: Mapping[int, int], does: str, what: str) -> Iterator[tuple[int, str]]:
    """Yield who has more than twice the average."""
    average = sum(numbers.values()) / len(numbers)
    for broker, number in numbers.items():
        if average >= _FEW and number > _TIMES * average:
            yield broker, f"broker {broker} {does} {number} {what}, the average is {average:.0f}"
