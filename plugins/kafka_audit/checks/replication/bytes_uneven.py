"""KA619."""

from collections.abc import Iterator, Mapping
from typing import TypeVar

from kafka_audit.checks import check
from kafka_audit.checks.gaps import nothing_asked
from kafka_audit.cluster.answers.broker_reads import LOG_DIRS, BrokerReads
from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.finding import Judgement, Severity, Status
from kafka_audit.model.tables import LogDir
from kafka_audit.model.text import brokers as brokers_text
from kafka_audit.model.text import listing, start_upper

_Key = TypeVar("_Key", int, str)
_GIB = 2**30
_LEAST = 10 * _GIB
"""Bytes that a broker or log dir has on average; below it, a difference is chance."""

_TIMES = 2
"""How many times the average is uneven."""


@check(
    code="KA619",
    severity=Severity.LOW,
    says={
        Status.FAIL: "Records are unevenly distributed: {what}",
        Status.PASS: "No broker and no log dir of {brokers} has more than twice the average of bytes",
        Status.UNKNOWN: "Cannot determine how records are distributed ({error})",
        Status.NOT_APPLICABLE: "Records cannot be distributed: {reason}",
    },
)
def bytes_uneven(view: ClusterView) -> Iterator[Judgement]:
    """A broker, or one log dir of a broker, holds more than twice the average of bytes.

    ## Why it matters
    Kafka places partitions by number, not by size. The broker with the most bytes has the most disk and network load, takes the
    longest to recover, and its disk is the first to be full (KA505), while the others have space.

    ## Fails when
    The replicas of a broker together have more than twice the bytes of an average broker, or those of a log dir more than twice
    the average of the log dirs of its broker, and the average is 10 GiB or more.

    ## Not known when
    A broker did not answer DescribeLogDirs.

    ## Passes only when
    All brokers answered, and none is like that. The check does not apply to a cluster of one broker with one log dir.

    ## What to do
    Distribution here: {what}. To see the largest partitions, run `kafka-log-dirs.sh --bootstrap-server BROKER:9092 --describe
    --broker-list {broker}`. Move some of them with a plan that names the replicas, between log dirs of one broker with
    `log_dirs` in the plan, and with a throttle: `kafka-reassign-partitions.sh --bootstrap-server BROKER:9092
    --reassignment-json-file plan.json --execute --throttle BYTES_PER_SECOND`, then the same with `--verify` instead of `--execute
    --throttle …`, which removes the throttle. One partition that is much larger than the others of its topic has a key that most
    records share: change the key, or the number of partitions.

    ## References
    KIP-113 (DescribeLogDirs, moves between log dirs).
    """
    reads = BrokerReads(view.last_reads, LOG_DIRS)
    yield from nothing_asked(view, "KA619", reads)
    held = {broker: _bytes(view.log_dirs(broker)) for broker in reads.brokers}
    unread = [broker for broker, dirs in held.items() if not dirs]
    if held and not unread and len(held) == 1 and all(len(dirs) == 1 for dirs in held.values()):
        yield view.judge("KA619", "cluster", Status.NOT_APPLICABLE, reason="the cluster has one broker with one log dir")
        return
    totals = {broker: sum(dirs.values()) for broker, dirs in held.items()}
    above = [] if unread else [(broker, f"broker {broker} has {text}") for broker, text in _above(totals)]
    for broker, dirs in held.items():
        above += [(broker, f"log dir {path} of broker {broker} has {text}") for path, text in _above(dirs)]
    if above:
        what = start_upper(listing([text for _, text in above], 4))
        ids = tuple(dict.fromkeys(broker for broker, _ in above))
        yield view.judge("KA619", "cluster", Status.FAIL, what=what, broker=ids[0], above=ids)
    elif unread:
        gap = reads.gap(unread[0]) or {"error": "sizes are not in this snapshot", "needs": "an audit by this version"}
        error = f"{brokers_text(unread)}: {gap['error']}"
        yield view.judge("KA619", "cluster", Status.UNKNOWN, error=error, needs=gap["needs"])
    elif held:
        yield view.judge("KA619", "cluster", Status.PASS, brokers=brokers_text(held))


def _bytes(dirs: Mapping[str, LogDir]) -> Mapping[str, int]:
    """Return the bytes of replicas by log dir that is online; nothing where they are unknown."""
    online = {path: row.replica_bytes for path, row in dirs.items() if not row.error}
    known = {path: size for path, size in online.items() if size is not None}
    return known if len(known) == len(online) else {}


def _above(sizes: Mapping[_Key, int]) -> Iterator[tuple[_Key, str]]:
    """Yield who has more than twice the average."""
    average = sum(sizes.values()) / len(sizes) if sizes else 0
    for key, size in sizes.items():
        if average >= _LEAST and size > _TIMES * average:
            yield key, f"{size // _GIB} GiB, the average is {average / _GIB:.0f}"
