"""The page of one audit, on a server or as one self-contained file."""

import base64
import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from kafka_audit import __version__
from kafka_audit.cluster.answers.reads import observer_name
from kafka_audit.model.finding import CHANGES
from kafka_audit.model.report import Report, ReportedViews
from kafka_audit.model.text import clean
from kafka_audit.report import remedies, unknowns
from kafka_audit.report import state as states
from kafka_audit.report.html import filters, picture
from kafka_audit.report.html.filters import Wanted
from kafka_audit.report.html.templating import asset, jinja_environment
from kafka_audit.report.left_behind import left_behind
from kafka_audit.report.on_its_way import SHOWN, progress_lines, shown_rows
from kafka_audit.report.parties import agreement
from kafka_audit.report.parties.matrix import brokers_text
from kafka_audit.report.parties.quorum import quorum_text
from kafka_audit.report.parties.views import NOT_ASKED, who
from kafka_audit.report.what_if.next_failure import loss_columns, shown_losses

IN_FILE = 300
"""Rows of findings that a self-contained file lists; with 5,000 of them it would be slow to open. findings.json has all."""
_IN_ROW = 20
"""Equal findings that an opened row lists."""

_MOST_UNKNOWN = 200
_ALIKE = 5
_WIDEST_VIEWS = 8


@dataclass(frozen=True, kw_only=True)
class Around:
    """What a server knows around a report.

    Attributes:
        up: relative path to the root of the pages, ending in a slash.
        here: relative path to the page of this cluster.
        newest: whether there is no later report on this cluster.
        age: how long ago it was asked, in words.
        notice: a sentence above everything else, e.g. that this is an old report.
        run: id of the DAG run that led here, to be kept in addresses.
        run_link: where Airflow shows that run.
        min_coverage: share of asked reads below which nothing is judged.
    """

    up: str
    here: str
    newest: bool = True
    age: str = ""
    notice: str = ""
    run: str = ""
    run_link: str = ""
    min_coverage: float = 1.0


def cluster_page(document: Report, around: Around, *, wanted: Wanted, mode: str = "worst", fold: bool | None = None) -> str:
    """Return the page of a report, with findings filtered and the matrix drawn as the address says."""
    shown = mode if mode in picture.MODES else "worst"
    drawn = picture.build_picture(document.matrix, mode=shown, fold=fold)
    kept = {
        **({"run": around.run} if around.run else {}),
        **({"mode": shown} if shown != "worst" else {}),
        **({} if fold is None else {"fold": str(int(fold))}),
    }
    folding = {"fold": str(int(not (drawn and drawn.folded)))}
    codes, brokers = filters.filter_choices(document.findings)
    return (
        jinja_environment()
        .get_template("cluster.j2")
        .render(
            **_common(document, around.min_coverage),
            inline=None,
            section="clusters",
            up=around.up,
            here=around.here,
            is_newest=around.newest,
            age=around.age,
            notice=around.notice,
            run_link=around.run_link,
            picture=drawn,
            modes=picture.MODES,
            mode_link=lambda name: f"?{wanted.query(kept | {'mode': name}, page=wanted.page)}",
            fold_link=f"?{wanted.query(kept | folding, page=wanted.page)}",
            page=filters.findings_page(document, wanted),
            form={
                "wanted": wanted,
                "choices": filters.CHOICES,
                "codes": codes,
                "brokers": brokers,
                "kept": kept,
                "address": lambda changed: (wanted if changed else Wanted()).query(kept, **changed),
                "each": lambda code: wanted.query(kept, code=code, rows="each"),
            },
            rest=(),
        )
    )


