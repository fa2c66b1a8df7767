"""Reports that are written down whole, in all forms, so that whoever changes one shows in the diff what people will see."""

from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import audit_history
from checks.cases import base
from checks.test_cases import findings_of
from checks.world import snapshots
from cluster_views import cluster_views
from incidents.case_files import Judged, judged_case
from kafka_audit import __version__
from kafka_audit.alerting import messages, policy, rendering
from kafka_audit.alerting.conditions import AlertLimits, AuditResult
from kafka_audit.alerting.dedupe_state import DedupeState
from kafka_audit.alerting.messages import Links
from kafka_audit.checks.run import judge
from kafka_audit.cluster.changes import changes
from kafka_audit.model.report import Report
from kafka_audit.model.text import counted
from kafka_audit.report.html.cluster import standalone
from kafka_audit.report.plain_text.markdown import markdown_report
from kafka_audit.report.plain_text.terminal import terminal_report
from report.conftest import documented
from reported import report_of

LINKS = Links(
    report="https://airflow.example/kafka-audit/snapshots/s", log="https://airflow.example/log", stored="/store/findings.json"
)


def _world(brokers: int, topics: int) -> dict[str, Any]:
    """Return a patch of the base: so many brokers and topics of three partitions, each led by another broker."""
    hosts = {number: f"10.0.{number // 200}.{10 + number % 200}:9092" for number in range(brokers)}
    return {
        "brokers": hosts,
        "topics": {"orders": "absent", "payments": "absent"}
        | {
            f"team-{topic:02}.events": {
                "topic_id": f"id-{topic}",
                "czxid": 300,
                "mzxid": 300,
                "config": {"min.insync.replicas": "2"},
                "partitions": {
                    number: {"replicas": [(3 * topic + number + replica) % brokers for replica in range(3)]}
                    for number in range(3)
                },
            }
            for topic in range(topics)
        },
    }


def _judged(world: Mapping[str, Any], **case: Any) -> Report:
    name = "20260914T180000Z-prod-0001"
    view = cluster_views({name: snapshots(base(), name, {"world": world, **case})})[name]
    return report_of(documented(Judged(view=view, findings=findings_of(view, judge(view)), changes=changes(view)))[0])


def _five() -> Report:
    """Return five faults of twelve brokers: cut off, a dead disk, no answer, an address of another one, no registration."""
    gone = {f"team-{topic:02}.events": {"partitions": _without(topic, 11)} for topic in range(20)}
    return _judged(
        _world(12, 20),
        now={
            "brokers": {11: "absent"},
            "topics": {name: part for name, part in gone.items() if part["partitions"]},
            "views": {3: "empty", 7: {"answers": False, "error": "connection refused"}},
            "probes": [
                {"vantage": "brokers", "role": "broker", "from": 0, "to": 3, "layer": "tcp", "error": "timeout"},
                {"vantage": "worker", "to": 7, "layer": "tcp", "error": "connection refused"},
            ],
            "identities": [{"to": 9, "answered_by": 8}],
            "log_dirs": {5: {"/data-1": {"error": 56}, "/data-2": {}}},
        },
        previous={},
    )


def _without(topic: int, broker: int) -> dict[int, dict[str, Any]]:
    found = {}
    for number in range(3):
        replicas = [(3 * topic + number + replica) % 12 for replica in range(3)]
        if broker in replicas:
            isr = sorted({*replicas} - {broker})
            found[number] = {"isr": isr, "leader": next(one for one in replicas if one != broker), "leader_epoch": 1}
    return found


def _silent() -> list[Report]:
    history = audit_history.History()
    return [history.audit(), history.audit(dead=True)]


def _resolved() -> list[Report]:
    history = audit_history.History()
    return [history.audit(*audit_history.cut_off(1)), history.audit()]


def _large() -> Report:
    unreached = [{"vantage": "worker", "to": broker, "layer": "tcp", "error": "timeout"} for broker in range(40, 80)]
    return _judged(_world(300, 60), now={"probes": unreached, "views": {broker: {"answers": False} for broker in range(40, 80)}})


