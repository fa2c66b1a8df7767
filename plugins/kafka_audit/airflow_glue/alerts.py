"""The words of an alert: pure functions from a message to a subject, a mail and a Slack message.

Headlines and reports quote what a cluster said, topic names and principals included; here they are made safe for the header
of a mail, for HTML and for Slack's markup.
"""

import html
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from kafka_audit.airflow_glue.memory import Change, Message, moment
from kafka_audit.airflow_glue.seen import INCIDENT, Audited
from kafka_audit.model.text import clean, counted, listing
from kafka_audit.report import terminal

SUBJECT_CHARS = 180
LINE_CHARS = 1_000
MAIL_CHARS = 100_000
TEXT_WIDTH = 80
MOST_ALERTS = 10
"""Messages on one audit; 30 brokers that are gone are 30 incidents, and nobody reads 30 mails."""

MOST_LISTED = 50
_GROUPS = 6
"""Resources of one lifecycle that are named; the others are counted."""

_LINK = '<a href="{url}" style="color: #0b5fad">{name}</a>'
_PRE = "font-family: monospace; font-size: 13px; white-space: pre-wrap"


@dataclass(frozen=True, kw_only=True)
class Places:
    """Where to read on: addresses of pages, and the path of the report in the store; each may be empty."""

    report: str = ""
    log: str = ""
    stored: str = ""


@dataclass(frozen=True, kw_only=True)
class Alert:
    """A message in words; every text as it came, to be made safe by whoever shows it.

    Attributes:
        key: mails of one key are one thread.
        first: whether it is the first of its key.
        subject: the change, the cluster and the headline.
        action: trigger, or resolve where something is over; the words of services that page people.
        facts: one line each: how bad, since when, what is new.
        impact: who suffers now; may be empty.
        reasons: the incident as on a terminal, plain; may be empty.
        command: the first thing to look at, as it can be typed; may be empty.
        places: where to read on.
        document: the report to attach; None where there is none, or nothing to read in it.
    """

    key: str
    first: bool
    subject: str
    action: str = "trigger"
    facts: tuple[str, ...] = ()
    impact: str = ""
    reasons: str = ""
    command: str = ""
    places: Places = Places()
    document: Mapping[str, Any] | None = None


def of_message(message: Message, audited: Audited, places: Places) -> Alert:
    """Put a message into words."""
    told, document = message.told, audited.document
    incident = _incident(message, document)
    change = message.change.value
    if message.change is Change.STILL:
        change = f"{change}, {duration(message.lasted)}"
    return Alert(
        key=told.key,
        first=message.change in {Change.NEW, Change.NOT_AUDITED},
        subject=f"[{change}] {audited.cluster}: {_headline(message)}",
        action="resolve" if message.change in {Change.RESOLVED, Change.AUDITED_AGAIN} else "trigger",
        facts=tuple(_facts(message, document, incident)),
        impact="" if incident is None else incident["impact"],
        reasons="" if document is None or incident is None else terminal.reasons(document, incident, width=TEXT_WIDTH),
        command="" if incident is None else _first_command(incident),
        places=places,
        document=None if incident is None else document,
    )


def of_messages(messages: Sequence[Message], audited: Audited, places: Places) -> list[Alert]:
    """Put all messages on one audit into words; beyond the first ones, which are the worst, one alert lists the others."""
    told = [of_message(message, audited, places) for message in messages]
    if len(told) <= MOST_ALERTS:
        return told
    shown, rest = told[: MOST_ALERTS - 1], told[MOST_ALERTS - 1 :]
    listed = tuple(alert.subject for alert in rest[:MOST_LISTED])
    more = (f"… and {len(rest) - MOST_LISTED} more, in the report",) if len(rest) > MOST_LISTED else ()
    subject = f"[AND MORE] {audited.cluster}: {counted(len(rest), 'more message')} on the same audit"
    return [*shown, Alert(key=f"more-{rest[0].key}", first=True, subject=subject, facts=(*listed, *more), places=places)]


def _headline(message: Message) -> str:
    headline = message.told.now.headline
    match message.change:
        case Change.AUDITED_AGAIN:
            return message.before
        case Change.NOT_AUDITED:
            return f"{headline}; {message.before}"
        case Change.RESOLVED:
            return f"over after {duration(message.lasted)}: {headline}"
        case _:
            return headline


