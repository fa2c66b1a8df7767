"""What is left behind: findings about something that refers to nothing that lives, with what it breaks and how it is removed."""

from collections.abc import Iterator
from dataclasses import dataclass

from kafka_audit.checks import catalogue
from kafka_audit.model.commands import Prose
from kafka_audit.model.finding import Status
from kafka_audit.model.report import Report
from kafka_audit.report.remedies import finding_remedy
from kafka_audit.words.sentences import fill


@dataclass(frozen=True, kw_only=True)
class LeftBehind:
    """A finding, what it breaks, and how it is removed: by a sentence of its check, else by its remedy."""

    code: str
    message: str
    breaks: str
    remove: str | Prose


def left_behind(document: Report) -> tuple[LeftBehind, ...]:
    """Return what a report has of it, in its order; muted findings are left out."""
    return tuple(_rows(document))


def _rows(document: Report) -> Iterator[LeftBehind]:
    checks = catalogue()
    for finding in document.findings:
        texts = checks[finding.code].left_behind if finding.code in checks else {}
        if finding.status is not Status.FAIL or finding.muted or not texts:
            continue
        if texts.get("having", "") and not finding.evidence.get(texts["having"]):
            continue
        values = {key: tuple(value) if isinstance(value, list) else value for key, value in finding.evidence.items()}
        yield LeftBehind(
            code=finding.code,
            message=finding.message,
            breaks=fill(texts["breaks"], values),
            remove=fill(texts["remove"], values) if "remove" in texts else finding_remedy(finding),
        )
