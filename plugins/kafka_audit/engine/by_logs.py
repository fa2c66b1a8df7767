"""What a broker's own log measures of what Spark inferred: the controller, or a follower, writes that it gets no connection."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from kafka_audit.checks.inter_broker import InterBroker
from kafka_audit.checks.log_lines import LogLines, says
from kafka_audit.model.finding import Confidence, Judgement, Status
from kafka_audit.model.tables import LogLine, Snapshot

CODE = "KA302"
_RESOURCE = re.compile(r"broker/(\d{1,10})/listener/(.+)")


def measured(snapshot: Snapshot, judgements: Iterable[Judgement]) -> Iterator[Judgement]:
    """Yield judgements; a cut between brokers that was inferred is measured where the log of one that is cut off says so."""
    lines = LogLines(InterBroker(snapshot)) if snapshot.of(LogLine) else None
    for judgement in judgements:
        yield judgement if lines is None else _measured(lines, judgement)


def _measured(lines: LogLines, judgement: Judgement) -> Judgement:
    place = _RESOURCE.fullmatch(judgement.resource) if judgement.code == CODE else None
    if place is None or judgement.status is not Status.FAIL or judgement.confidence is Confidence.MEASURED:
        return judgement
    cut_off = {int(one) for one in re.findall(r"\d+", judgement.evidence.get("from", ""))}
    counting = [row for row in lines.counting(CODE, int(place[1]), place[2]) if not cut_off or row.broker_id in cut_off]
    if not counting:
        return judgement
    told = {**judgement.evidence, "cannot": "cannot", "layer": "tcp", "why": says(counting[0])}
    told.pop("rivals", None)
    return replace(judgement, confidence=Confidence.MEASURED, evidence=told)
