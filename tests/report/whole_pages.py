"""Three terminal pages that are written down whole, so that whoever changes a page shows it in the diff."""

from pathlib import Path

from incidents.case_files import judged_case
from kafka_audit.report.plain_text.terminal import terminal_report
from report.conftest import documented
from reported import report_of

WIDTH = 100
WRITTEN = {
    (family, name): Path(__file__).parent / "pages" / f"{name}.txt"
    for family, name in (
        ("cut_off", "one_broker_inferred"),
        ("undecided", "some_are_ruled_out"),
        ("quorum", "a_voter_that_nobody_reaches"),
    )
}
"""By family and name of a case of `tests/incidents/cases`."""


def page_of(family: str, name: str) -> str:
    """Return the page as it is today."""
    document, _ = documented(judged_case(family, name))
    return terminal_report(report_of(document), width=WIDTH, color=False)
