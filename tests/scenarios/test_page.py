"""The page in a real Airflow, with audits of a cluster that was whole, was broken, and was repaired, seen with a browser.

Pictures of every page stay in KAFKA_AUDIT_SCREENSHOTS, where that names a folder.
"""

import os
import sqlite3
from pathlib import Path
from types import SimpleNamespace

import pytest

from kafka_audit.testbed.airflow_server import AirflowServer
from scenarios import browser

pytestmark = [pytest.mark.bed, pytest.mark.airflow, pytest.mark.spark, pytest.mark.scenario]

BASE = "/tools/airflow"
CLUSTER = "near"
HEADLINE = "Broker 2 is cut off: controller 0 cannot reach the address it advertises"


@pytest.fixture(scope="module", params=["2.8.2"])
def version(request):
    return request.param


@pytest.fixture
def story(audits, cluster):
    """Three audits: whole, broken (by the DAG, whose gate fails), repaired."""
    assert audits.by_command(CLUSTER, "--format", "html").code == 0
    cluster.advertise_through_forward([2])
    broken = audits.by_dag(CLUSTER, "broken.log")
    assert broken.code != 0, broken.tail
    assert [incident["headline"] for incident in broken.report["incidents"]] == [HEADLINE]
    cluster.advertise_directly()
    repaired = audits.by_command(CLUSTER)
    assert repaired.code == 0, repaired.said
    return SimpleNamespace(
        broken=broken.report["snapshot_id"], repaired=repaired.report["snapshot_id"], run=only_run(audits.airflow.folder)
    )


def only_run(home):
    with sqlite3.connect(home / "airflow.db") as database:
        ((run,),) = database.execute("SELECT run_id FROM dag_run WHERE dag_id = 'kafka_audit'")
    return run


@pytest.fixture
def airflow(audits, story):
    home = audits.airflow
    with AirflowServer(home.folder, home.environment | {"KAFKA_AUDIT_SCHEDULE": "none"}, base_path=BASE) as server:
        yield SimpleNamespace(url=server.url, story=story)


def refused(chromium, url, **headers):
    """Return the status with which a stranger is refused."""
    stranger = chromium.new_context(extra_http_headers=headers)
    return stranger.request.get(url, max_redirects=0).status


def in_airflow(page, url):
    """Open an address of the UI and return the frame with the page in it, once it is there."""
    page.goto(url)
    frame = page.frame_locator("iframe")
    frame.locator("h1").wait_for()
    return frame


def test_an_operator_finds_the_cause_in_the_ui(airflow, tmp_path):
    url, story = airflow.url, airflow.story
    with browser.chromium() as chromium:
        assert refused(chromium, f"{url}/kafka-audit/") == 401
        assert refused(chromium, f"{url}/kafka-audit/snapshots/{story.broken}/findings.json") == 401
        assert refused(chromium, f"{url}/kafka-audit/", Cookie="_token=forged.forged.forged") in {401, 403}
        context = chromium.new_context(viewport={"width": 1440, "height": 900})
        page = context.new_page()
        complaints = []
        page.on("console", lambda message: complaints.append(message.text) if "Content Security" in message.text else None)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        browser.log_in(page, url, "viewer")

        see_the_overview(in_airflow(page, f"{url}/plugin/kafka-audit"))
        see_the_run(in_airflow(page, f"{url}/dags/kafka_audit/runs/{story.run}/plugin/findings"))
        see_what_changed(page, url, story)
        follow_the_button_at_the_gate(page, context, url, story)
        see_that_it_is_dark_where_airflow_is(page, url)
        assert complaints == []

        pages = f"{url}/kafka-audit"
        addresses = {
            "overview": f"{pages}/",
            "broken": f"{pages}/snapshots/{story.broken}",
            "repaired": f"{pages}/clusters/{CLUSTER}",
            "timeline": f"{pages}/clusters/{CLUSTER}/timeline",
            "checks": f"{pages}/checks",
            "check": f"{pages}/checks/KA302",
        }
        folder = Path(os.environ.get("KAFKA_AUDIT_SCREENSHOTS") or tmp_path / "screenshots")
        assert browser.pictures(context, addresses, folder) == []


def see_the_overview(frame):
    """The repaired cluster has no incident; its row leads to its page."""
    assert "No incident in 1 cluster" in frame.locator("h1").inner_text()
    frame.get_by_role("link", name=CLUSTER, exact=True).click()
    frame.locator("#headline").wait_for()
    assert "− resolved" in frame.locator("#earlier + ul").inner_text()  # noqa: RUF001 -- the sign of the page


def see_the_run(frame):
    """The tab beside the run: headline, matrix, filter."""
    assert frame.locator("#headline").inner_text() == HEADLINE
    cell = frame.locator("table.mx tbody tr", has_text="broker 0").first.locator("td").nth(2)
    assert cell.inner_text().split() == ["T", "tcp"]
    cell.click()
    assert "broker 0" in frame.locator("#cell").inner_text()
    cell.press("ArrowDown")
    assert "broker 1" in frame.locator("#cell").inner_text()
    before = frame.locator("#list tbody tr").count()
    frame.locator("select[name=code]").select_option("KA302")
    frame.locator("#list tbody tr").nth(before - 1).wait_for(state="detached")
    assert set(frame.locator("#list tbody th").all_inner_texts()) == {"KA302"}
    assert frame.locator("#headline").inner_text() == HEADLINE


def see_what_changed(page, url, story):
    """The timeline: whole, broken, repaired; and the last two compared."""
    page.goto(f"{url}/kafka-audit/clusters/{CLUSTER}/timeline")
    assert page.locator("table.tl input[name=a]").count() == 3
    assert page.locator(f"input[name=b][value='{story.repaired}']").is_checked()
    text = page.locator("main").inner_text()
    assert "What changed between" in text
    assert "− resolved" in text  # noqa: RUF001 -- the sign of the page
    assert "KA302" in text
    page.locator("input[name=a]").first.check()
    page.locator(f"input[name=b][value='{story.broken}']").check()
    page.get_by_role("button", name="Compare").click()
    page.get_by_role("heading", name="+ new").wait_for()


def follow_the_button_at_the_gate(page, context, url, story):
    """The extra link that Airflow kept when the gate failed leads to the report of that run."""
    token = context.request.post(f"{url}/auth/token", data={"username": "admin", "password": "admin"}).json()["access_token"]
    where = f"{url}/api/v2/dags/kafka_audit/dagRuns/{story.run}/taskInstances/gate/links?map_index=0"
    links = context.request.get(where, headers={"Authorization": f"Bearer {token}"}).json()["extra_links"]
    address = links["Kafka audit report"]
    assert "/kafka-audit/run?" in address
    page.goto(f"{url}/kafka-audit/{address.rpartition('/')[2]}")  # the audit ran where the UI had another port
    assert page.locator("#headline").inner_text() == HEADLINE
    assert story.broken in page.url


def see_that_it_is_dark_where_airflow_is(page, url):
    """The frame takes Airflow's theme, whatever the system wishes."""
    frame = in_airflow(page, f"{url}/plugin/kafka-audit")
    for theme in ("dark", "light"):
        page.evaluate(f"document.documentElement.className = '{theme}'")
        frame.locator(f"html.{theme}").wait_for(state="attached")
