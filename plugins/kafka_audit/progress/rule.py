"""The rule by which something on its way moves or stands still, the same for all kinds.

It stands still if its measure is the same in both samples and in the previous snapshot, for longer than its kind ordinarily
takes. The previous report has counted for how long; else the previous snapshot decides, or a time of its own, as the start of a
transaction. Where there is none of them, the state is unknown for now.
"""

from dataclasses import dataclass
from datetime import UTC, datetime
from math import ceil

from kafka_audit.cluster.view import ClusterView
from kafka_audit.model.progress import ProgressRow, State, progress_kinds
from kafka_audit.model.tables import OrdinaryTime, Sample, Snapshot
from kafka_audit.model.text import counted

Measure = int | str | None
_MINUTE_MS, _LEAST_DONE = 60_000, 0.5


@dataclass(frozen=True, kw_only=True)
class Observed:
    """What a view shows of something on its way.

    Attributes:
        kind: its kind.
        parties: resources that take part, the one that is changed first.
        what: it in a few words.
        now: its measure; None: it was not read.
        sample: the measure in the sample before; None: there is none.
        earlier_ms: when that was measured, if not in a sample, as a log has it.
        snapshot: the measure in the previous snapshot; None: there is none.
        was_there: whether the previous snapshot has it at all.
        moved: whether something else shows that it moves.
        left: what is left to do, of a number; None: not known.
        left_before: what was left in the previous snapshot, else in the sample before.
        whole: the measure when all is done.
        began_ms: a time of its own since which the measure is the same.
        minutes: how long this one may ordinarily stay the same, where it has a time of its own.
        unit: of the measure.
        waits_for: what it waits for, where that is known.
        needs: what would let the measure be read.
        clients_wait: whether clients wait for it.
        aside: whether it is ordinary unless it is seen again, or stands still.
    """

    kind: str
    parties: tuple[str, ...]
    what: str
    now: Measure
    sample: Measure = None
    earlier_ms: int | None = None
    snapshot: Measure = None
    was_there: bool = False
    moved: bool = False
    left: int | None = None
    left_before: int | None = None
    whole: int | None = None
    began_ms: int | None = None
    minutes: float | None = None
    unit: str = ""
    waits_for: str = ""
    needs: str = ""
    clients_wait: bool = False
    aside: bool = False


class ProgressTimes:
    """When the samples of a view and of its previous snapshot were taken, and what the previous report has counted so far."""

    def __init__(self, view: ClusterView) -> None:
        """Read the times."""
        own = sorted(row.started_ms for row in view.of(Sample))
        self.now = own[-1] if own else 0
        self.sample = own[-2] if len(own) > 1 else None
        self.snapshot = _newest(view.previous)
        self.reported = {(row.kind, row.parties): row for row in view.reported_progress}
        self.ordinary = {name: kind.minutes for name, kind in progress_kinds().items()}
        self.ordinary |= {row.kind: row.minutes for row in view.of(OrdinaryTime)}


def _newest(snapshot: Snapshot | None) -> int | None:
    return None if snapshot is None else max((row.started_ms for row in snapshot.of(Sample)), default=None)


def judged(times: ProgressTimes, seen: Observed) -> ProgressRow:
    """Return the row of something on its way."""
    reported = times.reported.get((seen.kind, seen.parties))
    moves = seen.moved or (seen.now is not None and any(m not in {None, seen.now} for m in (seen.sample, seen.snapshot)))
    there = times.snapshot if seen.was_there else None
    seen_first = min(_known(times.now, seen.earlier_ms, there, None if reported is None else _ms(reported.since)))
    since = seen_first if seen.began_ms is None else seen.began_ms
    counted = _ms(reported.unchanged_since) if reported is not None and reported.measure == seen.now else None
    same = there if seen.snapshot is not None and seen.snapshot == seen.now else None
    unchanged = None
    if seen.now is not None and not moves:
        unchanged = min(_known(seen.began_ms, same, counted), default=None)
    ordinary = times.ordinary[seen.kind] if seen.minutes is None else seen.minutes
    state, not_known = _state(times, seen, unchanged, ordinary, moves=moves)
    earlier = seen.snapshot if seen.snapshot is not None else seen.sample
    return ProgressRow(
        kind=seen.kind,
        parties=seen.parties,
        what=seen.what,
        since=_text(since),
        minutes=_minutes(times.now - since),
        measure=seen.now,
        before=earlier,
        unit=seen.unit,
        share=_share(seen),
        waits_for=seen.waits_for,
        state=state,
        unchanged_since=None if unchanged is None else _text(unchanged),
        unchanged_minutes=None if unchanged is None else _minutes(times.now - unchanged),
        ordinary_minutes=round(ordinary),
        minutes_left=_minutes_left(times, seen) if state == "moving" else None,
        left_grows=seen.left is not None and seen.left_before is not None and seen.left > seen.left_before,
        not_known=not_known,
        clients_wait=seen.clients_wait,
        aside=seen.aside and state != "standing",
    )


def _state(times: ProgressTimes, seen: Observed, unchanged: int | None, ordinary: float, *, moves: bool) -> tuple[State, str]:
    """Return the state, and of an unknown one why, and when it will be known."""
    if seen.now is None:
        return ("moving", "") if moves else ("unknown", f"what changes was not read; needs {seen.needs}")
    if moves:
        return "moving", ""
    passed = 0.0 if unchanged is None else (times.now - unchanged) / _MINUTE_MS
    if unchanged is not None and passed >= ordinary:
        return "standing", ""
    left = ceil(ordinary - passed)
    when = f"audit again in {counted(left, 'minute')}" if left > 0 else "audit again"
    if unchanged is None:
        return "unknown", f"first seen in this audit; {when}"
    for_long = counted(minutes, "minute") if (minutes := _minutes(round(passed * _MINUTE_MS))) else "less than a minute"
    return "unknown", f"not moved for {for_long}, which is ordinary up to {counted(round(ordinary), 'minute')}; {when}"


def _share(seen: Observed) -> float | None:
    if not isinstance(seen.now, int) or not seen.whole:
        return None
    return round(max(0.0, min(1.0, seen.now / seen.whole)), 4)


def _minutes_left(times: ProgressTimes, seen: Observed) -> int | None:
    """Return when nothing will be left, by what was done since the previous snapshot, else since the sample before.

    A load that makes more of it seldom lasts as long as a copy: at least half of what was copied counts as done.
    """
    earlier = times.snapshot if seen.snapshot is not None else seen.earlier_ms or times.sample
    if seen.left is None or seen.left_before is None or earlier is None or times.now <= earlier:
        return None
    before = seen.snapshot if seen.snapshot is not None else seen.sample
    copied = seen.now - before if isinstance(seen.now, int) and isinstance(before, int) else 0
    done = max(seen.left_before - seen.left, copied * _LEAST_DONE)
    return None if done <= 0 else max(1 if seen.left else 0, round(seen.left * (times.now - earlier) / done / _MINUTE_MS))


def _known(*times: int | None) -> list[int]:
    return [time for time in times if time is not None]


def _minutes(ms: int) -> int:
    return max(0, round(ms / _MINUTE_MS))


def _ms(text: str | None) -> int | None:
    """Return a time of a report; None where it has none, or one that another party wrote and that is no time."""
    try:
        return None if text is None else round(datetime.fromisoformat(text).timestamp() * 1000)
    except (ValueError, OverflowError):
        return None


def _text(ms: int) -> str:
    return datetime.fromtimestamp(ms / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
