"""What an alert says, and that nothing a cluster says is obeyed by whoever shows it."""

import dataclasses

import pytest

from kafka_audit.airflow_glue import alerts
from kafka_audit.airflow_glue.alerts import Alert
from kafka_audit.airflow_glue.errors import GateFailed

ALERT = Alert(
    subject="[NEW] prod: controller 0 cannot reach broker 2",
    text="INCIDENT  controller 0 cannot reach broker 2\n  evidence",
    report="/store/snapshots/s1/findings.json",
    log_url="http://airflow/log",
)


def test_a_failed_gate_tells_state_cluster_and_headline():
    failed = GateFailed(cluster="prod", headline="broker 2 is gone", lifecycle="ongoing", text="INCIDENT", report="/r.json")
    assert alerts.of_failure(failed, task="gate", log_url="http://l") == Alert(
        subject="[ONGOING] prod: broker 2 is gone", text="INCIDENT", report="/r.json", log_url="http://l"
    )


def test_a_cluster_that_was_not_audited_says_so_once():
    failed = GateFailed(cluster="prod", headline="not audited: no snapshot was taken")
    assert alerts.of_failure(failed, task="gate", log_url="").subject == "[NOT AUDITED] prod: no snapshot was taken"


@pytest.mark.parametrize(
    ("exception", "subject"),
    [
        (ValueError("no such cluster"), "[NOT AUDITED] task clusters failed: no such cluster"),
        ("killed by the scheduler", "[NOT AUDITED] task clusters failed: killed by the scheduler"),
        (None, "[NOT AUDITED] task clusters failed: its process died"),
    ],
)
def test_any_other_failure_is_told_as_it_is(exception, subject):
    assert alerts.of_failure(exception, task="clusters", log_url="").subject == subject


def test_a_subject_is_one_line_and_short():
    hostile = dataclasses.replace(ALERT, subject="[NEW] prod: a\r\nBcc: everyone@example.com\n\n\x1b[2J\u202e" + "x" * 500)
    subject = alerts.subject(hostile)
    assert subject.isprintable()
    assert len(subject) <= alerts.SUBJECT_CHARS


def test_a_mail_shows_html_instead_of_obeying_it():
    hostile = dataclasses.replace(ALERT, text="topic <script>alert(1)</script>&\x1b[31m\nnext line")
    assert alerts.mail(hostile) == (
        '<pre style="font-family: monospace; white-space: pre-wrap">[NEW] prod: controller 0 cannot reach broker 2\n\n'
        "topic &lt;script&gt;alert(1)&lt;/script&gt;&amp;\\u001b[31m\nnext line\n\n"
        "Report: /store/snapshots/s1/findings.json\nLog: http://airflow/log</pre>"
    )


def test_slack_mentions_nobody_and_stays_in_its_block():
    hostile = dataclasses.replace(ALERT, subject="[NEW] prod: <!channel>", text="```*bold* & <http://evil|kafka>```\nnext")
    assert alerts.slack(hostile) == (
        "*[NEW] prod: &lt;!channel&gt;*\n```'''*bold* &amp; &lt;http://evil|kafka&gt;'''\nnext```\n"
        "Report: /store/snapshots/s1/findings.json\nLog: http://airflow/log"
    )


def test_a_long_report_is_cut_where_it_says_so():
    long = dataclasses.replace(ALERT, text="line of a report\n" * 1000)
    assert len(alerts.slack(long)) < alerts.SLACK_CHARS + 300
    assert "… the rest is in the report```" in alerts.slack(long)
    assert alerts.mail(long).count("line of a report") == 1000


def test_without_a_report_neither_block_nor_place_is_left_behind():
    bare = Alert(subject="[NOT AUDITED] prod: no snapshot", text="", report="", log_url="http://airflow/log")
    assert alerts.slack(bare) == "*[NOT AUDITED] prod: no snapshot*\nLog: http://airflow/log"


def document(*findings, incident=()):
    rows = [{"fingerprint": name, "lifecycle": life, "status": status, "muted": muted} for name, life, status, muted in findings]
    return {"findings": rows, "incidents": [{"findings": list(incident)}] if incident else []}


@pytest.mark.parametrize(
    ("report", "expected"),
    [
        (document(("a", "new", "FAIL", False)), "new"),
        (document(("a", "ongoing", "FAIL", False), ("b", "new", "FAIL", True), ("c", "new", "PASS", False)), "ongoing"),
        (document(("a", "ongoing", "FAIL", False), ("b", "new", "FAIL", False), incident=["a"]), "ongoing"),
        (document(("a", "ongoing", "FAIL", False), ("b", "new", "FAIL", False), incident=["a", "b"]), "new"),
    ],
)
def test_an_incident_is_new_when_a_finding_of_it_is(report, expected):
    assert alerts.lifecycle(report) == expected
