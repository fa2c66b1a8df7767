"""What to do on a finding: the `## What to do` of its check's page, filled with evidence."""

import inspect
import re
from collections.abc import Mapping

from kafka_audit.checks import Check
from kafka_audit.model.finding import Status
from kafka_audit.model.text import is_plain_word


def remedy(check: Check, status: Status, reported: Mapping[str, str]) -> str:
    """Return what to do, with the placeholders of the check's page filled; "" where there is nothing to do."""
    if status is Status.UNKNOWN and reported.get("needs", "none") != "none":
        return f"To know: {reported['needs']}"
    if status not in {Status.FAIL, Status.UNKNOWN}:
        return ""
    return filled_page(what_to_do(check), reported)


def filled_page(page: str, reported: Mapping[str, str]) -> str:
    """Return a page with its placeholders filled."""
    parts = re.split(r"(`[^`]*`)", page)
    return "".join(_filled(part, reported, in_code=part.startswith("`")) for part in parts)


def _filled(text: str, reported: Mapping[str, str], *, in_code: bool) -> str:
    """Fill placeholders; in code only with plain words, so that no name from the cluster can run when a command is copied."""

    def value(match: re.Match[str]) -> str:
        if match[1] not in reported:
            return match[0]
        return reported[match[1]] if not in_code or is_plain_word(reported[match[1]]) else f"<{match[1]}>"

    return re.sub(r"\{(\w+)\}", value, text)


def what_to_do(check: Check) -> str:
    """Return the `## What to do` section of a check's page as plain text: a paragraph is a line, list and code lines stay."""
    section = re.search(r"^## What to do\s*\n(.*?)(?=^## |\Z)", inspect.cleandoc(check.doc), re.MULTILINE | re.DOTALL)
    if section is None:
        return ""
    paragraphs = re.split(r"\n\s*\n", section[1].strip())
    return "\n".join(re.sub(r"\n(?![-*] |[0-9]+[.)] | )", " ", paragraph) for paragraph in paragraphs)
