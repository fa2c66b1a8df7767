"""What brokers' own logs measure of what Spark can only infer: cuts between brokers, and sessions that expired."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from kafka_audit.checks.inter_broker import InterBroker
from kafka_audit.checks.log_lines import LogLines, says, when
from kafka_audit.checks.reads import last_reads
from kafka_audit.checks.rows import newest
from kafka_audit.model.finding import Confidence, Judgement, Status
from kafka_audit.model.tables import LogLine, RegisteredBroker, Snapshot
from kafka_audit.model.text import counted

CUT, SESSION = "KA302", "KA805"
_RESOURCE = re.compile(r"broker/(\d{1,10})(?:/listener/(.+))?")
_EARLIER_MS, _LATER_MS = 180_000, 10_000  # between a session's end and the next registration; clocks differ by seconds


def measured(snapshot: Snapshot, judgements: Iterable[Judgement]) -> Iterator[Judgement]:
    """Yield judgements, those of KA302 and KA805 with what the logs that were read say of them."""
    read = {row.observer for row in last_reads(snapshot) if row.observer.startswith("logs:") and row.outcome == "answered"}
    if not read and not snapshot.of(LogLine):
        yield from judgements
        return
    lines = LogLines(InterBroker(snapshot))
    registered = {row.broker_id: row.registered_ms for row in newest(snapshot, RegisteredBroker)}
    for judgement in judgements:
        place = _RESOURCE.fullmatch(judgement.resource) if judgement.code in {CUT, SESSION} else None
        if place is None or judgement.status not in {Status.FAIL, Status.UNKNOWN}:
            yield judgement
        elif judgement.code == CUT:
            yield _cut(lines, judgement, int(place[1]), place[2])
        else:
            broker = int(place[1])
            yield _session(lines, judgement, registered.get(broker), f"logs:{broker}" in read)


def _cut(lines: LogLines, judgement: Judgement, broker: int, listener: str | None) -> Judgement:
    """A cut that was inferred is measured where the log of one that is cut off says so."""
    if judgement.status is not Status.FAIL or judgement.confidence is Confidence.MEASURED:
        return judgement
    cut_off = {int(one) for one in re.findall(r"\d+", judgement.evidence.get("from", ""))}
    counting = [row for row in lines.counting(CUT, broker, listener) if not cut_off or row.broker_id in cut_off]
    if not counting:
        return judgement
    told = {**judgement.evidence, "cannot": "cannot", "layer": "tcp", "why": says(counting[0])}
    told.pop("rivals", None)
    return replace(judgement, confidence=Confidence.MEASURED, evidence=told)


def _session(lines: LogLines, judgement: Judgement, registered_ms: int | None, read: bool) -> Judgement:  # noqa: FBT001
    """A session that was replaced had expired where the log says so just before the registration, or since."""
    broker = int(judgement.evidence["broker"])
    expired = [row for row in lines.told(SESSION, broker) if row.signature == "session_expired" and _fits(row, registered_ms)]
    told = {key: value for key, value in judgement.evidence.items() if key not in {"error", "needs"}}
    if expired:
        row = expired[-1]
        why = f"its log says that it expired {counted(row.matches, 'time')}, last {when(row)}"
        return replace(judgement, status=Status.FAIL, confidence=Confidence.MEASURED, evidence=told | {"why": why})
    if judgement.status is Status.UNKNOWN and read:
        error = "its session is a new one since, and its log, as far as it was read, tells of no other that expired"
        needs = "lines of its log from before its registration, with a time that can be read"
        return replace(judgement, evidence=told | {"error": error, "needs": needs})
    return judgement


def _fits(row: LogLine, registered_ms: int | None) -> bool:
    if row.last_ms is None or registered_ms is None:
        return False
    return -_LATER_MS <= registered_ms - row.last_ms <= _EARLIER_MS or bool(row.since_start)
