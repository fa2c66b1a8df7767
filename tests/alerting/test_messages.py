"""The text of alerts, and that no receiver interprets a text of a cluster as markup or a command."""

import dataclasses
from datetime import timedelta

import pytest

from audit_history import History, cut_off
from kafka_audit.alerting import messages, policy, rendering
from kafka_audit.alerting.conditions import AlertLimits, AuditResult, Condition
from kafka_audit.alerting.dedupe_state import DedupeState, OpenAlert
from kafka_audit.alerting.messages import AlertMessage, Links
from kafka_audit.alerting.policy import AlertEvent, AlertKind
from kafka_audit.report.worsening import lifecycle_text

AT = "2026-09-14T06:00:00+00:00"
LINKS = Links(report="https://airflow.example/dags/a/plugin/findings", log="http://airflow/log", stored="/store/findings.json")
MESSAGE = AlertMessage(
    key="k1",
    first=True,
    subject="[NEW] prod: controller 0 cannot reach broker 2",
    facts=("CRITICAL, KA302. Since 14 Sep 06:00 UTC, 1 audit.",),
    reasons="  WHY\n    + evidence",
    command="nc -vz -w 3 10.99.0.12 9092",
    links=LINKS,
)


@pytest.fixture
def story():
    """Messages of a channel that hears each audit."""
    history, state = History(), DedupeState()

    def run(*failures, why="", **more):
        nonlocal state
        result = AuditResult(cluster="prod", document=None if why else history.audit(*failures, **more), why=why)
        events, state = policy.decide_alert(state, result, history.now, AlertLimits())
        return [messages.alert_message(event, result, LINKS) for event in events]

    run.history = history
    return run


COMPARED = "it is compared with the previous report, an alert with all alerts before it."


def test_a_new_incident_says_what_why_and_what_to_do(story):
    (alert,) = story(*cut_off(1))
    text = rendering.plain_text(alert)
    lines = text.splitlines()
    assert lines[0] == rendering.subject(alert)
    assert lines[0].startswith("[NEW] prod: Broker 1 is cut off")
    assert "CRITICAL, measured, KA302. Since 14 Sep 06:00 UTC, 1 audit." in lines
    assert "ALSO" not in text
    assert any(line.startswith("COVERAGE 32 of 32 reads answered") for line in lines)
    assert {"  WHY", "  DO"} <= set(lines)
    assert lines[-3:] == [
        "Report: https://airflow.example/dags/a/plugin/findings",
        "Log: http://airflow/log",
        "Stored: /store/findings.json",
    ]
    assert max(len(line) for line in lines if not line.startswith(("[", " "))) <= 80


def lifecycle(alert):
    """Return how the report of an alert, which is attached to it, calls its first incident."""
    return lifecycle_text(alert.document.incidents[0])


def test_an_alert_that_is_worse_where_the_report_goes_on_says_with_what_each_is_compared(story):
    story(*cut_off(1))
    story.history.audit(*cut_off(1, 3))  # this one sends nothing: the channel refuses it, or a command runs the audit
    (alert,) = story(*cut_off(1, 3))
    assert (alert.subject.partition(":")[0], lifecycle(alert)) == ("[WORSE] prod", "= ongoing")
    assert alert.facts[1:3] == (
        "Worse than in the alert of 14 Sep 06:00 UTC: now broker 3 too.",
        f"The report says ongoing: {COMPARED}",
    )


def test_an_alert_names_what_the_report_does_not_call_worse_because_it_was_unknown(story):
    story(*cut_off(1), unknown=[("KA105", "broker/3"), ("KA302", "broker/3")])
    (alert,) = story(*cut_off(1, 3))
    assert (alert.subject.partition(":")[0], lifecycle(alert)) == ("[WORSE] prod", "= ongoing")
    assert alert.facts[2] == f"The report says ongoing: {COMPARED}"


