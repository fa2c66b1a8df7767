"""The pages in Airflow, and the alerts, on a cluster whose every text is an attack."""

from datetime import UTC, datetime

import pytest
from msgspec import structs

import hostile
from airflow_page import BROKEN
from kafka_audit.alerting import messages, rendering
from kafka_audit.alerting.conditions import AlertLimits, AuditResult
from kafka_audit.alerting.dedupe_state import DedupeState
from kafka_audit.alerting.messages import Links
from kafka_audit.alerting.policy import decide_alert


@pytest.fixture(scope="module", params=["planted", pytest.param("long", marks=pytest.mark.large)])
def planted(request):
    string = {"planted": hostile.PLANTED, "long": hostile.LONG}[request.param]
    return string, hostile.document(string)


@pytest.fixture
def reports(store, planted):
    store.write_report(BROKEN[1], structs.replace(planted[1], snapshot_id=BROKEN[1]))


@pytest.mark.parametrize(
    "path",
    ["/", "/clusters/prod", f"/snapshots/{BROKEN[1]}", "/clusters/prod/timeline", "/checks", "/clusters/prod?status=all&page=2"],
)
def test_a_page_shows_text(viewer, reports, path):  # noqa: ARG001 -- what is shown
    answer = viewer.get(path)
    assert answer.status_code == 200
    hostile.harmless(answer.text)
    assert "script-src 'self'" in answer.headers["Content-Security-Policy"]


def test_a_filter_is_text_as_well(viewer, reports, planted):  # noqa: ARG001 -- what is shown
    words = planted[0][:2000]
    answer = viewer.get("/clusters/prod", params={"words": words, "code": words, "broker": words, "run": words})
    assert answer.status_code == 200
    hostile.harmless(answer.text)
    answer = viewer.get("/", params={"words": words, "label": ["env=prod", f"env={words[:100]}", words], "by": words})
    assert answer.status_code == 200
    hostile.harmless(answer.text)


@pytest.fixture
def sent(planted):
    """Return the messages on two audits: the cluster broken as it is, then by something else."""
    broken, limits = AuditResult(cluster="prod", document=planted[1]), AlertLimits()
    first, state = decide_alert(DedupeState(), broken, datetime.now(UTC), limits)
    failed = AuditResult(cluster="prod", why=planted[0])
    second, _ = decide_alert(state, failed, datetime.now(UTC), limits)
    every = [*messages.messages(first, broken, Links()), *messages.messages(second, failed, Links())]
    assert {message.subject.partition("]")[0] for message in every} >= {"[NEW", "[NOT AUDITED"}
    return every


def test_a_mail_shows_text(sent):
    for message in sent:
        hostile.harmless(rendering.html_mail(message), scripts=0)
        assert hostile.unshown(rendering.plain_text(message)) == set()
        assert "x" * 5000 not in rendering.plain_text(message)
        subject = rendering.subject(message)
        assert subject.isprintable()
        assert len(subject) <= rendering.SUBJECT_CHARS


def test_slack_shows_text_and_takes_it(sent):
    most = 40_000  # Slack cuts what is longer
    for message in sent:
        post = rendering.slack(message)
        assert hostile.unshown(post) == set()
        assert "<!channel>" not in post
        assert "<script" not in post
        assert len(post) < most