def standalone(document: Report, notice: str = "") -> str:
    """Return one HTML file that needs nothing else, below a notice; findings beyond `IN_FILE` are counted by check."""
    page = filters.findings_page(document, Wanted(), per_page=IN_FILE)
    left = Counter(f.code for f in document.findings if f.status in {"FAIL", "UNKNOWN"})
    left.subtract(finding.code for row in page.rows for finding in row.findings)
    return (
        jinja_environment()
        .get_template("cluster.j2")
        .render(
            **_common(document, 1.0),
            inline=inline_assets(),
            section="",
            up=None,
            here="",
            is_newest=True,
            age="",
            notice=notice,
            run_link="",
            picture=picture.build_picture(document.matrix),
            modes={},
            page=page,
            form=None,
            rest=[f"{number} {code}" for code, number in left.items() if number],
        )
    )


def _common(document: Report, min_coverage: float) -> dict[str, Any]:
    on_its_way = shown_rows(document.progress)
    return {
        "document": document,
        "origin": remedies.origin_note(document),
        "brokers_text": brokers_text(document.matrix),
        "state": states.state_of_report(document, min_coverage),
        "steps": remedies.STEPS,
        "changes_observer": CHANGES,
        "counts_text": _counts(document),
        "quorum": document.quorum,
        "quorum_text": quorum_text,
        "progress": progress_lines(on_its_way[:SHOWN]),
        "progress_more": len(on_its_way[SHOWN:]) + document.progress_omitted,
        "next_failure": document.next_failure,
        "left_behind": left_behind(document),
        "loss_columns": loss_columns,
        "shown_losses": shown_losses,
        "in_row": _IN_ROW,
        "agreed": agreement.agreed(document),
        "unanswered": agreement.without_answer(document),
        "unknown": list(_unknown(document)),
        "views": _views(document.views),
        "version": __version__,
    }


def inline_assets() -> Mapping[str, Any]:
    """Return the style, the script and the policy of a page that is one file."""
    css, script = asset("page.css"), asset("page.js")
    policy = (
        f"default-src 'none'; style-src '{_hash(css)}'; script-src '{_hash(script)}';"
        " img-src data:; base-uri 'none'; form-action 'none'"
    )
    # Ours, and read from this package: escaping would break them.
    return {"css": Markup(css), "js": Markup(script), "policy": Markup(policy)}  # noqa: S704


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _counts(document: Report) -> str:
    counts = document.lifecycle_counts
    reported = ", ".join(f"{number} {name}" for name, number in counts.items() if number) or "no failures, now or before"
    previous = document.previous_snapshot_id
    return f"Compared with {clean(previous)}: {reported}." if previous else f"There is no earlier snapshot: {reported}."


def _unknown(document: Report) -> Iterator[Mapping[str, Any]]:
    """Yield reads that failed by what would make them answer: one missing right is one line, not a line for each read."""
    found: dict[str, list[str]] = {}
    trust = " ".join(unknowns.trusted_hosts_advice(document))
    for read in document.coverage.unknown:
        text = f"{observer_name(read.observer)}, {clean(read.operation)}: {clean(read.error, 300)}"
        needs = trust if unknowns.untrusted_host(read) else clean(read.needs or "", 400).rstrip(".")
        found.setdefault(needs, []).append(text)
    for needs, lines in list(found.items())[:_MOST_UNKNOWN]:
        yield {"needs": needs, "lines": lines[:_ALIKE], "more": max(len(lines) - _ALIKE, 0)}


def _views(views: ReportedViews) -> Mapping[str, Any] | None:
    """Return the views as rows whose values differ somewhere, apart from what all say; nothing where all say the same."""
    if len(views.columns) < 2:  # noqa: PLR2004 -- one column is agreement
        return None
    columns = views.columns[:_WIDEST_VIEWS]
    rows, equal = [], []
    for number, question in enumerate(views.rows):
        first, *others = (column.values[number] for column in views.columns)  # also those that are too many to show
        if {*others} == {first}:
            equal.append((question, first))
        else:
            values = [(value, value not in {first, NOT_ASKED}) for value in (first, *others)]
            rows.append({"question": question, "values": values[:_WIDEST_VIEWS]})
    return {"columns": [{"title": who(column.observers)} for column in columns], "rows": rows, "equal": equal}
