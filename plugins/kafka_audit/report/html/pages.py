"""The pages around a report: clusters at a glance, the timeline, the catalogue, and a sentence where there is nothing to show."""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from markupsafe import Markup

from kafka_audit import __version__
from kafka_audit.checks import Check
from kafka_audit.model.finding import Status
from kafka_audit.model.text import counted
from kafka_audit.report.digest import Digest
from kafka_audit.report.html import doc_page, timeline
from kafka_audit.report.html.cluster_filter import BY_STATE, ClusterFilter, grouped, label_choices, label_names
from kafka_audit.report.html.templating import jinja_environment
from kafka_audit.report.plain_text import explain
from kafka_audit.report.state import GROUPS, INCIDENT, UNJUDGED, CheckState
from kafka_audit.report.text import time_span

TREND = 14
_FEW = 10
"""Clusters that are found at a glance, without a filter."""
_HEIGHTS = {"critical": 17, "high": 13, "medium": 9, "low": 6, "info": 6, "ok": 4, "unknown": 15, "na": 4, "no": 16}
_KEY = (("ok", "clear"), ("medium", "medium"), ("high", "high"), ("critical", "critical"), ("unknown", "not judged"))
_HOUR = 3600


@dataclass(frozen=True, kw_only=True)
class Failed:
    """An audit that came to no report: the task that failed, in which run, and when that began."""

    task: str
    run: str
    at: datetime | None


@dataclass(frozen=True, kw_only=True)
class Glance:
    """One cluster in the overview: its digests, newest first; none for one that was never audited.

    `failed` is an audit after the newest of them, `run_link` where Airflow shows it, and `labels` are those of the cluster file.
    """

    cluster: str
    link: str
    digests: Sequence[Digest]
    labels: Mapping[str, str] = field(default_factory=dict)
    failed: Failed | None = None
    run_link: str = ""


def overview_page(  # noqa: PLR0913 -- the parts around the table
    glances: Sequence[Glance],
    *,
    now: datetime,
    up: str,
    problems: Sequence[str] = (),
    title: str = "",
    notice: str = "",
    wanted: ClusterFilter | None = None,
    kept: Mapping[str, str] | None = None,
) -> str:
    """Return clusters at a glance, worst first, below `notice`; the title counts those that the filter hides, too.

    `kept` are further parts of the address, which the form of the filter keeps.
    """
    wanted = wanted or ClusterFilter()
    entries = sorted((_entry(glance, now) for glance in glances), key=_worst_first)
    listed = [entry for entry in entries if wanted.passes(entry)]
    broken, unjudged = (sum(e["state"].group == group for e in entries) for group in (INCIDENT, UNJUDGED))
    audited = any(entry["digest"] for entry in entries)
    names = label_names(entries)
    by = wanted.by if wanted.by in names else BY_STATE
    form = {
        "wanted": wanted,
        "labels": label_choices(entries, wanted),
        "by": [(BY_STATE, "state"), *((name, f"label {name}") for name in names)],
        "kept": kept or {},
        "address": lambda **changes: wanted.query(kept, **changes),
    }
    return _render(
        "overview.j2",
        up=up,
        notice=notice,
        section="clusters",
        title=title or _overview_title(len(entries), broken, unjudged, audited=audited),
        subtitle="The newest snapshot of each cluster, sorted by severity." if audited else "",
        steps=() if audited else _FIRST_STEPS[1 if entries else 0 :],
        has_trend=audited,
        groups=grouped(listed, by),
        by=by,
        by_state=by == BY_STATE,
        listed=len(listed),
        all_of=len(entries),
        form=form if names or len(entries) > _FEW or not wanted.is_everything else None,
        trend_title=f"Last {TREND} audits",
        trend_of=trend,
        trend_key=_KEY,
        problems=problems,
    )


_FIRST_STEPS = (
    "Add the cluster to the cluster file: a name and the addresses of some brokers.",
    "Trigger the DAG `kafka_audit`, or run `kafka-audit run CLUSTER` with the store of this page. An audit only reads.",
    "The report appears here: what is wrong and what to do, or that no failure was found.",
)


def _overview_title(number: int, broken: int, unjudged: int, *, audited: bool) -> str:
    """Return how many clusters have an incident; what was not judged is no good news."""
    if not audited:
        return f"No audit yet of {counted(number, 'cluster')}" if number else "No cluster has been audited"
    if broken:
        reported = f"{broken} of {counted(number, 'cluster')} {'has' if broken == 1 else 'have'} an incident"
    elif unjudged:
        reported = f"No incident in {number - unjudged} of {counted(number, 'cluster')}" if number > unjudged else ""
    else:
        reported = f"No incident in {counted(number, 'cluster')}"
    if not reported:
        return f"{counted(number, 'cluster')} not judged"
    return f"{reported}; {unjudged} not judged" if unjudged else reported


def _entry(glance: Glance, now: datetime) -> dict[str, Any]:
    newest = glance.digests[0] if glance.digests else None
    state = _with_age(glance.digests, now) if newest else _NEVER
    if glance.failed is not None and _is_later(glance.failed.at, newest):
        state = _failed(glance.failed, newest)
    return {
        "cluster": glance.cluster,
        "link": glance.link,
        "labels": glance.labels,
        "run_link": glance.run_link if state.word == _FAILED else "",
        "digest": newest,
        "state": state,
        "trend": trend([digest.state.mark for digest in reversed(glance.digests[:TREND])]),
        "age": age(newest.finished_at, now) if newest else "",
    }


_FAILED = "audit failed"


def _is_later(at: datetime | None, newest: Digest | None) -> bool:
    judged = _moment(newest.finished_at) if newest else None
    return at is None or judged is None or at > judged


