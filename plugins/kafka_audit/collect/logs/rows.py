"""What the logs of one broker say, as rows: lines of one kind together, their times made those of the epoch. Pure."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from kafka_audit.clients.read_error import clean_line
from kafka_audit.clients.secrets.masking import masked
from kafka_audit.collect.logs.lines import ProcessMatch, Scan, SignMatch, Stamp
from kafka_audit.model.tables import LogLine, RegisteredBroker

LONGEST = 400
"""Characters of a line that are kept, what is masked included."""

UNDECIDED = "not known"
MOST_ROWS = 200
"""The largest number of kinds of lines that are kept of one broker."""

_WITH_REGISTRATION = ("server.log", "command")
_LEAST_OF_LINE = 160
_QUARTER = 15 * 60_000  # what zones differ by
_FURTHEST = 14 * 3_600_000
_NEAR = 60_000  # the largest distance between a registration, or a log that grew, and its line
_AT_ONCE = 2_000  # the same for a file's own time


@dataclass(frozen=True, kw_only=True)
class Tail:
    """The tail of one log. `written_ms` is the file's own time, where that is the time of its newest line."""

    log: str
    scan: Scan
    read_ms: int
    written_ms: int | None = None
    process: tuple[ProcessMatch, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Zone:
    """The offset of the local time of a broker's host from UTC; `offset_ms` is None if unknown."""

    offset_ms: int | None
    known_by: str

    def epoch_ms(self, when: Stamp | None) -> int | None:
        """Return a line's time since the epoch."""
        if when is None or when.zoned:
            return None if when is None else when.ms
        return None if self.offset_ms is None else when.ms - self.offset_ms


def _offset(local_ms: int, epoch_ms: int, near_ms: int) -> int | None:
    """Return the zone in which a local time is that moment, None where no zone makes it so."""
    offset = round((local_ms - epoch_ms) / _QUARTER) * _QUARTER
    return offset if abs(local_ms - epoch_ms - offset) <= near_ms and abs(offset) <= _FURTHEST else None


def zone(tails: Sequence[Tail], registration: RegisteredBroker | None, before: Sequence[Tail] = ()) -> Zone:
    """Return the time zone of a broker's host by its logs.

    By the line about its registration, whose moment ZooKeeper holds as well; else by a file's own time, which is that of its
    newest line; else by a line that was written between two readings.

    Args:
        tails: what was read.
        registration: ZooKeeper's row of the broker.
        before: what was read some seconds earlier.
    """
    for tail in tails:
        if registration is not None and tail.scan.registered is not None:
            when, czxid = tail.scan.registered
            offset = _offset(when.ms, registration.registered_ms, _NEAR) if czxid in {None, registration.czxid} else None
            if offset is not None and not when.zoned:
                return Zone(offset_ms=offset, known_by="registration")
    for tail in tails:
        newest = tail.scan.newest
        if tail.written_ms is not None and newest is not None and not newest.zoned:
            offset = _offset(newest.ms, tail.written_ms, _AT_ONCE)
            if offset is not None:
                return Zone(offset_ms=offset, known_by="file")
    earlier = {tail.log: tail.scan.newest for tail in before}
    for tail in tails:
        newest, old = tail.scan.newest, earlier.get(tail.log)
        if newest is not None and old is not None and newest.ms > old.ms and not newest.zoned:
            offset = _offset(newest.ms, tail.read_ms, _NEAR)
            if offset is not None:
                return Zone(offset_ms=offset, known_by="growth")
    return Zone(offset_ms=None, known_by=UNDECIDED)


def start_ms(tails: Sequence[Tail], zone: Zone) -> int | None:
    """Return when a broker registered last, by its logs; None if they do not show it."""
    starts = [zone.epoch_ms(tail.scan.registered[0]) for tail in tails if tail.scan.registered is not None]
    return max((start for start in starts if start is not None), default=None)


def begun_ms(tails: Sequence[Tail], zone: Zone) -> int | None:
    """Return a time before which a broker registered last whose logs do not show it.

    The line about it is in server.log, so the end of this log that was read begins later, unless the process started in it.
    """
    times = [zone.epoch_ms(tail.scan.begun) for tail in tails if tail.log in _WITH_REGISTRATION]
    return max((time for time in times if time is not None), default=None)


def log_rows(  # noqa: PLR0913, PLR0917 -- whose, from where, and since when
    broker: int,
    tails: Sequence[Tail],
    reported: Zone,
    starts: Mapping[int, int],
    sample: int,
    begun: int | None = None,
) -> Iterator[LogLine]:
    """Yield a row for each kind of line, at most `MOST_ROWS`.

    Args:
        broker: whose logs they are.
        tails: of its logs.
        reported: the zone of its host.
        starts: when each broker registered last, milliseconds since the epoch, as far as that is known.
        sample: number of the sample that the rows belong to.
        begun: where it is unknown of this broker, a time at which it had registered already.
    """
    count, own = 0, starts.get(broker, begun)
    for tail in tails:
        groups: defaultdict[tuple[object, ...], list[SignMatch]] = defaultdict(list)
        for match in tail.scan.matches:
            kind = (match.exception or "").partition(":")[0]
            # Of lines by which nothing is judged, each text has its own.
            key = id(match.sign), match.part, match.about, match.address, match.detail, kind
            groups[key].append(match)
        for matches in groups.values():
            count += 1
            if count > MOST_ROWS:
                return
            about = matches[-1].about
            start = None if own is None else max(own, starts.get(broker if about is None else about, own))
            row = _row(tail, reported, matches, start)
            if broker not in starts and not row.since_start:
                row = replace(row, since_start=None)  # older than `begun`, and perhaps newer than the registration
            yield replace(row, broker_id=broker, sample=sample)


def _quoted(line: str, exception: str | None) -> str:
    """Return a line with the exception below it; of a line that is too long, the beginning."""
    if exception is None:
        return masked(line)
    below = masked(exception)
    return f"{clean_line(masked(line), max(_LEAST_OF_LINE, LONGEST - len(below) - 3))} / {below}"


def _row(tail: Tail, reported: Zone, found: Sequence[SignMatch], start: int | None) -> LogLine:
    newest = found[-1]
    times = [reported.epoch_ms(match.stamp) for match in found]
    timed = [time for time in times if time is not None]
    decided = start is not None and len(timed) == len(found)
    since = [number for number in timed if start is not None and number > start] if decided else []
    return LogLine(
        sample=0,
        broker_id=-1,
        log=tail.log,
        signature=newest.sign.id,
        part=newest.part,
        about_broker=newest.about,
        address=None if newest.address is None else clean_line(newest.address),
        detail=None if newest.detail is None else clean_line(masked(newest.detail), LONGEST),
        text=clean_line(_quoted(newest.line, newest.exception), LONGEST),
        exception=None if newest.exception is None else clean_line(masked(newest.exception), LONGEST),
        written=None if newest.stamp is None else newest.stamp.text,
        matches=len(found),
        first_ms=min(timed, default=None),
        last_ms=max(timed, default=None),
        since_start=len(since) if decided else None,
        since_ms=min(since, default=None),
        zone="line" if newest.stamp is not None and newest.stamp.zoned else reported.known_by,
        read_ms=tail.read_ms,
    )