def _incident(message: Message, document: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """Return the incident of the report that a message is about; none where it is over, or no incident."""
    if document is None or message.change in {Change.RESOLVED, Change.AUDITED_AGAIN}:
        return None
    same = (i for i in document["incidents"] if i["headline"] == message.told.now.headline)
    return next(same, None)


def _facts(message: Message, document: Mapping[str, Any] | None, incident: Mapping[str, Any] | None) -> Iterator[str]:
    told = message.told
    if message.change in {Change.RESOLVED, Change.AUDITED_AGAIN}:
        yield f"It lasted {duration(message.lasted)}, from {moment(told.since)}, {counted(told.audits, 'audit')}."
    elif told.now.kind == INCIDENT:
        sure = f"{incident['confidence']}, " if incident else ""
        yield f"{told.now.severity}, {sure}{told.now.cause}. Since {moment(told.since)}, {counted(told.audits, 'audit')}."
    else:
        yield f"Since {moment(told.since)}. What is not seen may be broken."
    if message.joined:
        yield f"Worse: now {listing((party.replace('/', ' ', 1) for party in message.joined), _GROUPS)} too."
    if document is None:
        return
    for lifecycle in ("new", "ongoing", "resolved"):
        if groups := _groups(document, lifecycle):
            yield f"{lifecycle.upper():<9}{groups}"
    coverage, unknown = document["coverage"], document["counts"]["UNKNOWN"]
    not_known = f"; {counted(unknown, 'check')} not known" if unknown else ""
    yield f"{'ASKED':<9}{coverage['answered']} of {coverage['asked']} reads answered{not_known}"


def _groups(document: Mapping[str, Any], lifecycle: str) -> str:
    """Return `KA302 KA105 broker/3; KA606 topic/orders`: unmuted failures of that place in time, by broker or topic."""
    codes: dict[str, dict[str, None]] = {}
    for finding in document["findings"]:
        failed = finding["status"] == "FAIL" or lifecycle == "resolved"
        if failed and finding["lifecycle"] == lifecycle and not finding["muted"]:
            short = "/".join(finding["resource"]["name"].split("/")[:2])
            codes.setdefault(short, {})[finding["code"]] = None
    told = [f"{' '.join(found)} {clean(name)}" for name, found in codes.items()]
    more = f" and {len(told) - _GROUPS} more" if len(told) > _GROUPS else ""
    return "; ".join(told[:_GROUPS]) + more


def _first_command(incident: Mapping[str, Any]) -> str:
    commands = (
        command for step in incident["remediation"] if step["kind"] == "see" for command in step["commands"] if command[:1] != "#"
    )
    return next(commands, "")


def duration(lasted: timedelta) -> str:
    """Return `40 min`, `24 h`, `3 d`."""
    minutes = max(int(lasted.total_seconds()) // 60, 0)
    if minutes < 120:  # noqa: PLR2004 -- two hours read better as minutes
        return f"{minutes} min"
    return f"{minutes // 60} h" if minutes < 72 * 60 else f"{minutes // (24 * 60)} d"


def subject(alert: Alert) -> str:
    """Return the subject as one line without control characters, so that no text of a cluster becomes a header."""
    return clean(alert.subject, SUBJECT_CHARS)


def text(alert: Alert) -> str:
    """Return the mail's plain part."""
    parts = [[subject(alert)], _facts_of(alert), _lines(alert), [f"{n}: {at}" for n, at in _places(alert)]]
    return "\n\n".join("\n".join(part) for part in parts if part) + "\n"


def mail(alert: Alert) -> str:
    """Return the mail's HTML part: inline style only, everything quoted escaped."""
    facts = "<br>".join(map(html.escape, _facts_of(alert)))
    body = html.escape("\n".join(_lines(alert)))
    links = "<br>".join(_anchor(name, at) for name, at in _places(alert))
    return "\n".join(
        [
            f'<h2 style="font-size: 18px">{html.escape(subject(alert))}</h2>',
            f'<p style="{_PRE}">{facts}</p>',
            *([f'<pre style="{_PRE}">{body}</pre>'] if body else []),
            *([f"<p>{links}</p>"] if links else []),
        ]
    )


def slack(alert: Alert) -> str:
    """Return the message in Slack's mrkdwn, short enough for a phone, everything quoted escaped."""
    lines = [f"*{_for_slack(subject(alert))}*"]
    lines += [f"> {_for_slack(fact)}" for fact in _facts_of(alert)]
    if alert.impact:
        lines.append(_for_slack(clean(alert.impact, LINE_CHARS)))
    if alert.command:
        lines.append(f"`{_for_slack(clean(alert.command, LINE_CHARS))}`")
    lines += [f"<{_for_slack(at)}|{name}>" if _is_web(at) else f"{name}: {_for_slack(at)}" for name, at in _places(alert)]
    return "\n".join(lines)


def _facts_of(alert: Alert) -> list[str]:
    return [clean(fact, LINE_CHARS) for fact in alert.facts]


def _lines(alert: Alert) -> list[str]:
    """Return the reasons' lines, each cleaned, as many as a mail should hold."""
    reasons = alert.reasons.strip("\n")
    lines = reasons[:MAIL_CHARS].split("\n") if reasons else []
    rest = ["… the rest is in the report"] if len(reasons) > MAIL_CHARS else []
    return [*(clean(line, LINE_CHARS) for line in lines), *rest]


def _places(alert: Alert) -> Sequence[tuple[str, str]]:
    places = (("Report", alert.places.report), ("Log", alert.places.log), ("Stored", alert.places.stored))
    return [(name, clean(at, LINE_CHARS)) for name, at in places if at]


def _is_web(place: str) -> bool:
    return place.startswith(("https://", "http://"))


def _anchor(name: str, place: str) -> str:
    if not _is_web(place):
        return f"{name}: {html.escape(place)}"
    return _LINK.format(url=html.escape(place), name=name)


def _for_slack(quoted: str) -> str:
    # The three escapes that Slack documents; a backtick has none, and would end the command.
    return quoted.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("`", "'")
