"""The pages in Airflow, and the alerts, on a cluster whose every text is an attack."""

import json
from datetime import UTC, datetime

import pytest

import hostile
from airflow_glue_page import BROKEN
from kafka_audit.airflow_glue import alerts
from kafka_audit.airflow_glue.memory import Memory, decide
from kafka_audit.airflow_glue.seen import Audited, Limits


@pytest.fixture(scope="module", params=["planted", "long"])
def told(request):
    string = {"planted": hostile.PLANTED, "long": hostile.LONG}[request.param]
    return string, json.loads(json.dumps(hostile.document(string)))


@pytest.fixture
def reports(store, told):
    store.write_report(BROKEN[1], told[1] | {"snapshot_id": BROKEN[1]})


@pytest.mark.parametrize(
    "path",
    ["/", "/clusters/prod", f"/snapshots/{BROKEN[1]}", "/clusters/prod/timeline", "/checks", "/clusters/prod?status=all&page=2"],
)
def test_a_page_shows_text(viewer, reports, path):  # noqa: ARG001 -- what is shown
    answer = viewer.get(path)
    assert answer.status_code == 200
    hostile.harmless(answer.text)
    assert "script-src 'self'" in answer.headers["Content-Security-Policy"]


def test_a_filter_is_text_as_well(viewer, reports, told):  # noqa: ARG001 -- what is shown
    words = told[0][:2000]
    answer = viewer.get("/clusters/prod", params={"words": words, "code": words, "broker": words, "run": words})
    assert answer.status_code == 200
    hostile.harmless(answer.text)


@pytest.fixture
def sent(told):
    """Return the alerts on two audits: the cluster broken as it is, then by something else."""
    document, limits = told[1], Limits()
    first, memory = decide(Memory(), Audited(cluster="prod", document=document), datetime.now(UTC), limits)
    why = Audited(cluster="prod", why=told[0])
    second, _ = decide(memory, why, datetime.now(UTC), limits)
    audited = Audited(cluster="prod", document=document)
    found = [*alerts.of_messages(first, audited, alerts.Places()), *alerts.of_messages(second, why, alerts.Places())]
    assert {alert.subject.partition("]")[0] for alert in found} >= {"[NEW", "[NOT AUDITED"}
    return found


def test_a_mail_shows_text(sent):
    for alert in sent:
        hostile.harmless(alerts.mail(alert), scripts=0)
        assert hostile.unshown(alerts.text(alert)) == set()
        assert "x" * 5000 not in alerts.text(alert)
        subject = alerts.subject(alert)
        assert subject.isprintable()
        assert len(subject) <= alerts.SUBJECT_CHARS


def test_slack_shows_text_and_takes_it(sent):
    most = 40_000  # Slack cuts what is longer
    for alert in sent:
        message = alerts.slack(alert)
        assert hostile.unshown(message) == set()
        assert "<!channel>" not in message
        assert "<script" not in message
        assert len(message) < most
