"""Messages as a subject, a mail and a Slack message: escaped for the header of a mail, for HTML and for Slack's markup.

Headlines and reports quote what a cluster said, topic names and principals included.
"""

import html
from collections.abc import Mapping, Sequence
from enum import Enum

from kafka_audit.alerting.messages import AlertMessage
from kafka_audit.model.text import our_line
from kafka_audit.report.plain_text import markdown
from kafka_audit.report.text import wrap

SUBJECT_CHARS = 180
LINE_CHARS = 1_000
MAIL_CHARS = 100_000

_LINK = '<a href="{url}" style="color: #0b5fad">{name}</a>'
_PRE = "font-family: monospace; font-size: 13px; white-space: pre-wrap"


def subject(message: AlertMessage) -> str:
    """Return the subject as one line without control characters, so that no text of a cluster becomes a header."""
    return our_line(message.subject, SUBJECT_CHARS)


def plain_text(message: AlertMessage) -> str:
    """Return the mail's plain part."""
    parts = [
        [subject(message)],
        [line for fact in _facts(message) for line in _wrapped(fact)],
        _reasons(message),
        [f"{name}: {link}" for name, link in _links(message)],
    ]
    return "\n\n".join("\n".join(part) for part in parts if part) + "\n"


def html_mail(message: AlertMessage) -> str:
    """Return the mail's HTML part: inline style only, everything quoted escaped."""
    facts = "<br>".join(map(html.escape, _facts(message)))
    reasons = html.escape("\n".join(_reasons(message)))
    links = "<br>".join(_anchor(name, link) for name, link in _links(message))
    return "\n".join(
        [
            f'<h2 style="font-size: 18px">{html.escape(subject(message))}</h2>',
            f'<p style="{_PRE}">{facts}</p>',
            *([f'<pre style="{_PRE}">{reasons}</pre>'] if reasons else []),
            *([f"<p>{links}</p>"] if links else []),
        ]
    )


def slack(message: AlertMessage) -> str:
    """Return the message in Slack's mrkdwn, short enough for a phone, everything quoted escaped."""
    lines = [f"*{_mrkdwn(subject(message))}*"]
    lines += [f"> {_mrkdwn(fact)}" for fact in _facts(message)]
    if message.impact:
        lines.append(_mrkdwn(our_line(message.impact, LINE_CHARS)))
    # A command is whole or in the report. No backtick is in one, and Slack shows the rest as it is.
    if message.command and len(message.command) <= LINE_CHARS:
        lines.append(f"`{_mrkdwn(our_line(message.command, LINE_CHARS))}`")
    if message.step:
        lines.append(_mrkdwn(our_line(message.step, LINE_CHARS)))
    lines += [f"<{_mrkdwn(link)}|{name}>" if _is_web(link) else f"{name}: {_mrkdwn(link)}" for name, link in _links(message)]
    return "\n".join(lines)


class Markup(Enum):
    """What a channel makes of characters in a text."""

    NONE = "plain text"
    HTML = "HTML"
    MARKDOWN = "Markdown"
    SLACK = "Slack's mrkdwn"


def placeholders(message: AlertMessage, markup: Markup) -> Mapping[str, str]:
    """Return what the placeholders of a notifier's argument stand for, escaped for the channel that shows it."""
    text = html_mail(message) if markup is Markup.HTML else _escaped(plain_text(message), markup)
    return {"subject": _escaped(subject(message), markup), "text": text, "key": message.key, "action": message.action}


def _escaped(text: str, markup: Markup) -> str:
    match markup:
        case Markup.HTML:
            return html.escape(text)
        case Markup.SLACK:
            return _mrkdwn(text)
        case Markup.MARKDOWN:
            return "\n".join(markdown.escaped(line, LINE_CHARS) for line in text.split("\n"))
        case Markup.NONE:
            return text


def _wrapped(fact: str) -> list[str]:
    """Return a line of a mail in lines that a terminal holds; what follows `NEW      ` stays in its column."""
    label, _, _ = fact.partition(" ")
    return [*wrap(fact, 80, "", " " * 9 if label.isupper() else "")]


def _facts(message: AlertMessage) -> list[str]:
    return [our_line(fact, LINE_CHARS) for fact in message.facts]


def _reasons(message: AlertMessage) -> list[str]:
    """Return the reasons' lines, each cleaned and whole, because one may be a command; as many as a mail should hold."""
    reasons = message.reasons.strip("\n")
    is_long = len(reasons) > MAIL_CHARS
    shown = reasons[:MAIL_CHARS].rpartition("\n")[0] if is_long else reasons
    rest = ["… the rest is in the report"] if is_long else []
    return [*(our_line(line, MAIL_CHARS) for line in shown.split("\n") if shown), *rest]


def _links(message: AlertMessage) -> Sequence[tuple[str, str]]:
    links = (("Report", message.links.report), ("Log", message.links.log), ("Stored", message.links.stored))
    return [(name, our_line(link, LINE_CHARS)) for name, link in links if link]


def _is_web(link: str) -> bool:
    return link.startswith(("https://", "http://"))


def _anchor(name: str, link: str) -> str:
    if not _is_web(link):
        return f"{name}: {html.escape(link)}"
    return _LINK.format(url=html.escape(link), name=name)


def _mrkdwn(quoted: str) -> str:
    # The three escapes that Slack documents; a backtick has none, and would end the command.
    return quoted.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("`", "'")
