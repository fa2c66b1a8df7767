"""The page of a change: whether it may begin, or whether the changes are the planned ones."""

from collections.abc import Mapping, Sequence
from typing import Any

from kafka_audit import __version__
from kafka_audit.model.report import PlannedChange
from kafka_audit.model.text import start_upper
from kafka_audit.report.html.templating import jinja_environment
from kafka_audit.report.verdicts import TONES, Section

MOST_PLACES = 20
"""Resources that are named in a line; the others are counted."""


def decision_page(  # noqa: PLR0913 -- what a page of a change shows
    report: Mapping[str, Any], sections: Sequence[Section], steps: Sequence[PlannedChange], *, up: str, note: str, run_link: str
) -> str:
    """Return the page.

    Args:
        report: of `change.before` or `change.after`.
        sections: the same in lines.
        steps: those of the change.
        up: the relative path to the root of the pages.
        note: what comes of it; may be empty.
        run_link: where Airflow shows the run; may be empty.
    """
    coverage = report["coverage"]
    return (
        jinja_environment()
        .get_template("decision.j2")
        .render(
            inline=None,
            version=__version__,
            section="clusters",
            up=up,
            report=report,
            at=report.get("decided_at") or report.get("compared_at"),
            verdict=report["verdict"].upper(),
            tone=TONES.get(report["verdict"], "unknown"),
            headline=start_upper(report.get("reason", report["headline"])),
            what=report.get("subject", ""),
            complete=coverage["answered"] >= coverage["asked"],
            sections=sections,
            steps=steps,
            note=note,
            run_link=run_link,
            most=MOST_PLACES,
        )
    )
