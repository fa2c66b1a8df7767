from collections.abc import Sequence

from kafka_audit.checks import ClusterView, Judgements, Severity, Status, check
from kafka_audit.checks.gaps import ONCE, nothing_asked
from kafka_audit.cluster.answers.broker_reads import BrokerReads
from kafka_audit.cluster.coordinators import has_topic
from kafka_audit.differences.tables import LISTED
from kafka_audit.model.progress import ProgressRow
from kafka_audit.model.tables import CoordinatorPartition, GroupCoordinator
from kafka_audit.model.text import counted
from kafka_audit.progress.rows import progress_of
from kafka_audit.progress.states import COORDINATOR_ERRORS

_TOPIC, _READ, _PARTITIONS = "__consumer_offsets", "ListGroups", "DescribeGroups coordinators"


@check(code="KA615", severity=Severity.HIGH, parts=("topics",))
def coordinator_not_ready(view: ClusterView) -> Judgements:
    """The group coordinator of a broker does not run, or loads its partitions without end."""
    if not has_topic(view, _TOPIC):
        yield view.not_applicable("cluster", f"no topic {_TOPIC} was found")
        return
    reads = BrokerReads(view.last_reads, _READ)
    yield from nothing_asked(view, reads)
    rows = {row.parties[0]: row for row in progress_of(view).of_kind("coordinator")}
    now = {row.broker_id: row.error for row in view.newest(GroupCoordinator)}
    before = {(row.broker_id, row.error) for row in view.before(GroupCoordinator)}
    before |= {(part.broker_id, part.error) for part in view.before(CoordinatorPartition)}
    partitions = BrokerReads(view.last_reads, _PARTITIONS)
    for broker in reads.brokers:
        resource, evidence = f"broker/{broker}", {"broker": broker, "who": f"broker {broker}"}
        code, row = now.get(broker), rows.get(resource)
        unready = {part.partition: part.error for part in view.newest(CoordinatorPartition) if part.broker_id == broker}
        if code is None:
            gap = reads.gap(broker) or {"error": "it was not asked", "needs": f"an answer of broker {broker} to ListGroups"}
            yield view.judge(resource, Status.UNKNOWN, {**evidence, **gap})
        elif row is None and (failure := partitions.failure(broker)) is not None:
            yield view.judge(resource, Status.UNKNOWN, {**evidence, **failure})
        elif row is None:
            yield view.judge(resource, Status.PASS, evidence)
        elif not any((broker, error) in before for error in (code or None, *unready.values())):
            yield view.judge(resource, Status.UNKNOWN, evidence | ONCE)
        else:
            stands = row.state == "standing"
            code = max(unready.values(), default=code)
            evidence |= {"code": code, "error": COORDINATOR_ERRORS.get(code, "an error")}
            evidence |= {"partitions": tuple(sorted(unready)[:LISTED]) or None, "of": _of(sorted(unready))}
            evidence["since"] = f"for {row.unchanged_minutes} minutes or longer" if stands else _since(row)
            yield view.judge(resource, Status.FAIL, evidence, severity=None if stands else Severity.MEDIUM)


def _of(partitions: Sequence[int]) -> str:
    if not partitions:
        return ""
    more = f" and {len(partitions) - LISTED} more" if len(partitions) > LISTED else ""
    return f" for {counted(len(partitions), 'partition')} ({', '.join(map(str, partitions[:LISTED]))}{more})"


def _since(row: ProgressRow) -> str:
    return (
        "first seen in this audit" if row.unchanged_minutes is None else f"for {counted(row.unchanged_minutes, 'minute')} so far"
    )
