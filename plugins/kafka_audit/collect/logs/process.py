"""Lines of a log by which the state of its process is known: starts, ends, how far a start is, errors, the last one. Pure."""

import io
import re
from collections import deque
from collections.abc import Sequence

from kafka_audit.clients.read_error import clean_line
from kafka_audit.clients.secrets.masking import masked
from kafka_audit.collect.logs.lines import ProcessMatch, Stamp, line_stamp
from kafka_audit.collect.logs.pieces import LogFile, LogPiece
from kafka_audit.collect.logs.rows import Tail, Zone
from kafka_audit.model.tables.logs import BELOW, END, ERROR, ProcessLine
from kafka_audit.says.process_lines import RECOVERING, event_in, part_in

MOST_EVENTS, MOST_ERRORS = 60, 12
_LONGEST, _MOST_BELOW, _OF_BELOW = 800, 6, 400
_BAD, _LEVEL_IN = re.compile(r"\b(?:ERROR|FATAL)\b|^Error: |^(?:[\w$]{1,80}\.){1,12}[\w$]{1,100}(?:Exception|Error)\b"), 160
_WORTH = (
    rb"ERROR|FATAL|Exception|OutOfMemory|[Ss]tarting\b|[Ss]tarted\b|STARTING|SHUTDOWN|SHUTTING|shut(?:ting)? down|signal"
    rb"|Shutdown broker|Log4jController|unregistered|oading logs|Recovering |completed in |loaded in "
    rb"|Attempting recovery|unable to register"
).split(b"|")
_NUMBERS = re.compile(r"\d+")


def process_matches(log: str, data: bytes) -> tuple[ProcessMatch, ...]:
    """Return what a log says of its process: the last events, the last errors of each kind, and its last line."""
    events: deque[ProcessMatch] = deque(maxlen=MOST_EVENTS)
    errors: dict[str, ProcessMatch] = {}
    current: Stamp | None = None
    file = LogFile(log, io.BufferedReader(io.BytesIO(data)), _WORTH)
    place = 0
    for place, piece in enumerate(file.pieces(), 1):
        current = line_stamp(piece.text) or current
        kind = event_in(piece.text)
        match = ProcessMatch(kind or ERROR, _text(piece), part_in(piece.text), current, place)
        if kind is not None:
            if kind == RECOVERING and events and events[-1].kind == RECOVERING:
                events.pop()  # the last one says how far it is
            events.append(match)
        elif _BAD.search(piece.text[:_LEVEL_IN]) is not None:
            errors.pop(shape := _NUMBERS.sub("#", match.text), None)
            errors[shape] = match
            if len(errors) > MOST_ERRORS:
                del errors[next(iter(errors))]
    last = [stamp for stream in file.streams.values() if (stamp := line_stamp(stream.last)) is not None]
    end = ProcessMatch(END, "", "", max(last, default=current), place + 1)
    return (*sorted((*events, *errors.values()), key=lambda one: one.place), end)


def _text(piece: LogPiece) -> str:
    below = (clean_line(masked(line), _OF_BELOW) for line in piece.below[:_MOST_BELOW])
    return BELOW.join((clean_line(masked(piece.text), _LONGEST), *below))


def process_rows(node: int, tails: Sequence[Tail], zone: Zone, sample: int) -> tuple[ProcessLine, ...]:
    """Return them as rows, those of several files in the order of their times, where all have one."""
    found = [(tail, match) for tail in tails for match in tail.process]
    if all(match.stamp is not None for _, match in found):
        found.sort(key=lambda one: (one[1].stamp.ms if one[1].stamp else 0, one[1].kind == END))
    written = dict.fromkeys((match.kind, match.text, match.stamp) for _, match in found)  # console and server.log have the same
    rows = []
    for place, (tail, match) in enumerate(found):
        if (key := (match.kind, match.text, match.stamp)) in written or match.kind == END:
            written.pop(key, None)
            rows.append(
                ProcessLine(
                    sample=sample,
                    broker_id=node,
                    log=tail.log,
                    place=place,
                    kind=match.kind,
                    part=match.part,
                    text=match.text,
                    at_ms=zone.epoch_ms(match.stamp),
                    local_ms=None if match.stamp is None else match.stamp.ms,
                    written=None if match.stamp is None else match.stamp.text,
                    read_ms=tail.read_ms,
                )
            )
    return tuple(rows)