def test_a_reminder_of_what_an_alert_named_already_says_that_the_report_calls_it_worse(story):
    story(*cut_off(1))
    story(*cut_off(1, 3))
    story(*cut_off(1))
    (alert,) = story(*cut_off(1, 3), after=timedelta(hours=24))
    assert (alert.subject.partition(":")[0], lifecycle(alert)) == ("[STILL, 36 h] prod", "= ongoing, worse: now broker 3 too")
    assert alert.facts[1] == f"The report says worse, now broker 3 too: {COMPARED}"


def test_where_both_say_the_same_nothing_is_compared(story):
    story(*cut_off(1))
    (worse,) = story(*cut_off(1, 3))
    (still,) = story(*cut_off(1, 3), after=timedelta(hours=24))
    assert [lifecycle(alert) for alert in (worse, still)] == ["= ongoing, worse: now broker 3 too", "= ongoing"]
    assert COMPARED not in "".join([*worse.facts, *still.facts])


def test_what_is_worse_ongoing_and_over_is_told_apart(story):
    story(*cut_off(1))
    (worse,) = story(*cut_off(1, 3))
    assert worse.subject.startswith("[WORSE] prod: Brokers 1 and 3 are cut off")
    assert worse.facts == (
        "CRITICAL, measured, KA302. Since 14 Sep 06:00 UTC, 2 audits.",
        "Worse than in the alert of 14 Sep 06:00 UTC: now broker 3 too.",
        "COVERAGE 32 of 32 reads answered",
    )
    assert not worse.first
    (over,) = story()
    assert over.subject.startswith("[RESOLVED] prod: resolved after 12 h: Brokers 1 and 3 are cut off")
    assert over.facts == ("It lasted 12 h, from 14 Sep 06:00 UTC, 2 audits.", "COVERAGE 32 of 32 reads answered")
    assert (over.reasons, over.command) == ("", "")
    assert over.key == worse.key


def test_a_message_names_the_other_incidents_that_are_open_and_those_that_are_over(story):
    disk = ("KA501", "broker/2/logdir//data", "HIGH", {})
    cut, other = story(*cut_off(1), disk)
    assert cut.facts[1] == "ALSO     Broker 2 lost log dir /data"
    assert other.facts[1].startswith("ALSO     Broker 1 is cut off")
    (over,) = story(disk)
    assert over.subject.startswith("[RESOLVED] prod: resolved after 6 h: Broker 1 is cut off")
    assert over.facts[1] == "ALSO     Broker 2 lost log dir /data"
    (new,) = story(*cut_off(3))[:1]
    assert "RESOLVED Broker 2 lost log dir /data" in new.facts


def test_a_reminder_says_for_how_long(story):
    story(*cut_off(1))
    (still,) = story(*cut_off(1), after=timedelta(hours=24))
    assert still.subject.startswith("[STILL, 24 h] prod: Broker 1 is cut off")


def test_a_failed_audit_says_what_was_known_before_and_when_it_works_again(story):
    story()
    (failed,) = story(why="no snapshot was taken")
    assert failed.subject == "[NOT AUDITED] prod: no snapshot was taken; last audited 14 Sep 06:00 UTC: no incident"
    assert failed.facts == ("Since 14 Sep 06:00 UTC. Checks without data are unknown.",)
    (again,) = story()
    assert again.subject == "[AUDITED AGAIN] prod: no incident, after 1 failed audit"


@pytest.mark.parametrize(
    ("minutes", "text"), [(-1, "0 min"), (0, "0 min"), (119, "119 min"), (120, "2 h"), (24 * 60, "24 h"), (72 * 60, "3 d")]
)
def test_a_duration_is_as_short_as_people_say_it(minutes, text):
    assert messages.duration(timedelta(minutes=minutes)) == text


def test_a_subject_is_one_line_and_short():
    hostile = dataclasses.replace(MESSAGE, subject="[NEW] prod: a\r\nBcc: everyone@example.com\n\n\x1b[2J\u202e" + "x" * 500)
    subject = rendering.subject(hostile)
    assert subject.isprintable()
    assert len(subject) <= rendering.SUBJECT_CHARS


