"""The words of an alert: pure functions from a failure to a subject, a mail and a Slack message.

Headlines and reports quote what a cluster said, topic names and principals included; here they are made safe for the header
of a mail, for HTML and for Slack's markup.
"""

import html
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kafka_audit.airflow_glue.errors import GateFailed
from kafka_audit.model.text import clean

SUBJECT_CHARS = 180
LINE_CHARS = 1_000
MAIL_CHARS = 100_000
SLACK_CHARS = 3_000  # a message of more is hard to read on a phone; Slack itself cuts at 40,000


@dataclass(frozen=True, kw_only=True)
class Alert:
    """One failed task in words; every text as it came, to be made safe by whoever shows it."""

    subject: str
    text: str
    report: str
    log_url: str


def of_failure(exception: object, *, task: str, log_url: str) -> Alert:
    """Describe a failure.

    Args:
        exception: what the task raised; a text, or None, when its process died and somebody else tells.
        task: the task's id.
        log_url: where its log is.
    """
    if isinstance(exception, GateFailed):
        state = exception.lifecycle or "not audited"
        subject = f"[{state.upper()}] {exception.cluster}: {exception.headline.removeprefix('not audited: ')}"
        return Alert(subject=subject, text=exception.text, report=exception.report, log_url=log_url)
    why = str(exception) if exception else "its process died"
    return Alert(subject=f"[NOT AUDITED] task {task} failed: {why}", text="", report="", log_url=log_url)


def lifecycle(document: Mapping[str, Any]) -> str:
    """Say whether what fails is new: of the first incident's findings, else of all unmuted failures, is any one new?"""
    failed = [finding for finding in document["findings"] if finding["status"] == "FAIL" and not finding["muted"]]
    if document["incidents"]:
        chosen = set(document["incidents"][0]["findings"])
        failed = [finding for finding in failed if finding["fingerprint"] in chosen]
    return "new" if any(finding["lifecycle"] == "new" for finding in failed) else "ongoing"


def subject(alert: Alert) -> str:
    """Return the subject as one line without control characters, so that no text of a cluster becomes a header."""
    return clean(alert.subject, SUBJECT_CHARS)


def mail(alert: Alert) -> str:
    """Return the body as HTML that looks like a terminal: the notifier sends nothing but HTML."""
    text = "\n".join([subject(alert), "", *_lines(alert, MAIL_CHARS), "", *_places(alert)])
    return f'<pre style="font-family: monospace; white-space: pre-wrap">{html.escape(text)}</pre>'


def slack(alert: Alert) -> str:
    """Return the message in Slack's mrkdwn, everything quoted escaped."""
    quoted = "\n".join(_lines(alert, SLACK_CHARS))
    block = [f"```{_for_slack(quoted)}```"] if quoted else []
    return "\n".join([f"*{_for_slack(subject(alert))}*", *block, *map(_for_slack, _places(alert))])


def _lines(alert: Alert, most: int) -> list[str]:
    """Return the report's lines, each cleaned, up to a number of characters."""
    text = alert.text.strip("\n")
    lines = text[:most].split("\n") if text else []
    rest = ["… the rest is in the report"] if len(text) > most else []
    return [*(clean(line, LINE_CHARS) for line in lines), *rest]


def _places(alert: Alert) -> list[str]:
    report = [f"Report: {clean(alert.report, LINE_CHARS)}"] if alert.report else []
    return [*report, f"Log: {clean(alert.log_url, LINE_CHARS)}"]


def _for_slack(text: str) -> str:
    # The three escapes that Slack documents; a backtick has none, and three of them would end the block.
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("`", "'")
