from kafka_audit.checks import ClusterView, Judgements, Severity, Status, check
from kafka_audit.checks.on_its_way import standing, under_way
from kafka_audit.cluster.answers.broker_reads import BrokerReads
from kafka_audit.model.text import counted
from kafka_audit.progress.rows import progress_of

_READ = "ListOffsets tier"


@check(code="KA510", severity=Severity.MEDIUM, parts=("topics",))
def tier_copy_hangs(view: ClusterView) -> Judgements:
    """Segments are not copied to remote storage, and are not deleted where they were written."""
    rows = progress_of(view).of_kind("tier")
    yield from standing(view, rows, lambda row: {"broker": int(row.parties[1].removeprefix("broker/"))})
    reads = BrokerReads(view.last_reads, _READ)
    failed = next((gap for broker in reads.brokers if (gap := reads.failure(broker)) is not None), None)
    if failed is not None:
        yield view.judge("cluster", Status.UNKNOWN, failed)
    elif (unread := view.min_isr_gap) is not None and unread.topics_unread:
        yield view.unknown("cluster", unread.error, unread.needs)
    elif any(row.state != "standing" for row in rows):
        number = f"{counted(len(rows), 'partition')} {'has' if len(rows) == 1 else 'have'} segments to be copied"
        yield from under_way(view, rows, number)
    elif not any(reads.answered(broker) for broker in reads.brokers):
        yield view.not_applicable("cluster", "no topic has remote storage")
    elif not rows:
        yield view.judge("cluster", Status.PASS)
