"""A real cluster whose names, principals, log dirs and znodes are attacks on the readers of its report: all are shown as text."""

import json
from datetime import UTC, datetime

import pytest

import hostile
from kafka_audit.alerting import messages, rendering
from kafka_audit.alerting.conditions import AlertLimits, AuditResult
from kafka_audit.alerting.dedupe_state import DedupeState
from kafka_audit.alerting.messages import Links
from kafka_audit.alerting.policy import decide_alert
from kafka_audit.report.html import cluster as cluster_page
from kafka_audit.report.html.filters import Wanted
from reported import report_of
from scenarios.audits import Audits
from scenarios.browser import chromium
from testbed import presets
from testbed.acls import Acl

pytestmark = [pytest.mark.bed, pytest.mark.spark, pytest.mark.scenario]

MARKUP = "<img src=x onerror=alert(1)>"
NAME = f"{MARKUP}\u202e\u200b"  # ZooKeeper takes no control characters in a path
DELETED = f"{NAME} deleted"
LONG_NAME = f"{NAME}{'x' * 20_000}"  # a string of Kafka's protocol ends at 32,767
PROPERTY = f"{MARKUP}\\u202e\\u001b[31m"  # as Java reads it from a file
ELSEWHERE = "10.99.250.9"


@pytest.fixture(scope="module")
def cluster(bed):
    """SCRAM and an authorizer; broker 1 has a strange super user, broker 2 a log dir that is a file, ZooKeeper the rest."""
    cluster = bed.cluster("3.9.1", **presets.scram())
    cluster.create_topic("orders", {0: [0, 1, 2], 1: [1, 2, 0]})
    cluster.make_controller(0)
    cluster.await_settled()
    cluster.put_acls(
        [
            Acl(principal="User:auditor", operation="All"),
            Acl(principal="User:auditor", operation="All", resource="Topic", name="*"),
            Acl(principal=f"User:{hostile.PLANTED}", operation="ClusterAction", host=MARKUP),
            Acl(principal=f"User:{LONG_NAME}", operation="All"),
            Acl(principal="User:*", operation="All", resource="Topic", name=NAME),
        ]
    )
    users = cluster.brokers[1].server.properties["super.users"]
    cluster.brokers[1].restart({"super.users": f"{users};User:{PROPERTY}"})
    cluster.await_settled()
    owner = cluster.brokers[2]
    (owner.server.folder / MARKUP).touch()
    owner.restart({"log.dirs": f"{owner.server.properties['log.dirs']},{owner.server.folder / MARKUP}"})
    cluster.await_settled()
    cluster.write_znodes(dict(_planted()))
    return cluster


def _planted():
    """Yield znodes that no Kafka would write; topics have a replica on a broker that there is not."""
    for topic in (NAME, DELETED, LONG_NAME):
        yield f"/brokers/topics/{topic}", json.dumps({"version": 2, "partitions": {"0": [77]}, "adding_replicas": {}})
        state = {"controller_epoch": 1, "leader": 77, "version": 1, "leader_epoch": 0, "isr": [77], "planted": hostile.LONG}
        yield f"/brokers/topics/{topic}/partitions/0/state", json.dumps(state)
    yield f"/admin/delete_topics/{DELETED}", ""
    yield "/cluster/id", json.dumps({"version": "1", "id": hostile.LONG})
    endpoints = [f"SASL_PLAINTEXT://{ELSEWHERE}:9092", f"{LONG_NAME}://{ELSEWHERE}:9093", hostile.LONG]
    registration = {"version": 5, "host": None, "port": -1, "rack": hostile.PLANTED, "timestamp": MARKUP, "endpoints": endpoints}
    yield "/brokers/ids/99", json.dumps(registration | {"listener_security_protocol_map": {LONG_NAME: hostile.PLANTED}})
    yield "/brokers/ids/98", hostile.LONG


@pytest.fixture(scope="module")
def audit(bed, cluster, tmp_path_factory):
    folder = tmp_path_factory.mktemp("audits")
    audits = Audits(bed, cluster, folder / "audits")
    audit = audits.by_command("files", "--format", "json,html,md,sarif")
    audit.store = folder / "audits" / "files" / "store"
    return audit


def test_the_audit_says_what_is_wrong_and_fails_at_nothing_that_was_planted(audit):
    assert audit.code == 3, audit.said
    assert "Traceback" not in audit.said
    found = {
        (finding["code"], finding["resource"]["name"]): finding
        for finding in audit.report["findings"]
        if finding["status"] == "FAIL"
    }
    assert any(code == "KA501" and MARKUP in name for code, name in found), sorted(found)
    assert not any(name.startswith("topic/<") for _, name in found), "no topic has such a name"
    refused = {read["operation"] for read in audit.report["coverage"]["unknown"] if read["error"].startswith("impossible names")}
    assert any(operation.startswith(f"zookeeper /brokers/topics/{MARKUP}") for operation in refused), refused
    text = json.dumps(audit.report)
    assert "broker/99" in text
    assert "onerror=alert(1)" in text
    assert "\\\\u202e" in text


def test_the_terminal_shows_text(audit):
    assert hostile.unshown(audit.said) == set()
    assert "x" * 5000 not in audit.said
    assert len(audit.said) < hostile.MOST_BYTES


def test_every_file_shows_text(audit):
    for form in ("html", "md", "sarif", "json"):
        text = (audit.store / f"findings.{form}").read_text(encoding="utf-8")
        assert hostile.unshown(text) == set(), form
        assert "x" * 5000 not in text, form
        assert len(text) < 3 * hostile.MOST_BYTES, form
    hostile.harmless((audit.store / "findings.html").read_text(encoding="utf-8"))


def test_page_mail_and_slack_show_text(audit):
    hostile.harmless(
        cluster_page.cluster_page(
            report_of(audit.report), cluster_page.Around(up="../", here="../clusters/files"), wanted=Wanted()
        )
    )
    result = AuditResult(cluster="files", document=report_of(audit.report))
    events, _ = decide_alert(DedupeState(), result, datetime.now(UTC), AlertLimits())
    sent = messages.messages(events, result, Links())
    assert any(MARKUP in message.subject for message in sent)
    for message in sent:
        hostile.harmless(rendering.html_mail(message), scripts=0)
        assert rendering.subject(message).isprintable()
        assert hostile.unshown(rendering.plain_text(message)) == hostile.unshown(rendering.slack(message)) == set()
        assert "<img" not in rendering.slack(message)


def test_a_browser_makes_no_element_of_it(audit):
    with chromium() as browser:
        page = browser.new_page()
        dialogs, errors = [], []
        page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
        page.on("request", lambda request: errors.append(request.url) if not request.url.startswith("file:") else None)
        page.goto((audit.store / "findings.html").as_uri())
        assert page.locator("img, iframe, object, embed, base, [onerror], [onload]").count() == 0
        assert MARKUP in page.locator("body").inner_text()
        widths = page.evaluate("[document.documentElement.scrollWidth, document.documentElement.clientWidth]")
        assert widths[0] <= widths[1], "a long name makes the page no wider"
        assert (dialogs, errors) == ([], [])