def _failed(failed: Failed, newest: Digest | None) -> CheckState:
    when = f" of {failed.at.strftime('%d %b %H:%M UTC').lstrip('0')}" if failed.at else ""
    last = f" Last report: {newest.state.sentence}." if newest else " There is no earlier report."
    sentence = f"Not audited: the run{when} has no report, because its task `{failed.task}` failed.{last}"
    return CheckState(group=UNJUDGED, mark="no", word=_FAILED, note="see its log", sentence=sentence)


_NEVER = CheckState(group=UNJUDGED, mark="na", word="never audited", note="in the cluster file", sentence="No audit yet.")


def _with_age(digests: Sequence[Digest], now: datetime) -> CheckState:
    """Return the newest state; one that should have been followed by others long ago says nothing of today."""
    newest = digests[0]
    times = [moment for moment in (_moment(digest.finished_at) for digest in digests) if moment]
    gaps = sorted((a - b).total_seconds() for a, b in itertools.pairwise(times))
    late = (now - times[0]).total_seconds() if times else 0.0
    if len(gaps) < 3 or late < max(3 * gaps[len(gaps) // 2], _HOUR):  # noqa: PLR2004 -- fewer make no habit
        return newest.state
    missed = counted(int(late // max(gaps[len(gaps) // 2], 1)), "audit")
    sentence = f"{time_span(late)} ago: {newest.state.sentence}"
    if newest.state.group == INCIDENT:  # it is open until an audit resolves it
        return replace(newest.state, note=f"{newest.state.note}; {missed} missed", sentence=sentence)
    return replace(newest.state, group=UNJUDGED, mark="unknown", word="stale", note=f"{missed} missed", sentence=sentence)


def _worst_first(entry: Mapping[str, Any]) -> tuple[int, int, int, str]:
    incidents = entry["digest"].basis.incidents if entry["digest"] else 0
    return GROUPS.index(entry["state"].group), -_HEIGHTS[entry["state"].mark], -incidents, entry["cluster"]


def trend(marks: Sequence[str]) -> Markup:
    """Return a bar for each audit, oldest first; what was not judged is an outline."""
    bars = Markup("").join(
        Markup('<rect class="{}" x="{}" y="{}" width="6" height="{}"/>').format(
            mark, 8 * n + 1, 19 - _HEIGHTS[mark], _HEIGHTS[mark]
        )
        for n, mark in enumerate(marks)
    )
    label = ", ".join("clear" if mark == "ok" else "not judged" if mark == "unknown" else mark for mark in marks)
    width = max(8 * len(marks), 8)
    return Markup('<svg class="tr" viewBox="0 0 {} 20" width="{}" height="20" role="img" aria-label="{}">{}</svg>').format(
        width, width, label or "none", bars
    )


def history_page(  # noqa: PLR0913 -- what a timeline shows
    cluster: str,
    digests: Sequence[Digest],
    *,
    up: str,
    here: str,
    compared: timeline.Comparison | None,
    ends: tuple[Digest, Digest],
    before: str = "",
    older: str = "",
    problems: Sequence[str] = (),
) -> str:
    """Return the timeline; `digests` are oldest first, `ends` the snapshots A and B that are compared, shown or not."""
    shown = {digest.snapshot_id for digest in digests}
    a, b = ends
    return _render(
        "timeline.j2",
        up=up,
        here=here,
        section="clusters",
        cluster=cluster,
        headline=timeline.headline(digests),
        digests=digests,
        rows=timeline.timeline_rows(digests),
        compared=compared,
        a=a,
        b=b,
        elsewhere={key: digest.snapshot_id for key, digest in (("a", a), ("b", b)) if digest.snapshot_id not in shown},
        before=before,
        older=older,
        problems=problems,
    )


def catalogue_page(checks: Mapping[str, Check], newest: Sequence[Digest], *, up: str) -> str:
    """Return all checks, with how many clusters fail each now."""
    listed = [
        {
            "code": check.code,
            "severity": check.severity.name,
            "summary": check.summary,
            "family": check.family.replace("_", " "),
            "needs": ", ".join(table.table().replace("_", " ") for table in check.needs),
            "fails": sum(Status.FAIL in digest.results.get(check.code, {}) for digest in newest),
            "unknown": sum(Status.UNKNOWN in digest.results.get(check.code, {}) for digest in newest),
        }
        for check in checks.values()
    ]
    return _render("catalogue.j2", up=up, section="checks", checks=listed, number=len(listed))


def check_page(check: Check, *, up: str) -> str:
    """Return the page of one check."""
    return _render(
        "check.j2",
        up=up,
        section="checks",
        check=check,
        body=doc_page.html(check.doc),
        needs=", ".join(table.table() for table in check.needs),
        example=explain.first_failing_case(check).splitlines(),
    )


def notice_page(title: str, text: str, *, up: str, links: Sequence[tuple[str, str]] = ()) -> str:
    """Return a page of one sentence with links, and nothing else, because any user may see it."""
    return _render("notice.j2", up=up, section="", title=title, text=text, links=links, version="")


def _render(template: str, **values: Any) -> str:  # noqa: ANN401 -- whatever the template shows
    return jinja_environment().get_template(template).render(**{"inline": None, "version": __version__} | values)


def age(at: str | None, now: datetime) -> str:
    """Return how long ago a time of a report was, in words; empty where it is not known."""
    moment = _moment(at)
    return time_span((now - moment).total_seconds()) if moment else ""


def _moment(at: str | None) -> datetime | None:
    try:
        return datetime.fromisoformat(at).astimezone(UTC) if at else None
    except ValueError:
        return None
