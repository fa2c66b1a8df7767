from collections.abc import Mapping

from kafka_audit.checks import ClusterView, Confidence, Judgement, Judgements, Severity, Status, check
from kafka_audit.checks.controller import since_previous
from kafka_audit.checks.gaps import nothing_asked
from kafka_audit.cluster.answers.broker_reads import BrokerReads
from kafka_audit.cluster.coordinators import has_topic
from kafka_audit.model.progress import ProgressRow
from kafka_audit.model.tables import CoordinatedTransaction, OldTransaction
from kafka_audit.model.tables.storage import OPEN_FOR_LONG_MS
from kafka_audit.progress.rows import progress_of
from kafka_audit.progress.transactions import TOPIC, OpenTransactions

_READ = "read_committed offsets"
_TWO_PHASE = "transaction.two.phase.commit.enable"
_MINUTE_MS = 60_000


@check(code="KA614", severity=Severity.HIGH, parts=("topics",))
def transaction_hangs(view: ClusterView) -> Judgements:
    """A transaction stays open, and read_committed consumers wait for it."""
    if not has_topic(view, TOPIC):
        yield view.not_applicable("cluster", f"no topic {TOPIC} was found")
        return
    reads = BrokerReads(view.last_reads, _READ)
    yield from nothing_asked(view, reads)
    earlier = {(row.topic, row.partition, row.stable_offset): row for row in view.earlier(OldTransaction)}
    known = view.derived(OpenTransactions).known
    rows = {party: row for row in progress_of(view).of_kind("transaction") for party in row.parties}
    judged: set[int] = set()
    for row in view.newest(OldTransaction):
        last = earlier.get((row.topic, row.partition, row.stable_offset))
        transaction, on_its_way = known.get(f"{row.topic}-{row.partition}"), rows[_resource(row)]
        if transaction is not None and on_its_way.state != "moving":
            judgement = _coordinated(view, row, last, transaction, on_its_way)
        else:
            judgement = _unclaimed(view, row, last) if transaction is None else None
        if judgement is not None:
            judged.add(row.broker_id)
            yield judgement
    for broker in reads.brokers:
        evidence = {"broker": broker, "who": f"broker {broker}"}
        gap = reads.gap(broker)
        if gap is not None:
            yield view.judge(f"broker/{broker}", Status.UNKNOWN, {**evidence, **gap})
        elif broker not in judged:
            yield view.judge(f"broker/{broker}", Status.PASS, evidence)


def _resource(row: OldTransaction) -> str:
    return f"topic/{row.topic}/partition/{row.partition}"


def _evidence(row: OldTransaction) -> dict[str, object]:
    partition = f"{row.topic}-{row.partition}"
    evidence = {"partition": partition, "broker": row.broker_id, "topic": row.topic, "number": row.partition}
    return evidence | {"stable": row.stable_offset, "end": row.end_offset, "who": partition}


def _is_waited_for(row: OldTransaction, last: OldTransaction | None) -> bool:
    return last is not None and last.end_offset < row.end_offset


def _coordinated(
    view: ClusterView, row: OldTransaction, last: OldTransaction | None, known: CoordinatedTransaction, progress: ProgressRow
) -> Judgement | None:
    """Judge a transaction that a coordinator knows."""
    prepared = known.state != "Ongoing"
    evidence = _evidence(row) | {"transaction": known.transactional_id, "state": known.state, "coordinator": known.broker_id}
    evidence |= {"advice": "prepared" if prepared else "ongoing"}
    if progress.state == "unknown" and prepared:
        return view.unknown(_resource(row), f"{progress.what}: {progress.not_known}", "another audit", evidence)
    if progress.state == "unknown" and not _is_waited_for(row, last):
        return None  # within the time-out of its producer
    minutes = progress.unchanged_minutes
    if prepared:
        lasts, since = f"is prepared ({known.state}) and does not end", f"for {minutes} minutes or longer"
    else:
        lasts = "stays open" if progress.state == "unknown" else "is open for longer than its time-out"
        since = f"{known.transactional_id} began {minutes} minutes ago"
    severity = Severity.MEDIUM if progress.state == "unknown" else None
    return view.judge(_resource(row), Status.FAIL, evidence, severity=severity, minutes=minutes, lasts=lasts, since=since)


def _outlived_its_coordinators(view: ClusterView, row: OldTransaction, gap: Mapping[str, str] | None) -> bool:
    """Return whether it is open in both samples of this audit, and no coordinator had it in between, nor has it now."""
    before = {(old.topic, old.partition, old.stable_offset) for old in view.before(OldTransaction)}
    known = {name for one in view.before(CoordinatedTransaction) for name in one.partitions}
    again = (row.topic, row.partition, row.stable_offset) in before and f"{row.topic}-{row.partition}" not in known
    return gap is None and again


def _unclaimed(view: ClusterView, row: OldTransaction, last: OldTransaction | None) -> Judgement | None:
    """Judge a transaction that no coordinator is known to have, beside what the previous audit saw of it.

    None where its coordinator would have it if it were past its time-out.
    """
    past, waiting = row.older_than_ms > OPEN_FOR_LONG_MS, _is_waited_for(row, last)
    minutes, evidence = row.older_than_ms // _MINUTE_MS, _evidence(row)
    gap = view.derived(OpenTransactions).gap
    if not past and not waiting:
        return None if gap is None else view.unknown(_resource(row), gap["error"], gap["needs"], evidence)
    if (
        not waiting
        and not _outlived_its_coordinators(view, row, gap)
        and (last is None or (since_previous.minutes(view) or 0) < minutes)
    ):
        seen = "seen once" if last is None else "seen a short time ago, too"
        error = f"{seen}: its first record is older than {minutes} minutes by the producer's time"
        needs = f"another audit, {minutes} minutes after the first that saw it"
        return view.unknown(_resource(row), error, needs, evidence)
    confidence = Confidence.MEASURED
    if any(view.settings.get(broker, _TWO_PHASE).value == "true" for broker in view.settings.brokers):
        confidence = Confidence.SUSPECTED
    return view.judge(
        _resource(row),
        Status.FAIL,
        evidence,
        severity=None if past else Severity.MEDIUM,
        confidence=confidence,
        minutes=minutes,
        advice="abort" if gap is None and past else "unknown",
        state="unknown" if gap is not None else "no coordinator has it",
        unread=None if gap is None else gap["error"],
        lasts="never ended" if past else "stays open",
        since=f"its first record is older than {minutes} minutes" if past else "it was open in the previous audit",
    )
