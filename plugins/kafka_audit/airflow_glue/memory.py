"""What is told, and what was told before: one pure decision, `(memory, audit, now) -> messages, memory`.

A message is sent when an incident is new, when it got worse, as a reminder, and when it is over; when a cluster was not audited,
and when it is again. An incident is the same as long as any failure of it goes on, whatever its headline says meanwhile. What
could not be judged is neither over nor repeated.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any

from kafka_audit.airflow_glue.seen import AUDIT, COVERAGE, Audited, Limits, Seen, is_over, seen, verdict
from kafka_audit.model.finding import Severity
from kafka_audit.model.text import counted

VERSION = 1


class Change(StrEnum):
    """The first word of a subject."""

    NOT_AUDITED = "NOT AUDITED"
    AUDITED_AGAIN = "AUDITED AGAIN"
    NEW = "NEW"
    WORSE = "WORSE"
    STILL = "STILL"
    RESOLVED = "RESOLVED"


@dataclass(frozen=True, kw_only=True)
class Told:
    """Something that is told and not over: an incident, too few answers, or an audit that judged nothing.

    Attributes:
        key: stays the same until it is over; mails of one key are one thread.
        now: as it was seen last.
        parties: brokers, else topics, that were ever told as concerned.
        severity: the worst that was told.
        since: when it was told first, ISO 8601.
        sent: when it was told last.
        audits: how many saw it.
    """

    key: str
    now: Seen
    parties: tuple[str, ...]
    severity: str
    since: str
    sent: str
    audits: int = 1


@dataclass(frozen=True, kw_only=True)
class Memory:
    """What one channel was told of one cluster.

    Attributes:
        told: what is open.
        verdict: the last judgement in a few words, "" before the first.
        judged_at: when that was, ISO 8601.
        failed: audits since then that judged nothing.
        newest: when the newest audit ended that was decided on; an older one, judged again, tells nothing.
    """

    told: tuple[Told, ...] = ()
    verdict: str = ""
    judged_at: str = ""
    failed: int = 0
    newest: str = ""

    def to_json(self) -> str:
        """Return the text that `from_json` reads."""
        return json.dumps({"version": VERSION} | asdict(self), indent=2)

    @classmethod
    def from_json(cls, text: str | bytes) -> "Memory":
        """Read what `to_json` wrote; raises `ValueError` for anything else."""
        try:
            raw = json.loads(text)
            if raw.pop("version") != VERSION:
                msg = "written by another version"
                raise ValueError(msg)
            told = tuple(_told(one) for one in raw.pop("told"))
            return cls(told=told, **raw)
        except (KeyError, TypeError, AttributeError, RecursionError) as error:
            raise ValueError(str(error)) from error


def _told(raw: dict[str, Any]) -> Told:
    now = raw.pop("now")
    findings = tuple((str(code), str(resource)) for code, resource in now.pop("findings"))
    at_last = Seen(**now | {"findings": findings, "parties": tuple(now["parties"])})
    return Told(**raw | {"now": at_last, "parties": tuple(raw["parties"])})


@dataclass(frozen=True, kw_only=True)
class Message:
    """One thing to tell.

    Attributes:
        change: what happened.
        told: what it happened to, as it is remembered from now on.
        lasted: since it was told first.
        joined: parties that are concerned for the first time; only where the change is WORSE.
        before: the last judgement before audits failed, or the first one after; only where that is the subject.
    """

    change: Change
    told: Told
    lasted: timedelta
    joined: tuple[str, ...] = ()
    before: str = ""


def decide(memory: Memory, audited: Audited, now: datetime, limits: Limits) -> tuple[tuple[Message, ...], Memory]:
    """Decide what to tell of an audit.

    Args:
        memory: what was told.
        audited: the audit.
        now: with a time zone.
        limits: from when on a finding counts, and when to remind.

    Returns:
        The messages, and the memory to keep once they are sent.
    """
    document = audited.document
    ended = str((document or {}).get("finished_at") or "")
    if document is not None and ended and ended <= memory.newest:
        return (), memory
    found = seen(audited, limits)
    matched, unmatched = _matched(memory.told, found)
    told = [_goes_on(was, one, now, limits) for was, one in matched]
    told += [_begins(one, memory, now) for one in unmatched]
    again = {was.key for was, _ in matched}
    for was in memory.told:
        if was.key not in again:
            told.extend(_absent(was, audited, now, limits))
    blind = audited.is_blind
    kept = tuple(one for one, message in told if message is None or not _ends(message))
    judged = "audits run" if document is None else verdict([one.now for one in kept])
    after = Memory(
        told=kept,
        verdict=memory.verdict if blind else judged,
        judged_at=memory.judged_at if blind else now.isoformat(timespec="seconds"),
        failed=memory.failed + 1 if blind else 0,
        newest=ended or memory.newest,
    )
    order = list(Change)
    messages = sorted(
        (message for _, message in told if message),
        key=lambda message: (order.index(message.change), -Severity[message.told.severity]),
    )
    return tuple(_with_verdict(message, judged, memory.failed) for message in messages), after


def as_far_as(before: Memory, after: Memory, unsent: Iterable[Message]) -> Memory:
    """Return what to keep while some of the messages on an audit are not sent yet: with the next audit they will be.

    Args:
        before: what was told before the audit.
        after: what `decide` returned.
        unsent: messages that `decide` returned with it.
    """
    open_ones = {message.told.key for message in unsent}
    told = [one for one in after.told if one.key not in open_ones] + [one for one in before.told if one.key in open_ones]
    return replace(before, told=tuple(told))


def _with_verdict(message: Message, judged: str, failed: int) -> Message:
    if message.change is not Change.AUDITED_AGAIN:
        return message
    return replace(message, before=f"{judged}, after {counted(failed, 'failed audit')}")


def _ends(message: Message) -> bool:
    return message.change in {Change.RESOLVED, Change.AUDITED_AGAIN}


def _matched(told: Sequence[Told], found: Sequence[Seen]) -> tuple[list[tuple[Told, Seen]], list[Seen]]:
    """Pair what is seen with what was told of it: the same kind, and the most failures in common, the same cause first."""
    pairs = [(was, one) for was in told for one in found if _overlap(was.now, one)]
    pairs.sort(key=lambda pair: (pair[0].now.cause != pair[1].cause, -_overlap(pair[0].now, pair[1]), pair[0].since))
    matched: list[tuple[Told, Seen]] = []
    for was, one in pairs:
        if all(was is not other and one is not partner for other, partner in matched):
            matched.append((was, one))
    return matched, [one for one in found if all(one is not partner for _, partner in matched)]


def _overlap(was: Seen, one: Seen) -> int:
    if was.kind != one.kind:
        return 0
    return 1 if one.kind in {AUDIT, COVERAGE} else len(set(was.findings) & set(one.findings))


def _goes_on(was: Told, one: Seen, now: datetime, limits: Limits) -> tuple[Told, Message | None]:
    joined = tuple(party for party in one.parties if party not in was.parties)
    worse = bool(joined) or Severity[one.severity] > Severity[was.severity]
    due = limits.remind is not None and now - datetime.fromisoformat(was.sent) >= limits.remind
    after = replace(
        was,
        now=one,
        parties=(*was.parties, *joined),
        severity=max(was.severity, one.severity, key=lambda name: Severity[name]),
        audits=was.audits + 1,
        sent=now.isoformat(timespec="seconds") if worse or due else was.sent,
    )
    if not worse and not due:
        return after, None
    change = Change.WORSE if worse else Change.STILL
    return after, Message(change=change, told=after, lasted=_lasted(was, now), joined=joined)


def _begins(one: Seen, memory: Memory, now: datetime) -> tuple[Told, Message]:
    at = now.isoformat(timespec="seconds")
    key = hashlib.sha256(f"{one.kind}\0{one.cause}\0{one.findings}\0{at}".encode()).hexdigest()[:12]
    told = Told(key=key, now=one, parties=one.parties, severity=one.severity, since=at, sent=at)
    if one.kind != AUDIT:
        return told, Message(change=Change.NEW, told=told, lasted=timedelta())
    before = f"last judged {moment(memory.judged_at)}: {memory.verdict}" if memory.judged_at else "never judged before"
    return told, Message(change=Change.NOT_AUDITED, told=told, lasted=timedelta(), before=before)


def _absent(was: Told, audited: Audited, now: datetime, limits: Limits) -> Iterable[tuple[Told, Message | None]]:
    """Tell the end of what is not seen any more, or keep it where nobody could see."""
    document = audited.document
    if audited.is_blind:
        return [(was, None)]
    if was.now.kind == AUDIT:
        return [(was, Message(change=Change.AUDITED_AGAIN, told=was, lasted=_lasted(was, now)))]
    if document is None or not is_over(was.now, document, limits):
        return [(replace(was, audits=was.audits + 1), None)]
    if _muted(was.now, document):
        return []  # its owner has accepted it, which is no repair to tell of
    return [(was, Message(change=Change.RESOLVED, told=was, lasted=_lasted(was, now)))]


def _muted(was: Seen, document: Mapping[str, Any]) -> bool:
    muted = {(f["code"], f["resource"]["name"]) for f in document["findings"] if f["muted"] and f["status"] == "FAIL"}
    return any(finding in muted for finding in was.findings)


def moment(at: str) -> str:
    """Return a time of ISO 8601 as people read it: 14 Sep 06:00 UTC."""
    return datetime.fromisoformat(at).astimezone(UTC).strftime("%d %b %H:%M UTC").lstrip("0")


def _lasted(was: Told, now: datetime) -> timedelta:
    return now - datetime.fromisoformat(was.since)