_AUDITS: Mapping[str, Callable[[], list[Report]]] = {
    "healthy": lambda: [_judged(_world(3, 8))],
    "one_incident": lambda: [report_of(documented(judged_case("cut_off", "one_broker_inferred"))[0])],
    "five_incidents": lambda: [_five()],
    "nothing_answers": _silent,
    "resolved": _resolved,
    "300_brokers": lambda: [_large()],
    "some_are_ruled_out": lambda: [report_of(documented(judged_case("undecided", "some_are_ruled_out"))[0])],
    "a_voter_that_nobody_reaches": lambda: [report_of(documented(judged_case("quorum", "a_voter_that_nobody_reaches"))[0])],
}
_IN_THE_TERMINAL_ALONE = {"some_are_ruled_out", "a_voter_that_nobody_reaches"}


@cache
def _audits(cluster: str) -> list[Report]:
    """Return the audits of a cluster, the last of which is shown."""
    return _AUDITS[cluster]()


def _alerts(audits: Sequence[Report]) -> list[messages.AlertMessage]:
    """Return what goes out after the last audit to a channel that heard those before."""
    state, sent = DedupeState(), []
    for number, report in enumerate(audits):
        result = AuditResult(cluster="prod", document=report)
        now = audit_history.START + timedelta(hours=6 * number)
        events, state = policy.decide_alert(state, result, now, AlertLimits(min_coverage=0.0))
        sent = messages.messages(events, result, LINKS)
    return sent


class _Visible(HTMLParser):
    """The text of a page, a line for each block."""

    _INLINE = frozenset(("a", "abbr", "b", "button", "code", "em", "i", "span", "strong", "td", "th", "time"))
    _HIDDEN = frozenset(("script", "style", "template", "title"))

    def __init__(self) -> None:
        super().__init__()
        self.lines = [""]
        self._hidden = 0

    def handle_starttag(self, tag: str, _attributes: list[tuple[str, str | None]]) -> None:
        self._hidden += tag in self._HIDDEN
        self._end_line(tag)

    def handle_endtag(self, tag: str) -> None:
        self._hidden -= tag in self._HIDDEN
        self._end_line(tag)

    def handle_data(self, text: str) -> None:
        if not self._hidden:
            self.lines[-1] += f"{text} "

    def _end_line(self, tag: str) -> None:
        if tag not in self._INLINE and self.lines[-1].strip():
            self.lines.append("")


def _page(report: Report) -> str:
    reader = _Visible()
    reader.feed(standalone(report))
    lines = [" ".join(line.split()) for line in reader.lines]
    return "\n".join(line for line in lines if line).replace(__version__, "VERSION")


_FORMS: Mapping[str, Callable[[Sequence[Report]], str]] = {
    "terminal.txt": lambda audits: terminal_report(audits[-1], width=80, color=False),
    "markdown.md": lambda audits: markdown_report(audits[-1]),
    "page.txt": lambda audits: _page(audits[-1]),
    "mail.txt": lambda audits: "\n".join(map(rendering.plain_text, _alerts(audits))),
    "slack.txt": lambda audits: "\n\n".join(map(rendering.slack, _alerts(audits))),
}
_MOST_LINES = 200


def last_report(cluster: str) -> Report:
    """Return what the last audit of a cluster says."""
    return _audits(cluster)[-1]


WRITTEN = {
    (cluster, form): Path(__file__).parent / "pages" / cluster / form
    for cluster in _AUDITS
    for form in _FORMS
    if form == "terminal.txt" or cluster not in _IN_THE_TERMINAL_ALONE
}
"""By cluster and form."""


def page_of(cluster: str, form: str) -> str:
    """Return what is shown today, or that nothing is; of long texts the beginning."""
    lines = [line.rstrip() for line in _FORMS[form](_audits(cluster)).splitlines()]
    more = [f"[{counted(len(lines) - _MOST_LINES, 'more line')}]"] if len(lines) > _MOST_LINES else []
    return "\n".join([*(lines[:_MOST_LINES] or ["[nothing]"]), *more]) + "\n"
