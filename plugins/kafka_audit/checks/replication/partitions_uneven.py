"""KA613."""

from collections.abc import Iterator, Mapping

from kafka_audit.checks import check
from kafka_audit.checks.replication.partitions import NO_TOPIC
from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.finding import Judgement, Severity, Status
from kafka_audit.model.text import brokers, listing, start_upper

_FEW = 10
"""Replicas, or leaders, that a broker has on average; below it, a difference is chance."""

_TIMES = 2
"""How many times the average is uneven."""


@check(
    code="KA613",
    severity=Severity.LOW,
    parts=("brokers", "topics"),
    says={
        Status.FAIL: "Partitions are unevenly distributed: {what}",
        Status.PASS: "No broker of {brokers} holds nothing or more than twice the average of replicas or leaders",
        Status.UNKNOWN: "Cannot determine how partitions are distributed ({error})",
        Status.NOT_APPLICABLE: "Partitions cannot be distributed: {reason}",
    },
)
def partitions_uneven(view: ClusterView) -> Iterator[Judgement]:
    """A broker holds no partition, or more than twice the average.

    ## Why it matters
    Kafka does not move partitions to a new broker by itself: a broker that was added holds nothing until a reassignment, and
    takes no load from the others. Clients whose topics are all on one broker fail with that broker, although the cluster has
    more.

    ## Fails when
    A registered broker is a replica of no partition, while the other brokers hold at least two replicas for each broker of the
    cluster. Or a broker holds or leads more than twice the average, and the average is ten or more.

    ## Not known when
    Registrations or topics were not read, or in KRaft mode no view lists a topic.

    ## Passes only when
    Brokers and topics were read, and no broker is like that. The sizes of partitions are not compared (KA505 checks disks). The
    check does not apply to a cluster of one broker.

    ## What to do
    Distribution here: {what}. Write a plan for some topics at a time: `kafka-reassign-partitions.sh --bootstrap-server
    BROKER:9092 --generate --topics-to-move-json-file topics.json --broker-list ALL_IDS`, which moves every partition of the
    listed topics. Execute it with a throttle: `kafka-reassign-partitions.sh --bootstrap-server BROKER:9092
    --reassignment-json-file plan.json --execute --throttle BYTES_PER_SECOND`, then the same with `--verify` instead of
    `--execute --throttle …`, which removes the throttle. If leaders alone are uneven, see KA607 first. A broker that is about
    to be decommissioned holds nothing on purpose: stop it, or mute KA613.

    ## References
    Kafka documentation, "Expanding your cluster".
    """
    known = sorted(view.brokers)
    if len(known) <= 1:
        reason = "the cluster has one broker" if known else "no broker is registered"
        yield view.judge("KA613", "cluster", Status.NOT_APPLICABLE, reason=reason)
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
        yield view.judge("KA613", "cluster", Status.FAIL, evidence)
    elif view.kraft and not view.partitions.count.partitions:
        yield view.judge("KA613", "cluster", Status.UNKNOWN, NO_TOPIC)
    else:
        yield view.judge("KA613", "cluster", Status.PASS, brokers=len(known))


def _above(numbers: Mapping[int, int], does: str, what: str) -> Iterator[tuple[int, str]]:
    """Yield who has more than twice the average."""
    average = sum(numbers.values()) / len(numbers)
    for broker, number in numbers.items():
        if average >= _FEW and number > _TIMES * average:
            yield broker, f"broker {broker} {does} {number} {what}, the average is {average:.0f}"