def test_a_mail_shows_html_instead_of_obeying_it():
    hostile = dataclasses.replace(
        MESSAGE,
        subject="[NEW] prod: <img src=x onerror=alert(1)>",
        facts=("NEW KA606 topic/<script>alert(1)</script>&",),
        reasons="topic <b>bold</b>&\x1b[31m\nnext \u202e line",
        links=Links(report="https://airflow/'\"><script>", stored="javascript:alert(1)"),
    )
    shown = rendering.html_mail(hostile)
    assert not [tag for tag in ("<script", "<img", "<b>", "\x1b", "\u202e", 'href="javascript') if tag in shown]
    assert "&lt;script&gt;alert(1)&lt;/script&gt;&amp;" in shown
    assert "topic &lt;b&gt;bold&lt;/b&gt;&amp;\\u001b[31m\nnext \\u202e line" in shown
    assert shown.startswith('<h2 style="font-size: 18px">[NEW] prod: &lt;img')


def test_slack_mentions_nobody_and_keeps_commands_whole():
    hostile = dataclasses.replace(
        MESSAGE,
        subject="[NEW] prod: <!channel>",
        facts=("NEW KA606 topic/<@U1>",),
        impact="```*bold* & <http://evil|kafka>```\nnext",
        command="`rm`",
        links=Links(report="https://a/<!here>", log="http://airflow/log"),
    )
    assert rendering.slack(hostile) == (
        "*[NEW] prod: &lt;!channel&gt;*\n> NEW KA606 topic/&lt;@U1&gt;\n"
        "'''*bold* &amp; &lt;http://evil|kafka&gt;'''\\u000anext\n`'rm'`\n"
        "<https://a/&lt;!here&gt;|Report>\n<http://airflow/log|Log>"
    )


def test_a_long_report_is_cut_where_it_says_so():
    long = dataclasses.replace(MESSAGE, reasons="line of a report\n" * 10_000, impact="i" * 64_000, command="x" * 64_000)
    assert len(rendering.slack(long)) < 3 * rendering.LINE_CHARS
    for shown in (rendering.plain_text(long), rendering.html_mail(long)):
        assert "… the rest is in the report" in shown
        assert len(shown) < rendering.MAIL_CHARS + 2_000


def test_a_command_is_whole_or_left_out():
    command = f"kafka-topics.sh --topic '{'x y' * 500}'"
    long = dataclasses.replace(MESSAGE, command=command, reasons=f"         {command}\n" * 100)
    assert "kafka-topics.sh" not in rendering.slack(long)
    lines = [line for line in rendering.plain_text(long).split("\n") if "kafka-topics.sh" in line]
    assert len(lines) > 50
    assert {*lines} <= {f"         {command}", command}


def test_without_a_report_neither_block_nor_place_is_left_behind():
    bare = AlertMessage(key="k", first=True, subject="[NOT AUDITED] prod: no snapshot", links=Links(log="http://airflow/log"))
    assert rendering.slack(bare) == "*[NOT AUDITED] prod: no snapshot*\n<http://airflow/log|Log>"
    assert rendering.plain_text(bare) == "[NOT AUDITED] prod: no snapshot\n\nLog: http://airflow/log\n"
    assert "<pre" not in rendering.html_mail(bare)


def test_of_very_many_incidents_the_worst_are_told_and_the_others_listed():
    conditions = [
        Condition(kind="incident", headline=f"Broker {number} is gone", findings=(("KA113", f"broker/{number}"),))
        for number in range(70)
    ]
    alerts = [
        OpenAlert(key=str(number), condition=condition, affected=(), severity="HIGH", since=AT, sent=AT)
        for number, condition in enumerate(conditions)
    ]
    events = [AlertEvent(change=AlertKind.NEW, alert=alert, lasted=timedelta()) for alert in alerts]
    shown = messages.messages(events, AuditResult(cluster="prod"), LINKS)
    assert len(shown) == messages.MOST_ALERTS
    assert shown[-1].subject == "[AND MORE] prod: 61 more messages of the same audit"
    assert shown[-1].facts[0] == "[NEW] prod: Broker 9 is gone"
    assert shown[-1].facts[-1] == "… and 11 more, in the report"
    assert len(messages.messages(events[:10], AuditResult(cluster="prod"), LINKS)) == 10
