"""KA615."""

from collections.abc import Iterator

from kafka_audit.checks import check
from kafka_audit.checks.gaps import ONCE, nothing_asked
from kafka_audit.cluster.answers.broker_reads import BrokerReads
from kafka_audit.cluster.view import ClusterView
from kafka_audit.differences.tables import InternalTopic
from kafka_audit.model.finding import Judgement, Severity, Status
from kafka_audit.model.tables import GroupCoordinator

_TOPIC, _READ = "__consumer_offsets", "ListGroups"
_ERRORS = {14: "COORDINATOR_LOAD_IN_PROGRESS", 15: "COORDINATOR_NOT_AVAILABLE", 16: "NOT_COORDINATOR"}


@check(
    code="KA615",
    severity=Severity.HIGH,
    parts=("topics",),
    says={
        Status.FAIL: "The group coordinator of broker {broker} is not ready: it answers {code} {error}, {since}",
        Status.PASS: "The group coordinator of broker {broker} is ready",
        Status.UNKNOWN: "Cannot determine whether the group coordinator of {who} is ready ({error})",
        Status.NOT_APPLICABLE: "No group coordinators: {reason}",
    },
)
def coordinator_not_ready(view: ClusterView) -> Iterator[Judgement]:
    """The group coordinator of a broker does not run, or loads its partitions without end.

    ## Why it matters
    Every consumer group depends on the broker that leads its partition of `__consumer_offsets`. While that broker loads the
    partition, its groups cannot join, commit or rebalance: consumers stop, though all partitions have leaders and all brokers
    answer. A partition that grew because its cleaner died takes hours to load, after every election.

    ## Fails when
    In two samples, the broker answers ListGroups with 14 COORDINATOR_LOAD_IN_PROGRESS, 15 COORDINATOR_NOT_AVAILABLE or 16
    NOT_COORDINATOR. MEDIUM if the previous audit did not see it: after an election, loading takes seconds.

    ## Not known when
    ListGroups was not answered, or one sample only shows it.

    ## Passes only when
    The coordinator of the broker answered without an error. The check does not apply if `__consumer_offsets` does not exist: no
    consumer group was ever used.

    ## What to do
    On the host of broker {broker} run `grep -E 'GroupMetadataManager|GroupCoordinator|__consumer_offsets' server.log | tail` (how
    long it has been loading, or the error that ended it) and `du -h -d 1 LOG_DIR | grep __consumer_offsets- | sort -h | tail`. A
    partition of gigabytes is not cleaned: `grep -iE 'Uncleanable|cleaner.*(error|exception)' log-cleaner.log server.log`, and
    `log.cleaner.enable` must be true.

    If it does not end, move the leaders of these partitions to a broker that has them in sync: `kafka-leader-election.sh
    --bootstrap-server BROKER:9092 --election-type preferred --topic __consumer_offsets --partition PARTITION`, if another broker
    is the preferred leader, else a restart of broker {broker}. Every group of these partitions rebalances.

    ## References
    `kafka.coordinator.group.GroupMetadataManager`; KIP-848 (the new coordinator).
    """
    if not any(row.topic == _TOPIC for row in view.differences.of(InternalTopic)):
        yield view.judge("KA615", "cluster", Status.NOT_APPLICABLE, reason=f"no topic {_TOPIC} was found")
        return
    reads = BrokerReads(view.last_reads, _READ)
    yield from nothing_asked(view, "KA615", reads)
    now, before, earlier = (
        {row.broker_id: row.error for row in rows}
        for rows in (view.newest(GroupCoordinator), view.before(GroupCoordinator), view.earlier(GroupCoordinator))
    )
    for broker in reads.brokers:
        resource, evidence = f"broker/{broker}", {"broker": broker, "who": f"broker {broker}"}
        code = now.get(broker)
        if code is None:
            gap = reads.gap(broker) or {"error": "it was not asked", "needs": f"an answer of broker {broker} to ListGroups"}
            yield view.judge("KA615", resource, Status.UNKNOWN, {**evidence, **gap})
        elif not code:
            yield view.judge("KA615", resource, Status.PASS, evidence)
        elif not before.get(broker):
            yield view.judge("KA615", resource, Status.UNKNOWN, evidence | ONCE)
        else:
            lasting = bool(earlier.get(broker))
            evidence |= {"code": code, "error": _ERRORS.get(code, "an error")}
            evidence["since"] = "as in the previous audit" if lasting else "first seen in this audit"
            yield view.judge("KA615", resource, Status.FAIL, evidence, severity=None if lasting else Severity.MEDIUM)
