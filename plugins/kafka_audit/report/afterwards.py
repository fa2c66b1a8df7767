"""What became of the incidents of an old report: each is resolved, or goes on, perhaps by another name."""

from collections.abc import Iterable

from msgspec import structs

from kafka_audit.model.report import Report
from kafka_audit.model.text import counted
from kafka_audit.report.continuity import family
from kafka_audit.report.digest import MOST_PLACES, Digest, OpenIncident, open_incidents
from kafka_audit.report.text import utc_text

_FIRST = 3
"""Incidents with another name that a notice names."""


def as_it_ended(document: Report, later: Iterable[Digest], newest: Digest) -> tuple[Report, str]:
    """Return an old report whose headlines begin with what became of them, and a notice.

    Args:
        document: the report.
        later: digests after it, oldest first; they are read until every incident is over.
        newest: the last one of them.
    """
    asked = open_incidents(document)[: len(document.incidents)]
    last, ended = dict(enumerate(asked)), dict[int, str | None]()
    for digest in later if asked else ():
        for number in [number for number in last if number not in ended]:
            found = [one for one in digest.unresolved if _goes_on(asked[number], one)]
            if found:
                last[number] = min(found, key=lambda one: one.cause != asked[number].cause)
            elif not digest.unresolved_omitted:
                ended[number] = digest.finished_at
        if len(ended) == len(asked):
            break
    heads = [
        f"RESOLVED by {utc_text(ended[number]) or 'a later audit'}" if number in ended else "STILL OPEN"
        for number in range(len(asked))
    ]
    marked = [
        structs.replace(one, headline=f"{head}: {one.headline}") for one, head in zip(document.incidents, heads, strict=True)
    ]
    renamed = [number for number, one in last.items() if number not in ended and one.cause != asked[number].cause]
    texts = [f"Incident {number + 1} goes on as: {last[number].headline} ({last[number].cause})." for number in renamed[:_FIRST]]
    counts = f": {len(ended)} of {counted(len(asked), 'incident')} {'is' if len(ended) == 1 else 'are'} resolved" if asked else ""
    count = len(newest.unresolved) + newest.unresolved_omitted
    first = f": {newest.unresolved[0].headline}" if newest.unresolved else ""
    end = f"The newest, {newest.snapshot_id}, has {counted(count, 'incident') if count else 'no incident'}{first}."
    notice = " ".join((f"This is an old report{counts}.", *texts, end))
    return structs.replace(document, incidents=tuple(marked)), notice


def _goes_on(asked: OpenIncident, one: OpenIncident) -> bool:
    """Return whether what an incident is about fails in one of a later report: as its cause, or as what follows from another."""
    codes = family(asked.cause)
    if not one.places or codes.isdisjoint(asked.places):  # it could not be judged, or its cause is no finding of the report
        return one.cause in codes
    mine, now = ({place for code in codes for place in held.places.get(code, ())} for held in (asked, one))
    return not mine.isdisjoint(now) or any(len(one.places.get(code, ())) >= MOST_PLACES for code in codes)
